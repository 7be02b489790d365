-- name: kind of room
SELECT door FROM rooms WHERE kind = 'suite' AND rate < 200;
-- name: kinds in a list
SELECT door FROM rooms WHERE kind IN ('single', 'double') OR smoking;
-- name: a flag that may be unknown
SELECT code FROM guests WHERE vip OR name = 'Zoe';
-- name: not a flag
SELECT code FROM guests WHERE NOT vip AND since > '2020-01-01 00:00:00';
-- name: join by two columns
SELECT s.guest FROM stays s JOIN rooms r ON s.floor = r.floor AND s.door = r.door WHERE r.kind = 'double';
-- name: rooms nobody stayed in
SELECT r.floor, r.door FROM rooms r LEFT JOIN stays s ON s.floor = r.floor AND s.door = r.door WHERE s.guest IS NULL;
-- name: guests by what they pay
SELECT g.name, SUM(r.rate * s.nights) FROM guests g JOIN stays s ON s.guest = g.code JOIN rooms r ON r.floor = s.floor AND r.door = s.door WHERE s.paid GROUP BY g.name HAVING SUM(r.rate * s.nights) > 500;
-- name: floors with several kinds
SELECT floor FROM rooms GROUP BY floor HAVING COUNT(DISTINCT kind) > 1 AND MIN(rate) > 50;
-- name: unpaid and long
SELECT guest FROM stays WHERE NOT paid AND nights >= 30;
-- name: more nights than any
SELECT guest FROM stays s WHERE nights > (SELECT AVG(nights) FROM stays t WHERE t.guest = s.guest);
