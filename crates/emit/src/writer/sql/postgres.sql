-- Run with: psql -X -f <this file> <test database>
-- Stops with status 3 at the first expectation that is not met, below the name of its test.
-- Everything happens in one transaction that is rolled back.

\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
SET standard_conforming_strings = on;
BEGIN;
CREATE SCHEMA isobath_scratch;
SET LOCAL search_path TO isobath_scratch, public;

CREATE PROCEDURE pg_temp.run(statements text[], OUT affected bigint) LANGUAGE plpgsql AS $body$
DECLARE
  one text;
BEGIN
  IF cardinality(statements) > 1 THEN
    SET CONSTRAINTS ALL DEFERRED;
  END IF;
  FOREACH one IN ARRAY statements LOOP
    EXECUTE one;
    GET DIAGNOSTICS affected = ROW_COUNT;
  END LOOP;
  SET CONSTRAINTS ALL IMMEDIATE;
END
$body$;

CREATE PROCEDURE pg_temp.affects(expected bigint, statements text[]) LANGUAGE plpgsql AS $body$
DECLARE
  affected bigint;
BEGIN
  CALL pg_temp.run(statements, affected);
  IF affected <> expected THEN
    RAISE EXCEPTION '% rows affected instead of %', affected, expected;
  END IF;
END
$body$;

CREATE PROCEDURE pg_temp.rejects(
  statements text[], expected_state text, expected_constraint text, parts text[]
) LANGUAGE plpgsql AS $body$
DECLARE
  affected bigint;
  state text;
  constraint_name text;
  message text;
  part text;
BEGIN
  BEGIN
    CALL pg_temp.run(statements, affected);
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS
      state = RETURNED_SQLSTATE, constraint_name = CONSTRAINT_NAME, message = MESSAGE_TEXT;
  END;
  IF state IS NULL THEN
    RAISE EXCEPTION 'not rejected: %', statements[cardinality(statements)];
  END IF;
  IF state <> expected_state THEN
    RAISE EXCEPTION 'rejected with SQLSTATE % instead of %: %', state, expected_state, message;
  END IF;
  IF constraint_name <> expected_constraint THEN
    RAISE EXCEPTION 'rejected by "%" instead of "%": %',
      constraint_name, expected_constraint, message;
  END IF;
  FOREACH part IN ARRAY parts LOOP
    IF strpos(message, part) = 0 THEN
      RAISE EXCEPTION 'the message does not mention "%": %', part, message;
    END IF;
  END LOOP;
END
$body$;

CREATE PROCEDURE pg_temp.returns(query text, expected jsonb) LANGUAGE plpgsql AS $body$
DECLARE
  actual jsonb := '[]';
  one record;
BEGIN
  FOR one IN EXECUTE query LOOP
    actual := actual || jsonb_build_array((
      SELECT jsonb_agg(value ORDER BY idx)
      FROM json_each_text(row_to_json(one)) WITH ORDINALITY AS cell(key, value, idx)));
  END LOOP;
  IF actual <> expected THEN
    RAISE EXCEPTION 'rows % instead of %', actual, expected;
  END IF;
END
$body$;
