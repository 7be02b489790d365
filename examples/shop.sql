-- The schema of a small shop: the smallest complete input for `isobath schema`.

CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY,
    email       VARCHAR(120) NOT NULL UNIQUE CHECK (email LIKE '%_@_%'),
    country     CHAR(2) NOT NULL DEFAULT 'PT',
    joined_on   DATE NOT NULL
);

CREATE TABLE products (
    sku         VARCHAR(12) PRIMARY KEY,
    title       VARCHAR(80) NOT NULL,
    price       NUMERIC(8, 2) NOT NULL CHECK (price > 0),
    discounted  NUMERIC(8, 2),
    status      VARCHAR(10) NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'listed', 'retired')),
    CONSTRAINT discount_is_a_discount CHECK (discounted > 0 AND discounted < price)
);

CREATE TABLE orders (
    order_id    INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    placed_on   DATE NOT NULL,
    shipped_on  DATE,
    CONSTRAINT shipped_after_placed CHECK (shipped_on >= placed_on)
);

CREATE TABLE order_items (
    order_id    INTEGER NOT NULL REFERENCES orders (order_id) ON DELETE CASCADE,
    line        INTEGER NOT NULL CHECK (line BETWEEN 1 AND 99),
    sku         VARCHAR(12) NOT NULL REFERENCES products (sku),
    quantity    INTEGER NOT NULL DEFAULT 1 CHECK (quantity > 0),
    PRIMARY KEY (order_id, line),
    UNIQUE (order_id, sku)
);
