-- Run with: mariadb < <this file>
-- Stops with status 1 at the first expectation that is not met, below the name of its test.
-- The tables are created in a scratch database of their own.

DROP DATABASE IF EXISTS @scratch@;
CREATE DATABASE @scratch@;
USE @scratch@;

DELIMITER //

CREATE PROCEDURE isobath_fail(IN reason TEXT)
BEGIN
  DECLARE short TEXT DEFAULT LEFT(reason, 500);
  SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = short;
END //

CREATE PROCEDURE isobath_affects(IN expected BIGINT, IN statement LONGTEXT)
BEGIN
  DECLARE affected BIGINT;
  EXECUTE IMMEDIATE statement;
  SET affected = ROW_COUNT();
  IF affected <> expected THEN
    CALL isobath_fail(CONCAT(affected, ' rows affected instead of ', expected));
  END IF;
END //

CREATE PROCEDURE isobath_rejects(
  IN statement LONGTEXT, IN expected_code INT, IN expected_state TEXT, IN parts LONGTEXT
)
BEGIN
  DECLARE code INT;
  DECLARE state, message, part TEXT;
  DECLARE idx INT DEFAULT 0;
  BEGIN
    DECLARE EXIT HANDLER FOR SQLEXCEPTION
      GET DIAGNOSTICS CONDITION 1
        code = MYSQL_ERRNO, state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
    EXECUTE IMMEDIATE statement;
  END;
  IF code IS NULL THEN
    CALL isobath_fail(CONCAT('not rejected: ', statement));
  END IF;
  IF code <> expected_code THEN
    CALL isobath_fail(CONCAT('error ', code, ' instead of ', expected_code, ': ', message));
  END IF;
  IF state <> expected_state THEN
    CALL isobath_fail(CONCAT('SQLSTATE ', state, ' instead of ', expected_state, ': ', message));
  END IF;
  WHILE idx < JSON_LENGTH(parts) DO
    SET part = JSON_VALUE(parts, CONCAT('$[', idx, ']'));
    IF LOCATE(BINARY part, BINARY message) = 0 THEN
      CALL isobath_fail(CONCAT('the message does not mention ', part, ': ', message));
    END IF;
    SET idx = idx + 1;
  END WHILE;
END //

CREATE PROCEDURE isobath_equal(IN actual LONGTEXT, IN expected LONGTEXT)
BEGIN
  IF NOT (BINARY actual <=> BINARY expected) THEN
    CALL isobath_fail(CONCAT('rows ', COALESCE(actual, 'none'), ' instead of ', expected));
  END IF;
END //

DELIMITER ;
