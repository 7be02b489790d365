-- Run with: pg_prove -d <test database> <this file>
-- Needs the extension pgtap. Everything happens in one transaction that is rolled back.

\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET standard_conforming_strings = on;
BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE SCHEMA isobath_scratch;
SELECT set_config('search_path', 'isobath_scratch,' || current_setting('search_path'), true);

CREATE FUNCTION pg_temp.run(statements text[]) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  one text;
  affected bigint;
BEGIN
  IF cardinality(statements) > 1 THEN
    SET CONSTRAINTS ALL DEFERRED;
  END IF;
  FOREACH one IN ARRAY statements LOOP
    EXECUTE one;
    GET DIAGNOSTICS affected = ROW_COUNT;
  END LOOP;
  SET CONSTRAINTS ALL IMMEDIATE;
  RETURN affected;
END
$body$;

-- lives_ok for statements that only stand together, and for the number of rows.
CREATE FUNCTION pg_temp.accepts(statements text[], rows bigint, name text) RETURNS text
LANGUAGE plpgsql AS $body$
DECLARE
  affected bigint;
BEGIN
  BEGIN
    affected := pg_temp.run(statements);
  EXCEPTION WHEN OTHERS THEN
    RETURN ok(false, name) || E'\n' || diag(SQLSTATE || ': ' || SQLERRM);
  END;
  IF rows IS NULL THEN
    RETURN ok(true, name);
  END IF;
  RETURN is(affected, rows, name);
END
$body$;

-- throws_ok that also looks at the constraint, so that no test passes for the wrong reason.
CREATE FUNCTION pg_temp.rejects(
  statements text[], expected_state text, expected_constraint text, parts text[], name text
) RETURNS text LANGUAGE plpgsql AS $body$
DECLARE
  actual_state text;
  actual_constraint text;
  message text;
  part text;
BEGIN
  BEGIN
    PERFORM pg_temp.run(statements);
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS actual_state = RETURNED_SQLSTATE,
      actual_constraint = CONSTRAINT_NAME, message = MESSAGE_TEXT;
  END;
  IF actual_state IS NULL THEN
    RETURN ok(false, name) || E'\n' || diag('not rejected');
  END IF;
  IF actual_state <> expected_state OR actual_constraint <> expected_constraint THEN
    RETURN ok(false, name) || E'\n' || diag(format('rejected by %s "%s" instead of %s "%s": %s',
      actual_state, actual_constraint, expected_state, expected_constraint, message));
  END IF;
  FOREACH part IN ARRAY parts LOOP
    IF strpos(message, part) = 0 THEN
      RETURN ok(false, name) || E'\n' || diag(format('"%s" is not in: %s', part, message));
    END IF;
  END LOOP;
  RETURN ok(true, name);
END
$body$;

-- results_eq for rows as text, whatever the types of the columns.
CREATE FUNCTION pg_temp.returns(query text, expected jsonb, name text) RETURNS text
LANGUAGE plpgsql AS $body$
DECLARE
  actual jsonb := '[]';
  one record;
BEGIN
  FOR one IN EXECUTE query LOOP
    actual := actual || jsonb_build_array((
      SELECT jsonb_agg(value ORDER BY idx)
      FROM json_each_text(row_to_json(one)) WITH ORDINALITY AS cell(key, value, idx)));
  END LOOP;
  RETURN is(actual, expected, name);
END
$body$;

SELECT plan(@plan@);
