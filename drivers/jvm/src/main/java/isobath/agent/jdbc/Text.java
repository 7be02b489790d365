package isobath.agent.jdbc;

import java.util.Map;

/** Statements with their values filled in. Nothing is parsed but where texts and comments begin and end. */
final class Text {
    private Text() {}

    /** Fills values in for question marks, counted from one; what has no value stays. */
    static String fill(String sql, Map<Integer, Object> values) {
        StringBuilder text = new StringBuilder();
        int number = 0;
        for (int at = 0; at < sql.length(); ) {
            int end = at + 1;
            char c = sql.charAt(at);
            if (c == '\'' || c == '"' || c == '`') {
                end = after(sql, String.valueOf(c), at + 1);
            } else if (sql.startsWith("--", at)) {
                end = after(sql, "\n", at);
            } else if (sql.startsWith("/*", at)) {
                end = after(sql, "*/", at + 2);
            } else if (c == '?') {
                number++;
                if (values.containsKey(number)) {
                    text.append(literal(values.get(number)));
                    at = end;
                    continue;
                }
            }
            text.append(sql, at, end);
            at = end;
        }
        return text.toString();
    }

    private static int after(String sql, String sign, int from) {
        int found = sql.indexOf(sign, from);
        return found < 0 ? sql.length() : found + sign.length();
    }

    /** A value as it is written in SQL. */
    static String literal(Object value) {
        if (value == null) {
            return "NULL";
        }
        if (value instanceof Number) {
            return value.toString();
        }
        if (value instanceof Boolean) {
            return (Boolean) value ? "TRUE" : "FALSE";
        }
        if (value instanceof byte[]) {
            StringBuilder hex = new StringBuilder("X'");
            for (byte b : (byte[]) value) {
                hex.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
            }
            return hex.append('\'').toString();
        }
        return "'" + value.toString().replace("'", "''") + "'";
    }

    /** Statements one by one. */
    static java.util.List<String> split(String sql) {
        java.util.List<String> statements = new java.util.ArrayList<>();
        int from = 0;
        for (int at = 0; at < sql.length(); ) {
            char c = sql.charAt(at);
            if (c == '\'' || c == '"' || c == '`') {
                at = after(sql, String.valueOf(c), at + 1);
            } else if (sql.startsWith("--", at)) {
                at = after(sql, "\n", at);
            } else if (sql.startsWith("/*", at)) {
                at = after(sql, "*/", at + 2);
            } else {
                at++;
                if (c == ';') {
                    statements.add(sql.substring(from, at - 1).trim());
                    from = at;
                }
            }
        }
        statements.add(sql.substring(from).trim());
        statements.removeIf(String::isEmpty);
        return statements;
    }
}
