-- Run with: sqlite3 :memory: < <this file>
-- Prints one line per expectation (TAP); the status is 0 exactly when all of them are met.
-- The errors on the standard error output are the expected rejections. Three small files named
-- isobath-*.txt are written to the working folder.

.bail off
.headers off
.mode list
