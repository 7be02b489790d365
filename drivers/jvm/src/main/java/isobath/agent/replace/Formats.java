package isobath.agent.replace;

/** The patterns of Java's date formats, in the words of the protocol. */
final class Formats {
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
