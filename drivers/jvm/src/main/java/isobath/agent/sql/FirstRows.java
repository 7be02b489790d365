package isobath.agent.sql;

import java.sql.Connection;
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

/** The rows that were there at first, and how they come back. */
final class FirstRows {
    /** More rows of one table are not kept, and the table is then left alone. */
    private static final int MOST_ROWS = 20_000;

    /** What stands for the table in a statement. */
    private static final String TABLE = "@";
    /** How tables are cleared, best first: releases of one system understand different ones. */
    private static final String[] CLEARING = {
        "TRUNCATE TABLE " + TABLE + " RESTART IDENTITY AND COMMIT NO CHECK", // HSQLDB
        "TRUNCATE TABLE " + TABLE + " RESTART IDENTITY", // H2 from 2 on; 1.4.200 takes it and restarts nothing
        "DELETE FROM " + TABLE,
    };

    private final Connection connection;
    private final String engine;
    private final String clearing;
    private final Map<String, Kept> kept = new LinkedHashMap<>();

    private static final class Kept {
        final List<Object[]> rows = new ArrayList<>();
        final List<String> columns = new ArrayList<>();
        String identity;
    }

    private interface Step {
        void on(String table, Kept rows) throws SQLException;
    }

    FirstRows(Connection connection) throws SQLException {
        this.connection = connection;
        engine = Access.engine(connection);
        String understood = null;
        for (Table table : Table.all(connection)) {
            Kept rows = read(table.full());
            if (rows != null) {
                kept.put(table.full(), rows);
                understood = understood == null ? clearing(table.full()) : understood;
            }
        }
        clearing = understood;
    }

    /** The first way to clear a table that the database understands. Derby would take TRUNCATE, but not keep to foreign keys. */
    private String clearing(String table) throws SQLException {
        boolean isOld = engine.equals("h2") && connection.getMetaData().getDatabaseMajorVersion() < 2;
        for (String way : CLEARING) {
            boolean isPlain = way.startsWith("DELETE");
            if (!isPlain && (isOld || engine.equals("derby") || engine.equals("hsqldb") != way.endsWith("NO CHECK"))) {
                continue;
            }
            // Only prepared: what is not understood is refused here already.
            try (PreparedStatement tried = connection.prepareStatement(way.replace(TABLE, table))) {
                return way;
            } catch (SQLException notUnderstood) {
                // The next one is simpler.
            }
        }
        return CLEARING[CLEARING.length - 1];
    }

    void putBack() throws SQLException {
        String integrity = null;
        if (engine.equals("h2")) {
            integrity = "SET REFERENTIAL_INTEGRITY ";
        } else if (engine.equals("hsqldb")) {
            integrity = "SET DATABASE REFERENTIAL INTEGRITY ";
        }
        try (Statement statement = connection.createStatement()) {
            if (integrity != null) {
                statement.execute(integrity + "FALSE");
            }
            try {
                untilNoneRefuses((table, rows) -> clear(statement, table));
                untilNoneRefuses((table, rows) -> insert(table, rows));
                for (Map.Entry<String, Kept> table : kept.entrySet()) {
                    restart(statement, table.getKey(), table.getValue());
                }
            } finally {
                if (integrity != null) {
                    statement.execute(integrity + "TRUE");
                }
            }
        }
    }

    /** Without a way to loosen foreign keys, tables are tried again and again until all are done. */
    private void untilNoneRefuses(Step step) throws SQLException {
        Map<String, Kept> left = new LinkedHashMap<>(kept);
        SQLException refusal = null;
        for (int round = 0; round <= kept.size() && !left.isEmpty(); round++) {
            Map<String, Kept> refused = new LinkedHashMap<>();
            for (Map.Entry<String, Kept> table : left.entrySet()) {
                try {
                    step.on(table.getKey(), table.getValue());
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

    private void clear(Statement statement, String table) throws SQLException {
        statement.execute(clearing.replace(TABLE, table));
    }

    private void insert(String table, Kept rows) throws SQLException {
        if (rows.rows.isEmpty()) {
            return;
        }
        String marks = String.join(", ", Collections.nCopies(rows.columns.size(), "?"));
        String text = "INSERT INTO " + table + " (" + String.join(", ", rows.columns) + ") VALUES (" + marks + ")";
        try (PreparedStatement insert = connection.prepareStatement(text)) {
            for (Object[] row : rows.rows) {
                for (int at = 0; at < row.length; at++) {
                    insert.setObject(at + 1, row[at]);
                }
                insert.executeUpdate();
            }
        }
    }

    /** Keys that the database makes go on after those that are there. */
    private void restart(Statement statement, String table, Kept rows) {
        boolean isRestarted = rows.rows.isEmpty() && clearing.contains("RESTART");
        if (rows.identity == null || isRestarted) {
            return;
        }
        int column = rows.columns.indexOf(rows.identity);
        long highest = 0;
        for (Object[] row : rows.rows) {
            highest = row[column] instanceof Number ? Math.max(highest, ((Number) row[column]).longValue()) : highest;
        }
        try {
            statement.execute("ALTER TABLE " + table + " ALTER COLUMN " + rows.identity + " RESTART WITH " + (highest + 1));
        } catch (SQLException otherDialect) {
            // Numbers then go on from where they were.
        }
    }

    /** The rows of a table, or null when there are too many. */
    private Kept read(String table) throws SQLException {
        Kept kept = new Kept();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT * FROM " + table)) {
            ResultSetMetaData columns = rows.getMetaData();
            for (int at = 1; at <= columns.getColumnCount(); at++) {
                String column = Table.quoted(columns.getColumnName(at));
                kept.columns.add(column);
                if (columns.isAutoIncrement(at)) {
                    kept.identity = column;
                }
            }
            while (rows.next()) {
                if (kept.rows.size() == MOST_ROWS) {
                    return null;
                }
                Object[] row = new Object[columns.getColumnCount()];
                for (int at = 0; at < row.length; at++) {
                    row[at] = rows.getObject(at + 1);
                }
                kept.rows.add(row);
            }
            return kept;
        }
    }
}
