package isobath.agent.sql;

import isobath.agent.jdbc.Database;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A connection to the database of the service. Defined where {@code java.sql} can be seen, never on the bootstrap path. */
public final class Access implements Database.Session {
    private static final String NAME = "(?:\"(?:[^\"]|\"\")*\"|\\w+)";
    private static final Pattern RETURNING =
            Pattern.compile(
                    "(INSERT INTO ((?:" + NAME + "\\.)?" + NAME + ").*) RETURNING (" + NAME + "(?:, ?" + NAME + ")*)",
                    Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private final Connection connection;
    private FirstRows first;

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

    /** The database system in lower case. */
    static String engine(Connection connection) throws SQLException {
        String name = connection.getMetaData().getDatabaseProductName().toLowerCase();
        if (name.startsWith("hsql")) {
            return "hsqldb";
        }
        return name.contains("derby") ? "derby" : name;
    }

    /** Whether a database gives back any column of a new row: H2 does from 1.4.198 on. */
    private static boolean givesAllKeys(Connection connection) throws SQLException {
        if (!engine(connection).equals("h2")) {
            return false;
        }
        Matcher old = Pattern.compile("1\\.(\\d+)\\.(\\d+).*").matcher(connection.getMetaData().getDatabaseProductVersion());
        boolean isOld = old.matches() && (Integer.parseInt(old.group(1)) < 4 || Integer.parseInt(old.group(2)) < 198);
        return !isOld;
    }

    @Override
    public List<List<String>> run(List<String> statements) throws SQLException {
        List<List<String>> rows = Collections.emptyList();
        try (Statement statement = connection.createStatement()) {
            for (String text : statements) {
                Matcher returning = RETURNING.matcher(text);
                if (isTransaction(text)) {
                    rows = Collections.emptyList();
                } else if (returning.matches()) {
                    rows = insert(returning.group(1), returning.group(2), returning.group(3));
                } else if (statement.execute(text)) {
                    rows = rows(statement.getResultSet());
                } else {
                    rows = Collections.emptyList();
                }
            }
        } catch (SQLException refusal) {
            String state = refusal.getSQLState();
            throw state == null ? refusal : new SQLException(refusal.getMessage() + " (SQLSTATE " + state + ")", refusal);
        }
        return rows;
    }

    /** Begins or ends a transaction the way that all drivers know. */
    private boolean isTransaction(String text) throws SQLException {
        switch (text.trim().toUpperCase()) {
            case "BEGIN":
                connection.setAutoCommit(false);
                return true;
            case "COMMIT":
                if (!connection.getAutoCommit()) {
                    connection.commit();
                    connection.setAutoCommit(true);
                }
                return true;
            case "ROLLBACK":
                if (!connection.getAutoCommit()) {
                    connection.rollback();
                    connection.setAutoCommit(true);
                }
                return true;
            default:
                return false;
        }
    }

    /** Inserts a row and returns columns of it as they are stored; few databases in memory know RETURNING. */
    private List<List<String>> insert(String text, String table, String columns) throws SQLException {
        List<String> names = new ArrayList<>();
        Matcher name = Pattern.compile(NAME).matcher(columns);
        while (name.find()) {
            String one = name.group();
            names.add(one.startsWith("\"") ? one.substring(1, one.length() - 1).replace("\"\"", "\"") : one);
        }
        if (givesAllKeys(connection)) {
            try (PreparedStatement insert = connection.prepareStatement(text, names.toArray(new String[0]))) {
                insert.executeUpdate();
                return rows(insert.getGeneratedKeys());
            }
        }
        // Others give back only what they made themselves, so the new row is the one that was not there before.
        String all = "SELECT " + columns + " FROM " + table;
        try (Statement statement = connection.createStatement()) {
            List<List<String>> before = rows(statement.executeQuery(all));
            statement.executeUpdate(text);
            List<List<String>> after = rows(statement.executeQuery(all));
            before.forEach(after::remove);
            return after;
        }
    }

    private static List<List<String>> rows(ResultSet from) throws SQLException {
        List<List<String>> rows = new ArrayList<>();
        int columns = from.getMetaData().getColumnCount();
        while (from.next()) {
            List<String> row = new ArrayList<>();
            for (int column = 1; column <= columns; column++) {
                row.add(text(from, column));
            }
            rows.add(row);
        }
        return rows;
    }

    private static String text(ResultSet from, int column) throws SQLException {
        switch (from.getMetaData().getColumnType(column)) {
            case java.sql.Types.BINARY:
            case java.sql.Types.VARBINARY:
            case java.sql.Types.LONGVARBINARY:
            case java.sql.Types.BLOB:
                byte[] bytes = from.getBytes(column);
                if (bytes == null || "UUID".equalsIgnoreCase(from.getMetaData().getColumnTypeName(column))) {
                    return from.getString(column);
                }
                StringBuilder digits = new StringBuilder();
                for (byte one : bytes) {
                    digits.append(Character.forDigit(one >> 4 & 15, 16)).append(Character.forDigit(one & 15, 16));
                }
                return digits.toString();
            default:
                return from.getString(column);
        }
    }

    @Override
    public void reset() throws SQLException {
        if (!connection.getAutoCommit()) {
            isTransaction("ROLLBACK");
        }
        if (first == null) {
            first = new FirstRows(connection);
        } else {
            first.putBack();
        }
    }

    @Override
    public List<List<String>> describe() throws SQLException {
        return Definitions.of(connection);
    }
}
