//! Rebuilds table definitions from the PostgreSQL catalog.

use isobath_sql::Value;
use isobath_sql::ddl::Source;

use super::{Definitions, source, trigger, unsupported};
use crate::database::{Database, DatabaseError};

/// Objects of the users': neither the system's nor an extension's.
const OURS: &str = "n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' \
    AND NOT EXISTS (SELECT 1 FROM pg_depend e WHERE e.objid = o.oid AND e.deptype = 'e')";

/// Tables, without the parts of partitioned ones.
const TABLES: &str = "o.relkind IN ('r', 'p') AND NOT o.relispartition";

pub(super) fn definitions(database: &mut dyn Database) -> Result<Definitions, DatabaseError> {
    // Names in `public` are then written without it, as in a file.
    database.execute_required("SET search_path = public")?;
    let name = texts(database, "SELECT current_database()::text")?;
    let mut sources = Vec::new();
    sources.extend(schemas(database)?);
    sources.extend(enums(database)?);
    sources.extend(domains(database)?);
    sources.extend(sequences(database)?);
    sources.extend(tables(database)?);
    sources.extend(afterwards(database)?);
    let triggers = texts(
        database,
        &format!(
            "SELECT 'TRIGGER ' || t.tgname || ' ON ' || o.oid::regclass \
         FROM pg_trigger t JOIN pg_class o ON o.oid = t.tgrelid JOIN pg_namespace n ON n.oid = o.relnamespace \
         WHERE {OURS} AND NOT t.tgisinternal ORDER BY o.oid, 1"
        ),
    )?;
    let partitions = texts(
        database,
        &format!(
            "SELECT 'PARTITION BY ' || pg_get_partkeydef(o.oid) || ' of ' || o.oid::regclass \
         FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace \
         WHERE {OURS} AND o.relkind = 'p' AND NOT o.relispartition ORDER BY o.oid, 1"
        ),
    )?;
    let rows_without_partition = "rows that belong to no partition are refused";
    Ok(Definitions {
        name: name.into_iter().next().unwrap_or_default(),
        sources,
        triggers: triggers
            .into_iter()
            .map(|input| trigger(database, input))
            .collect(),
        limitations: partitions
            .into_iter()
            .map(|input| unsupported(database, input, rows_without_partition))
            .collect(),
    })
}

fn schemas(database: &mut dyn Database) -> Result<Vec<Source>, DatabaseError> {
    statements(
        database,
        "schema",
        "SELECT n.nspname::text, 'CREATE SCHEMA ' || quote_ident(n.nspname) FROM pg_namespace n \
         WHERE n.nspname NOT IN ('information_schema', 'public') AND n.nspname NOT LIKE 'pg\\_%' \
           AND EXISTS (SELECT 1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p')) \
         ORDER BY n.nspname",
    )
}

fn enums(database: &mut dyn Database) -> Result<Vec<Source>, DatabaseError> {
    statements(
        database,
        "type",
        &format!(
            "SELECT o.typname::text, 'CREATE TYPE ' || format_type(o.oid, NULL) || ' AS ENUM (' || \
               (SELECT string_agg(quote_literal(l.enumlabel), ', ' ORDER BY l.enumsortorder) \
                FROM pg_enum l WHERE l.enumtypid = o.oid) || ')' \
             FROM pg_type o JOIN pg_namespace n ON n.oid = o.typnamespace \
             WHERE {OURS} AND o.typtype = 'e' ORDER BY o.oid"
        ),
    )
}

fn domains(database: &mut dyn Database) -> Result<Vec<Source>, DatabaseError> {
    statements(
        database,
        "domain",
        &format!(
            "SELECT o.typname::text, 'CREATE DOMAIN ' || format_type(o.oid, NULL) || ' AS ' || \
               format_type(o.typbasetype, o.typtypmod) || \
               coalesce(' DEFAULT ' || o.typdefault, '') || \
               CASE WHEN o.typnotnull THEN ' NOT NULL' ELSE '' END || \
               coalesce((SELECT string_agg(' CONSTRAINT ' || quote_ident(c.conname) || ' ' || \
                   pg_get_constraintdef(c.oid), '' ORDER BY c.oid) \
                 FROM pg_constraint c WHERE c.contypid = o.oid AND c.contype = 'c'), '') \
             FROM pg_type o JOIN pg_namespace n ON n.oid = o.typnamespace \
             WHERE {OURS} AND o.typtype = 'd' ORDER BY o.oid"
        ),
    )
}

/// Sequences of their own; those of SERIAL and IDENTITY columns come with the column.
fn sequences(database: &mut dyn Database) -> Result<Vec<Source>, DatabaseError> {
    statements(
        database,
        "sequence",
        &format!(
            "SELECT o.relname::text, 'CREATE SEQUENCE ' || o.oid::regclass \
             FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace \
             WHERE {OURS} AND o.relkind = 'S' AND NOT EXISTS ( \
               SELECT 1 FROM pg_depend d WHERE d.objid = o.oid AND d.classid = 'pg_class'::regclass \
                 AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0) \
             ORDER BY o.oid"
        ),
    )
}

/// One line per column; NOT NULL is left to the primary key where it comes from there.
fn tables(database: &mut dyn Database) -> Result<Vec<Source>, DatabaseError> {
    let columns = "SELECT string_agg('  ' || quote_ident(a.attname) || ' ' || \
          CASE WHEN s.serial THEN CASE format_type(a.atttypid, NULL) \
              WHEN 'bigint' THEN 'bigserial' WHEN 'smallint' THEN 'smallserial' ELSE 'serial' END \
            ELSE format_type(a.atttypid, a.atttypmod) END || \
          CASE WHEN a.attcollation <> t.typcollation AND a.attcollation <> 0 \
            THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END || \
          CASE WHEN a.attgenerated <> '' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED' \
            WHEN s.serial THEN '' ELSE coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '') END || \
          CASE a.attidentity WHEN 'a' THEN ' GENERATED ALWAYS AS IDENTITY' \
            WHEN 'd' THEN ' GENERATED BY DEFAULT AS IDENTITY' ELSE '' END || \
          CASE WHEN a.attnotnull AND NOT s.keyed THEN ' NOT NULL' ELSE '' END, \
          E',\\n' ORDER BY a.attnum) \
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
        LEFT JOIN pg_collation l ON l.oid = a.attcollation \
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum, \
        LATERAL (SELECT \
          coalesce(a.attidentity = '' AND EXISTS (SELECT 1 FROM pg_depend p JOIN pg_class q ON q.oid = p.objid AND q.relkind = 'S' \
            WHERE p.refobjid = a.attrelid AND p.refobjsubid = a.attnum AND p.deptype = 'a') \
            AND pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false) AS serial, \
          EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = a.attrelid AND k.contype = 'p' \
            AND a.attnum = ANY (k.conkey)) AS keyed) s \
        WHERE a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped";
    let constraints = "SELECT string_agg(E',\\n  CONSTRAINT ' || quote_ident(c.conname) || ' ' || \
          pg_get_constraintdef(c.oid), '' ORDER BY c.contype <> 'p', c.oid) \
        FROM pg_constraint c \
        WHERE c.conrelid = o.oid AND c.contype IN ('p', 'u', 'c') AND c.convalidated";
    statements(
        database,
        "table",
        &format!(
            "SELECT o.oid::regclass::text, 'CREATE TABLE ' || o.oid::regclass || E' (\\n' || \
               coalesce(({columns}), '') || coalesce(({constraints}), '') || E'\\n)' \
             FROM pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace \
             WHERE {OURS} AND {TABLES} ORDER BY o.oid"
        ),
    )
}

/// What can only be said when all tables are there, or when rows were there before it.
fn afterwards(database: &mut dyn Database) -> Result<Vec<Source>, DatabaseError> {
    let mut sources = statements(
        database,
        "constraint",
        &format!(
            "SELECT c.conname::text, 'ALTER TABLE ' || o.oid::regclass || ' ADD CONSTRAINT ' || quote_ident(c.conname) || \
               ' ' || pg_get_constraintdef(c.oid) \
             FROM pg_constraint c JOIN pg_class o ON o.oid = c.conrelid JOIN pg_namespace n ON n.oid = o.relnamespace \
             WHERE {OURS} AND {TABLES} AND (c.contype IN ('f', 'x') OR (c.contype = 'c' AND NOT c.convalidated)) \
             ORDER BY c.oid"
        ),
    )?;
    sources.extend(statements(
        database,
        "index",
        &format!(
            "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) \
             FROM pg_index i JOIN pg_class o ON o.oid = i.indrelid JOIN pg_namespace n ON n.oid = o.relnamespace \
             WHERE {OURS} AND {TABLES} AND i.indisunique AND i.indisvalid \
               AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x')) \
             ORDER BY i.indexrelid"
        ),
    )?);
    Ok(sources)
}

/// A source for each pair of a name and a statement.
fn statements(
    database: &mut dyn Database,
    what: &str,
    sql: &str,
) -> Result<Vec<Source>, DatabaseError> {
    Ok(pairs(database, sql)?
        .into_iter()
        .map(|[name, text]| source(database, what, &name, format!("{text};\n")))
        .collect())
}

/// The first two columns of a query, as text.
fn pairs(database: &mut dyn Database, sql: &str) -> Result<Vec<[String; 2]>, DatabaseError> {
    let rows = database.query_required(sql)?.rows;
    Ok(rows
        .into_iter()
        .filter_map(|row| {
            let mut texts = row.into_iter().filter_map(|value| match value {
                Value::Text(text) => Some(text),
                _ => None,
            });
            Some([texts.next()?, texts.next()?])
        })
        .collect())
}

/// The first column of a query, as text.
fn texts(database: &mut dyn Database, sql: &str) -> Result<Vec<String>, DatabaseError> {
    Ok(database
        .query_required(sql)?
        .texts(0)
        .map(str::to_owned)
        .collect())
}
