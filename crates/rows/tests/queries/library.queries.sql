-- name: by name and tier
SELECT id FROM members WHERE name = 'Ada' AND tier = 'gold';
-- name: not over a compound
SELECT id FROM members WHERE NOT (tier = 'gold' OR (email IS NULL AND born < '1990-01-01'));
-- name: numeric between
SELECT title FROM books WHERE pages BETWEEN 100 AND 300 AND price <> 9.5;
-- name: not between
SELECT title FROM books WHERE price NOT BETWEEN 5 AND 10;
-- name: in and not in
SELECT id FROM members WHERE tier IN ('plus', 'gold') AND name NOT IN ('Bob', 'Eve');
-- name: patterns
SELECT isbn FROM books WHERE title LIKE 'The %' AND author NOT LIKE '%son';
-- name: pattern of one letter
SELECT isbn FROM books WHERE title LIKE '_a%z';
-- name: join
SELECT b.title FROM books b JOIN branches r ON b.branch = r.id WHERE r.city = 'Faro';
-- name: three joins
SELECT m.name, b.title FROM loans l JOIN members m ON l.member = m.id JOIN books b ON l.isbn = b.isbn WHERE l.returned IS NULL AND b.price > 20;
-- name: left join with a group
SELECT m.id, COUNT(*) FROM members m LEFT JOIN loans l ON l.member = m.id GROUP BY m.id HAVING COUNT(*) > 1;
-- name: left join and a condition on it
SELECT m.id FROM members m LEFT JOIN loans l ON l.member = m.id AND l.fee > 2 WHERE m.tier = 'basic';
-- name: anti-join
SELECT m.id FROM members m LEFT JOIN loans l ON l.member = m.id WHERE l.id IS NULL;
-- name: right join
SELECT m.name, l.id FROM loans l RIGHT JOIN members m ON l.member = m.id WHERE m.tier <> 'gold';
-- name: full join
-- engines: sqlite postgres
SELECT m.name, b.title FROM members m FULL JOIN books b ON m.name = b.author WHERE b.pages > 10 OR m.id IS NOT NULL;
-- name: self join
SELECT a.name, s.name FROM members a JOIN members s ON a.sponsor = s.id WHERE a.tier = s.tier;
-- name: three of one table
SELECT a.id FROM members a JOIN members b ON a.sponsor = b.id LEFT JOIN members c ON b.sponsor = c.id WHERE c.id IS NULL;
-- name: case in the select list
SELECT CASE WHEN pages > 500 THEN 'long' WHEN pages > 200 THEN 'middle' ELSE 'short' END FROM books;
-- name: case in where
SELECT id FROM loans WHERE CASE WHEN fee IS NULL THEN 0 ELSE fee END > 3;
-- name: case with an operand
SELECT CASE tier WHEN 'gold' THEN 3 WHEN 'plus' THEN 2 ELSE 1 END FROM members WHERE born IS NOT NULL;
-- name: coalesce
SELECT COALESCE(author, title) FROM books WHERE COALESCE(pages, 0) < 50;
-- name: coalesce of three
SELECT COALESCE(email, name, '-') FROM members;
-- name: union
SELECT name FROM members WHERE tier = 'gold' UNION SELECT author FROM books WHERE price > 50;
-- name: union all of three
SELECT id FROM members UNION ALL SELECT id FROM branches UNION ALL SELECT id FROM loans WHERE fee = 1;
-- name: except
SELECT isbn FROM books EXCEPT SELECT isbn FROM loans;
-- name: intersect
SELECT isbn FROM loans WHERE fee > 1 INTERSECT SELECT isbn FROM reviews WHERE stars = 5;
-- name: exists
SELECT m.id FROM members m WHERE EXISTS (SELECT 1 FROM loans l WHERE l.member = m.id AND l.fee > 5);
-- name: not exists
SELECT m.id FROM members m WHERE NOT EXISTS (SELECT 1 FROM loans l WHERE l.member = m.id AND l.returned IS NULL);
-- name: nested exists
SELECT b.isbn FROM books b WHERE EXISTS (SELECT 1 FROM loans l WHERE l.isbn = b.isbn AND EXISTS (SELECT 1 FROM members m WHERE m.id = l.member AND m.tier = 'gold'));
-- name: exists with not exists inside
SELECT r.city FROM branches r WHERE EXISTS (SELECT 1 FROM books b WHERE b.branch = r.id AND NOT EXISTS (SELECT 1 FROM loans l WHERE l.isbn = b.isbn));
-- name: not exists with not exists inside
SELECT m.id FROM members m WHERE NOT EXISTS (SELECT 1 FROM books b WHERE NOT EXISTS (SELECT 1 FROM reviews v WHERE v.isbn = b.isbn AND v.member = m.id));
-- name: in a subquery
SELECT title FROM books WHERE isbn IN (SELECT isbn FROM reviews WHERE stars >= 4);
-- name: not in a subquery
SELECT title FROM books WHERE author NOT IN (SELECT name FROM members WHERE tier = 'gold');
-- name: scalar subquery
SELECT title FROM books WHERE price > (SELECT AVG(price) FROM books);
-- name: correlated scalar aggregate
SELECT b.title FROM books b WHERE b.price >= (SELECT MAX(c.price) FROM books c WHERE c.branch = b.branch);
-- name: correlated count
SELECT m.name FROM members m WHERE (SELECT COUNT(*) FROM loans l WHERE l.member = m.id) > 1;
-- name: scalar in the select list
SELECT m.name, (SELECT MAX(l.taken) FROM loans l WHERE l.member = m.id) FROM members m WHERE m.tier = 'plus';
-- name: any and all
-- engines: postgres mariadb
SELECT title FROM books WHERE price > ALL (SELECT fee FROM loans WHERE fee IS NOT NULL) AND pages = ANY (SELECT id FROM branches);
-- name: group and having
SELECT branch, SUM(price) FROM books GROUP BY branch HAVING SUM(price) > 100;
-- name: group by two columns
SELECT branch, author, MAX(pages) FROM books WHERE price > 1 GROUP BY branch, author;
-- name: average in having
SELECT isbn, AVG(stars) FROM reviews GROUP BY isbn HAVING AVG(stars) >= 4 AND COUNT(*) > 2;
-- name: count distinct
SELECT COUNT(DISTINCT member) FROM loans WHERE fee > 0;
-- name: group with count distinct in having
SELECT isbn FROM loans GROUP BY isbn HAVING COUNT(DISTINCT member) > 1;
-- name: minimum and maximum
SELECT MIN(taken), MAX(due) FROM loans WHERE returned IS NOT NULL;
-- name: join and group
SELECT r.city, COUNT(b.isbn) FROM branches r LEFT JOIN books b ON b.branch = r.id GROUP BY r.city;
-- name: distinct
SELECT DISTINCT author FROM books WHERE pages > 100;
-- name: derived table
SELECT t.member, t.n FROM (SELECT member, COUNT(*) AS n FROM loans GROUP BY member) t WHERE t.n > 2;
-- name: derived table without groups
SELECT t.title FROM (SELECT title, price FROM books WHERE price < 30) t WHERE t.price > 10;
-- name: common table
WITH late AS (SELECT member, fee FROM loans WHERE returned > due) SELECT m.name FROM members m JOIN late ON late.member = m.id WHERE late.fee > 1;
-- name: two common tables
WITH cheap AS (SELECT isbn FROM books WHERE price < 5), loved AS (SELECT isbn FROM reviews WHERE stars = 5) SELECT cheap.isbn FROM cheap JOIN loved ON cheap.isbn = loved.isbn;
-- name: window
SELECT member, RANK() OVER (PARTITION BY member ORDER BY taken) FROM loans WHERE fee IS NOT NULL;
-- name: window in a derived table
SELECT t.isbn FROM (SELECT isbn, ROW_NUMBER() OVER (PARTITION BY branch ORDER BY price DESC) AS n FROM books) t WHERE t.n = 1;
-- name: order and limit
SELECT title FROM books WHERE pages IS NOT NULL ORDER BY price DESC LIMIT 3;
-- name: length and left
-- engines: postgres mariadb
SELECT id FROM members WHERE LENGTH(name) = 12 AND LEFT(name, 5) = 'Maria';
-- name: reverse
-- engines: postgres mariadb
SELECT id FROM members WHERE REVERSE(name) = 'anna';
-- name: upper and substring
SELECT id FROM members WHERE UPPER(name) = 'ADA' AND SUBSTR(email, 1, 3) = 'ada';
-- name: trim and concatenation
-- engines: sqlite postgres
SELECT id FROM members WHERE TRIM(name) = 'Bo' AND name || '@' = email;
-- name: replace
SELECT isbn FROM books WHERE REPLACE(isbn, '-', '') = '978';
-- name: arithmetic
SELECT isbn FROM books WHERE price * 2 + 1 > 41 AND pages - 10 = 90;
-- name: two columns
SELECT id FROM loans WHERE returned > due;
-- name: sum of columns
SELECT id FROM loans WHERE fee + 1 = 3.5 OR fee < 0;
-- name: date arithmetic of postgres
-- engines: postgres
SELECT id FROM loans WHERE returned >= due + INTERVAL '7 days';
-- name: date arithmetic of mariadb
-- engines: mariadb
SELECT id FROM loans WHERE returned >= DATE_ADD(due, INTERVAL 7 DAY);
-- name: date arithmetic of sqlite
-- engines: sqlite
SELECT id FROM loans WHERE returned >= DATE(due, '+7 days');
-- name: extract
-- engines: postgres mariadb
SELECT id FROM members WHERE EXTRACT(YEAR FROM born) = 1984;
-- name: parameters
-- engines: sqlite mariadb
SELECT id FROM members WHERE tier = ? AND name > ?;
-- name: numbered parameters
-- engines: postgres
SELECT id FROM members WHERE tier = $2 AND name > $1;
-- name: parameters in a list
-- engines: sqlite mariadb
SELECT id FROM members WHERE tier IN (?, ?) AND id NOT IN (?, 7) AND name > ?;
-- name: a parameter that is an array
-- engines: postgres
SELECT id FROM members WHERE tier = ANY($1) AND id <> ALL($2::int[]) AND born > $3;
-- name: arrays as text
-- engines: postgres
SELECT m.name FROM members m JOIN loans l ON l.member = m.id WHERE m.tier = ANY('{basic, "gold"}') AND l.id < ANY('{7}'::int[]);
-- name: named parameters and a range
-- engines: sqlite
SELECT isbn FROM books WHERE pages BETWEEN :least AND :most AND price < :price;
-- name: a parameter in a subquery
-- engines: sqlite mariadb
SELECT m.id FROM members m WHERE EXISTS (SELECT 1 FROM loans l WHERE l.member = m.id AND l.fee > ?) AND m.tier = ?;
-- name: update
UPDATE books SET price = price * 2 WHERE pages > 300 AND author IS NULL;
-- name: delete
DELETE FROM loans WHERE returned IS NULL AND due < '2020-01-01';
-- name: contradiction
SELECT id FROM loans WHERE fee > 5 AND fee < 3;
-- name: beyond a check
SELECT isbn FROM reviews WHERE stars > 5 OR stars = 3;
-- name: comma join
SELECT m.name FROM members m, loans l WHERE l.member = m.id AND l.taken = '2024-02-29';
