package isobath.agent.replace;

/** The patterns of Java's date formats, in the words of the protocol. */
public final class Formats {
    private Formats() {}

    /** As for {@code strftime}; null where something has no counterpart. */
    static String strftime(String pattern) {
        StringBuilder format = new StringBuilder();
        for (int at = 0; at < pattern.length(); ) {
            char c = pattern.charAt(at);
            if (c == '\'') {
                int end = pattern.indexOf('\'', at + 1);
                if (end < 0) {
                    return null;
                }
                format.append(end == at + 1 ? "'" : pattern.substring(at + 1, end).replace("%", "%%"));
                at = end + 1;
                continue;
            }
            int end = at;
            while (end < pattern.length() && pattern.charAt(end) == c) {
                end++;
            }
            if (Character.isLetter(c)) {
                String directive = directive(c, end - at);
                if (directive == null) {
                    return null;
                }
                format.append(directive);
            } else {
                format.append(c == '%' ? "%%" : pattern.substring(at, end));
            }
            at = end;
        }
        return format.toString();
    }

    private static String directive(char letter, int count) {
        switch (letter) {
            case 'y':
            case 'u':
                return count == 2 ? "%y" : "%Y";
            case 'M':
            case 'L':
                return count <= 2 ? "%m" : null;
            case 'd':
                return "%d";
            case 'H':
                return "%H";
            case 'm':
                return "%M";
            case 's':
                return "%S";
            case 'Z':
                return "%z";
            default:
                return null;
        }
    }

    /** As a regular expression of texts that can be read; null where something has no counterpart. */
    public static String expression(String pattern) {
        StringBuilder expression = new StringBuilder("^");
        for (int at = 0; at < pattern.length(); ) {
            char c = pattern.charAt(at);
            if (c == '\'') {
                int close = pattern.indexOf('\'', at + 1);
                if (close < 0) {
                    return null;
                }
                literal(close == at + 1 ? "'" : pattern.substring(at + 1, close), expression);
                at = close + 1;
                continue;
            }
            int end = at;
            while (end < pattern.length() && pattern.charAt(end) == c) {
                end++;
            }
            if (Character.isLetter(c)) {
                String digits = digits(c, end - at);
                if (digits == null) {
                    return null;
                }
                expression.append(digits);
            } else {
                literal(pattern.substring(at, end), expression);
            }
            at = end;
        }
        return expression.append('$').toString();
    }

    private static void literal(String text, StringBuilder expression) {
        for (char c : text.toCharArray()) {
            boolean isPlain = Character.isLetterOrDigit(c) || c == ' ';
            expression.append(isPlain ? "" : "\\").append(c);
        }
    }

    private static String digits(char letter, int count) {
        switch (letter) {
            case 'y':
            case 'u':
                return count == 2 ? "[0-9]{2}" : "(19|20)[0-9]{2}";
            case 'M':
            case 'L':
                return count <= 2 ? "(0[1-9]|1[0-2])" : null;
            case 'd':
                return "(0[1-9]|1[0-9]|2[0-8])";
            case 'H':
                return "([01][0-9]|2[0-3])";
            case 'm':
            case 's':
                return "[0-5][0-9]";
            case 'S':
                return "[0-9]{" + count + "}";
            case 'X':
                return "Z";
            case 'Z':
                return "\\+0000";
            default:
                return null;
        }
    }

    /** As a shape to measure a text by. */
    static String shape(String pattern) {
        StringBuilder shape = new StringBuilder();
        boolean quoted = false;
        for (char c : pattern.toCharArray()) {
            if (c == '\'') {
                quoted = !quoted;
            } else {
                shape.append(!quoted && Character.isLetter(c) ? '#' : c);
            }
        }
        return shape.toString();
    }
}
