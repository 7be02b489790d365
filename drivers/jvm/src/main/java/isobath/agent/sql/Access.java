package isobath.agent.sql;

import isobath.agent.jdbc.Database;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Driver;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** A connection to the database of the service. Defined where {@code java.sql} can be seen, never on the bootstrap path. */
public final class Access implements Database.Session {
    /** More rows of one table are not kept, and the table is then left alone. */
    private static final int MOST_ROWS = 20_000;

    private final Connection connection;
    private Map<String, Kept> kept;

    private static final class Kept {
        final List<Object[]> rows = new ArrayList<>();
        final List<String> columns = new ArrayList<>();
        String identity;
    }

    /** Connects as the service did. */
    public Access(Object driver, String url, Object properties) throws SQLException {
        Properties copy = new Properties();
        if (properties != null) {
            copy.putAll((Properties) properties);
        }
        connection = ((Driver) driver).connect(url, copy);
        if (connection == null) {
            throw new SQLException("the driver does not connect to " + url + " any more");
        }
    }

    @Override
    public List<List<String>> run(List<String> statements) throws SQLException {
        List<List<String>> rows = Collections.emptyList();
        try (Statement statement = connection.createStatement()) {
            for (String text : statements) {
                if (statement.execute(text)) {
                    rows = rows(statement.getResultSet());
                }
            }
        }
        return rows;
    }

    private static List<List<String>> rows(ResultSet from) throws SQLException {
        List<List<String>> rows = new ArrayList<>();
        int columns = from.getMetaData().getColumnCount();
        while (from.next()) {
            List<String> row = new ArrayList<>();
            for (int column = 1; column <= columns; column++) {
                row.add(from.getString(column));
            }
            rows.add(row);
        }
        return rows;
    }

    @Override
    public void reset() throws SQLException {
        if (kept == null) {
            kept = keep();
            return;
        }
        String engine = connection.getMetaData().getDatabaseProductName().toLowerCase();
        String[] loosen = {};
        String[] tighten = {};
        if (engine.startsWith("h2")) {
            loosen = new String[] {"SET REFERENTIAL_INTEGRITY FALSE"};
            tighten = new String[] {"SET REFERENTIAL_INTEGRITY TRUE"};
        } else if (engine.startsWith("hsql")) {
            loosen = new String[] {"SET DATABASE REFERENTIAL INTEGRITY FALSE"};
            tighten = new String[] {"SET DATABASE REFERENTIAL INTEGRITY TRUE"};
        } else if (engine.startsWith("mysql") || engine.startsWith("mariadb")) {
            loosen = new String[] {"SET FOREIGN_KEY_CHECKS = 0"};
            tighten = new String[] {"SET FOREIGN_KEY_CHECKS = 1"};
        }
        try (Statement statement = connection.createStatement()) {
            for (String text : loosen) {
                statement.execute(text);
            }
            try {
                clear(statement, engine);
                restore();
            } finally {
                for (String text : tighten) {
                    statement.execute(text);
                }
            }
        }
    }

    /** Without a way to loosen foreign keys, tables are emptied again and again until none refuses. */
    private void clear(Statement statement, String engine) throws SQLException {
        List<String> left = new ArrayList<>(kept.keySet());
        SQLException refusal = null;
        for (int round = 0; round <= kept.size() && !left.isEmpty(); round++) {
            List<String> refused = new ArrayList<>();
            for (String table : left) {
                try {
                    if (engine.startsWith("h2")) {
                        statement.execute("TRUNCATE TABLE " + table + " RESTART IDENTITY");
                    } else {
                        statement.execute("DELETE FROM " + table);
                    }
                } catch (SQLException complaint) {
                    refusal = complaint;
                    refused.add(table);
                }
            }
            left = refused;
        }
        if (!left.isEmpty() && refusal != null) {
            throw refusal;
        }
        for (Map.Entry<String, Kept> table : kept.entrySet()) {
            if (!engine.startsWith("h2") && table.getValue().identity != null && table.getValue().rows.isEmpty()) {
                try {
                    statement.execute("ALTER TABLE " + table.getKey() + " ALTER COLUMN " + table.getValue().identity + " RESTART WITH 1");
                } catch (SQLException otherDialect) {
                    // Numbers then go on from where they were.
                }
            }
        }
    }

    private void restore() throws SQLException {
        Map<String, Kept> left = new LinkedHashMap<>(kept);
        SQLException refusal = null;
        for (int round = 0; round <= kept.size() && !left.isEmpty(); round++) {
            Map<String, Kept> refused = new LinkedHashMap<>();
            for (Map.Entry<String, Kept> table : left.entrySet()) {
                try {
                    insert(table.getKey(), table.getValue());
                } catch (SQLException complaint) {
                    refusal = complaint;
                    refused.put(table.getKey(), table.getValue());
                }
            }
            left = refused;
        }
        if (!left.isEmpty() && refusal != null) {
            throw refusal;
        }
    }

    private void insert(String table, Kept rows) throws SQLException {
        if (rows.rows.isEmpty()) {
            return;
        }
        String marks = String.join(", ", Collections.nCopies(rows.columns.size(), "?"));
        String text = "INSERT INTO " + table + " (" + String.join(", ", rows.columns) + ") VALUES (" + marks + ")";
        long highest = 0;
        try (PreparedStatement insert = connection.prepareStatement(text)) {
            for (Object[] row : rows.rows) {
                for (int at = 0; at < row.length; at++) {
                    insert.setObject(at + 1, row[at]);
                    if (rows.columns.get(at).equals(rows.identity) && row[at] instanceof Number) {
                        highest = Math.max(highest, ((Number) row[at]).longValue());
                    }
                }
                insert.executeUpdate();
            }
        }
        if (rows.identity != null) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("ALTER TABLE " + table + " ALTER COLUMN " + rows.identity + " RESTART WITH " + (highest + 1));
            } catch (SQLException otherDialect) {
                // As above.
            }
        }
    }

    private Map<String, Kept> keep() throws SQLException {
        Map<String, Kept> all = new LinkedHashMap<>();
        DatabaseMetaData about = connection.getMetaData();
        String quote = about.getIdentifierQuoteString().trim();
        try (ResultSet tables = about.getTables(connection.getCatalog(), null, "%", null)) {
            while (tables.next()) {
                String schema = tables.getString("TABLE_SCHEM");
                String type = tables.getString("TABLE_TYPE");
                boolean isData = type != null && type.toUpperCase().endsWith("TABLE") && !type.toUpperCase().contains("SYSTEM");
                if (isData && !isSystem(schema)) {
                    String name = quoted(tables.getString("TABLE_NAME"), quote);
                    all.put(schema == null ? name : quoted(schema, quote) + "." + name, new Kept());
                }
            }
        }
        for (String table : new ArrayList<>(all.keySet())) {
            if (!read(table, all.get(table), quote)) {
                all.remove(table);
            }
        }
        return all;
    }

    private boolean read(String table, Kept into, String quote) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM " + table)) {
            ResultSetMetaData columns = rows.getMetaData();
            for (int at = 1; at <= columns.getColumnCount(); at++) {
                String column = quoted(columns.getColumnName(at), quote);
                into.columns.add(column);
                if (columns.isAutoIncrement(at)) {
                    into.identity = column;
                }
            }
            while (rows.next()) {
                if (into.rows.size() == MOST_ROWS) {
                    return false;
                }
                Object[] row = new Object[columns.getColumnCount()];
                for (int at = 0; at < row.length; at++) {
                    row[at] = rows.getObject(at + 1);
                }
                into.rows.add(row);
            }
            return true;
        }
    }

    private static boolean isSystem(String schema) {
        if (schema == null) {
            return false;
        }
        String name = schema.toUpperCase();
        return name.startsWith("INFORMATION_SCHEMA") || name.startsWith("SYS") || name.startsWith("PG_") || name.startsWith("NULLID");
    }

    private static String quoted(String name, String quote) {
        return quote.isEmpty() ? name : quote + name.replace(quote, quote + quote) + quote;
    }
}
