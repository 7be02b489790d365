//! Queries over rows in memory: what they return, and how far they are from returning a row.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use isobath_sql::ddl::{Source, load};
use isobath_sql::query::{self, QueryEvaluation};
use isobath_sql::{DialectName, Schema, Value};
use jiff::civil::date;

const DDL: &str = "
    CREATE TABLE artist (id INT PRIMARY KEY, name VARCHAR(20), born DATE);
    CREATE TABLE song (id INT PRIMARY KEY, artist_id INT, title VARCHAR(20), plays INT);
";

type Tables = Vec<Vec<Vec<Value>>>;

fn schema() -> Schema {
    let source = Source {
        name: "music.sql".to_owned(),
        text: DDL.to_owned(),
    };
    load("music", &[source], Some(DialectName::MySql)).schema
}

fn artist(id: i64, name: &str) -> Vec<Value> {
    vec![id.into(), name.into(), Value::Date(date(1970, 1, 1))]
}

fn song(id: i64, artist: impl Into<Option<i64>>, title: &str, plays: i64) -> Vec<Value> {
    let artist = artist.into().map_or(Value::Null, Value::from);
    vec![id.into(), artist, title.into(), plays.into()]
}

fn run(sql: &str, artists: &[Vec<Value>], songs: &[Vec<Value>]) -> QueryEvaluation {
    let query = query::parse(sql, &schema(), DialectName::MySql).unwrap();
    let tables: Tables = vec![artists.to_vec(), songs.to_vec()];
    let now = Some(date(2020, 2, 29).at(10, 30, 0, 0));
    let dialect = DialectName::MySql.dialect();
    let evaluated = query::evaluate_at(&query, &tables, &[], now, dialect).unwrap();
    let distance = query::distance(&query, &tables, &[], now, dialect).unwrap();
    assert_eq!(distance == 0.0, !evaluated.rows.is_empty(), "{sql}");
    assert_eq!(
        evaluated.distance == 0.0,
        !evaluated.rows.is_empty(),
        "{sql}"
    );
    evaluated
}

fn distance(sql: &str, artists: &[Vec<Value>], songs: &[Vec<Value>]) -> f64 {
    run(sql, artists, songs).distance
}

fn shown(sql: &str, artists: &[Vec<Value>], songs: &[Vec<Value>]) -> String {
    let rows = run(sql, artists, songs).rows;
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            row.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("|")
        })
        .collect();
    rows.join(" / ")
}

#[test]
fn a_row_nearer_to_a_predicate_is_at_a_smaller_distance() {
    let sql = "SELECT id FROM song WHERE plays = 100";
    let at = |plays| distance(sql, &[], &[song(1, 1, "a", plays)]);
    assert!(at(0) > at(50));
    assert!(at(50) > at(99));
    assert!(at(99) > at(100));
    assert_eq!(at(100), 0.0);
}

#[test]
fn one_step_counts_beside_a_large_number() {
    let sql = "SELECT id FROM song WHERE plays = 1000000000 AND title = 'abc'";
    let at = |plays, title| distance(sql, &[], &[song(1, 1, title, plays)]);
    assert!(at(0, "abd") < at(0, "xyz"));
    assert!(at(1, "xyz") < at(0, "xyz"));
}

#[test]
fn no_rows_are_farther_than_any_row() {
    let sql = "SELECT id FROM song WHERE plays = 100";
    assert!(distance(sql, &[], &[]) > distance(sql, &[], &[song(1, 1, "a", -9_999_999)]));
}

#[test]
fn a_left_join_that_must_not_match_leads_partners_away() {
    // Several conditions on the joined side, so that no change to one of its columns is the shorter way.
    let sql = "SELECT a.id FROM artist a LEFT JOIN song s ON s.artist_id = a.id \
               WHERE s.id IS NULL AND s.title IS NULL AND s.plays IS NULL";
    let artists = [artist(1, "x")];
    let one = distance(sql, &artists, &[song(1, 1, "a", 0)]);
    let two = distance(sql, &artists, &[song(1, 1, "a", 0), song(2, 1, "b", 0)]);
    assert!(two > one, "{two} {one}");
    assert_eq!(distance(sql, &artists, &[song(1, 2, "a", 0)]), 0.0);
    assert_eq!(distance(sql, &artists, &[]), 0.0);
}

#[test]
fn having_looks_for_one_more_row_with_the_same_key() {
    let sql = "SELECT artist_id FROM song WHERE plays > 10 GROUP BY artist_id HAVING COUNT(*) > 1";
    let at = |songs: &[Vec<Value>]| distance(sql, &[], songs);
    let alone = at(&[song(1, 5, "a", 20)]);
    let far = at(&[song(1, 5, "a", 20), song(2, 50, "b", 20)]);
    let near = at(&[song(1, 5, "a", 20), song(2, 6, "b", 20)]);
    let filtered = at(&[song(1, 5, "a", 20), song(2, 5, "b", 10)]);
    assert!(alone > far && far > near, "{alone} {far} {near}");
    assert!(alone > filtered, "{alone} {filtered}");
    assert_eq!(at(&[song(1, 5, "a", 20), song(2, 5, "b", 20)]), 0.0);
}

#[test]
fn exists_and_not_exists_lead_to_the_correlated_row() {
    let exists =
        "SELECT id FROM artist a WHERE EXISTS (SELECT 1 FROM song s WHERE s.artist_id = a.id)";
    let not =
        "SELECT id FROM artist a WHERE NOT EXISTS (SELECT 1 FROM song s WHERE s.artist_id = a.id)";
    let artists = [artist(7, "x")];
    let far = distance(exists, &artists, &[song(1, 90, "a", 0)]);
    let near = distance(exists, &artists, &[song(1, 9, "a", 0)]);
    assert!(far > near);
    assert_eq!(distance(exists, &artists, &[song(1, 7, "a", 0)]), 0.0);
    assert!(distance(not, &artists, &[song(1, 7, "a", 0)]) > 0.0);
    assert_eq!(distance(not, &artists, &[song(1, 9, "a", 0)]), 0.0);
}

#[test]
fn in_is_judged_for_every_row_and_not_only_the_first() {
    let artists = [artist(1, "x"), artist(2, "y"), artist(3, "z")];
    let songs = [song(1, 2, "a", 0), song(2, 3, "b", 0)];
    let sql = "SELECT id FROM artist WHERE id IN (SELECT artist_id FROM song)";
    assert_eq!(shown(sql, &artists, &songs), "2 / 3");
    let sql = "SELECT id FROM artist WHERE id NOT IN (SELECT artist_id FROM song)";
    assert_eq!(shown(sql, &artists, &songs), "1");
    let songs = [song(1, 2, "a", 0), song(2, None, "b", 0)];
    assert_eq!(shown(sql, &artists, &songs), "");
}

#[test]
fn what_goes_wrong_on_a_row_that_is_not_there_goes_unnoticed() {
    let sql = "SELECT s.id FROM artist a JOIN song s ON s.artist_id = a.id \
               WHERE s.plays = (SELECT x.plays FROM song x WHERE x.artist_id = a.id)";
    let artists = [artist(1, "x"), artist(2, "y")];
    // Only the pair that does not join has two songs in its subquery.
    let songs = [song(1, 1, "a", 4)];
    assert_eq!(shown(sql, &artists, &songs), "1");
}

#[test]
fn aggregates_of_nothing_are_one_row() {
    let sql = "SELECT COUNT(*), SUM(plays), MAX(title) FROM song WHERE plays > 5";
    assert_eq!(shown(sql, &[], &[]), "0|NULL|NULL");
    let songs = [song(1, 1, "a", 7), song(2, 1, "c", 8), song(3, 1, "d", 2)];
    assert_eq!(shown(sql, &[], &songs), "2|15|c");
}

#[test]
fn the_clock_is_the_one_that_is_passed_in() {
    let sql = "SELECT NOW(), CURDATE(), DATE_SUB(CURDATE(), INTERVAL 1 MONTH), \
               TIMESTAMP(CURDATE(), '01:02:03')";
    insta::assert_snapshot!(
        shown(sql, &[], &[]),
        @"2020-02-29 10:30:00|2020-02-29|2020-01-29|2020-02-29 01:02:03"
    );
    let query = query::parse(sql, &schema(), DialectName::MySql).unwrap();
    let tables: Tables = vec![Vec::new(), Vec::new()];
    let dialect = DialectName::MySql.dialect();
    assert!(query::evaluate(&query, &tables, &[], dialect).is_err());
}

#[test]
fn mistakes_are_told_with_their_place() {
    let problem = |sql: &str| {
        let error = query::parse(sql, &schema(), DialectName::MySql).unwrap_err();
        format!("{:?} {error}", error.location())
    };
    insta::assert_snapshot!(problem("SELECT id FROM band"), @"Some((1, 16)) unknown table `band` in the schema");
    insta::assert_snapshot!(
        problem("SELECT id FROM artist JOIN song ON artist_id = artist.id"),
        @"Some((1, 8)) column `id` is ambiguous; qualify it with the table name"
    );
    insta::assert_snapshot!(
        problem("SELECT id FROM song WHERE COUNT(*) > 1"),
        @"Some((1, 1)) `SELECT id FROM song WHERE COUNT(*) > 1`: aggregates and window functions are not allowed in WHERE and ON"
    );
}

#[test]
fn a_product_of_many_rows_is_refused_instead_of_filling_the_memory() {
    let songs: Vec<Vec<Value>> = (0..60).map(|id| song(id, 1, "a", 0)).collect();
    let sql = "SELECT COUNT(*) FROM song a, song b, song c, song d";
    let query = query::parse(sql, &schema(), DialectName::MySql).unwrap();
    let tables: Tables = vec![Vec::new(), songs];
    assert!(query::evaluate(&query, &tables, &[], DialectName::MySql.dialect()).is_err());
}

#[test]
fn conditions_of_where_keep_the_product_of_many_relations_small() {
    let artists: Vec<Vec<Value>> = (0..40).map(|id| artist(id, "x")).collect();
    let songs: Vec<Vec<Value>> = (0..40).map(|id| song(id, id, "a", id % 7)).collect();
    // 40 to the power of five are more than are ever looked at.
    let all = "FROM artist a, song s, song t, artist b, song u \
               WHERE a.id = s.artist_id AND s.plays = t.plays AND t.artist_id = b.id AND u.id = t.id";
    let count = |condition: &str| {
        shown(
            &format!("SELECT COUNT(*) {all} {condition}"),
            &artists,
            &songs,
        )
    };
    let pairs: usize = (0..7)
        .map(|plays| (0..40).filter(|id| id % 7 == plays).count().pow(2))
        .sum();
    assert_eq!(count(""), pairs.to_string());
    assert_eq!(count("AND s.id = 3 AND t.id = 10"), "1");
    let far = distance(&format!("SELECT 1 {all} AND s.id = 90"), &artists, &songs);
    let near = distance(&format!("SELECT 1 {all} AND s.id = 41"), &artists, &songs);
    assert!(near < far, "{near} {far}");
}

#[test]
fn a_condition_on_a_missing_partner_is_judged_after_the_outer_join() {
    let artists: Vec<Vec<Value>> = (0..30).map(|id| artist(id, "x")).collect();
    let songs: Vec<Vec<Value>> = (0..30).map(|id| song(id, id / 2, "a", 0)).collect();
    let alone = "SELECT COUNT(*) FROM artist a LEFT JOIN song s ON s.artist_id = a.id, artist b \
                 WHERE s.id IS NULL AND b.id = a.id";
    assert_eq!(shown(alone, &artists, &songs), "15");
}

#[test]
fn alternatives_of_different_types_are_their_texts() {
    let artists = [artist(1, "x")];
    assert_eq!(
        shown(
            "SELECT IFNULL(born, ''), IFNULL(id, 'none') FROM artist",
            &artists,
            &[]
        ),
        "1970-01-01|1"
    );
    assert_eq!(
        run(
            "SELECT 1 FROM artist WHERE '1970-06-01' BETWEEN IFNULL(born, '2000-01-01') AND '1971'",
            &artists,
            &[]
        )
        .rows
        .len(),
        1
    );
}

#[test]
fn between_compares_strings_with_dates_as_dates() {
    let artists = [artist(1, "x")];
    for (condition, rows) in [
        ("'1970-1-1' BETWEEN born AND '1970-01-02'", 1),
        ("'1970-01-02' BETWEEN '1970-01-01' AND born", 0),
        ("born BETWEEN '1969-12-31' AND '1970-01-01 10:00:00'", 1),
        ("'7' BETWEEN 6 AND '10'", 1),
    ] {
        let sql = format!("SELECT 1 FROM artist WHERE {condition}");
        assert_eq!(run(&sql, &artists, &[]).rows.len(), rows, "{condition}");
    }
}

#[test]
fn a_query_knows_whether_it_reads_the_clock() {
    let reads = |sql: &str| {
        query::parse(sql, &schema(), DialectName::MySql)
            .unwrap()
            .reads_clock()
    };
    assert!(reads(
        "SELECT 1 FROM artist WHERE EXISTS (SELECT 1 FROM song WHERE born < NOW())"
    ));
    assert!(reads("SELECT MAX(CURDATE()) FROM artist"));
    assert!(!reads("SELECT DATE(born) FROM artist"));
}
