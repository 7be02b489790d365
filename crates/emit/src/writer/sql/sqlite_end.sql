
-- The status: every check must have said ok. 256 is 0 to the caller, and unlike 0 it makes the
-- shell forget the errors it saw.
.output stdout
SELECT CAST(readfile('isobath-results.txt') AS TEXT);
.output isobath-exit.txt
WITH results(lines) AS (
  SELECT char(10) || CAST(readfile('isobath-results.txt') AS TEXT)
)
SELECT CASE
  WHEN (length(lines) - length(replace(lines, char(10) || 'ok ', ''))) / 4 = @checks@
  THEN '.exit 256' ELSE '.exit 1' END
FROM results;
.output stdout
.read isobath-exit.txt
