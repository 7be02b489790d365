-- Queries of the small shop in shop.sql: the smallest complete input for `isobath query`.

-- name: LateOrders :many
SELECT o.order_id, c.email
FROM orders o
JOIN customers c ON c.customer_id = o.customer_id
WHERE o.shipped_on IS NULL AND o.placed_on < :before
ORDER BY o.order_id;

-- name: ListedUnder :many
SELECT sku, title, COALESCE(discounted, price) AS pays
FROM products
WHERE status = 'listed' AND (price <= :most OR discounted <= :most);

-- name: ItemsByCountry :many
SELECT c.country, COUNT(i.sku) AS items
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.customer_id
LEFT JOIN order_items i ON i.order_id = o.order_id
GROUP BY c.country
HAVING COUNT(i.sku) > 1
ORDER BY c.country;

-- name: NeverOrdered :many
SELECT p.sku
FROM products p
WHERE p.status <> 'retired'
  AND NOT EXISTS (SELECT 1 FROM order_items i WHERE i.sku = p.sku);

-- name: RetireDrafts :exec
UPDATE products SET status = 'retired' WHERE status = 'draft' AND price < 1;
