package texts;

import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Functions with many branches over texts. */
final class Functions {
    private static final Pattern COOKIE = Pattern.compile("([a-z]+)=([a-zA-Z0-9]*)");
    private static final DateTimeFormatter GERMAN = DateTimeFormatter.ofPattern("dd.MM.yyyy");

    private Functions() {}

    static String calculate(String operator, double first, double second) {
        switch (operator) {
            case "plus":
                return String.valueOf(first + second);
            case "minus":
                return String.valueOf(first - second);
            case "times":
                return String.valueOf(first * second);
            case "divide":
                if (second == 0) {
                    throw new IllegalArgumentException("division by zero");
                }
                return String.valueOf(first / second);
            case "sqrt":
                return first < 0 ? "imaginary" : String.valueOf(Math.sqrt(first));
            default:
                break;
        }
        if (operator.equals("pi")) {
            return String.valueOf(Math.PI);
        } else if (operator.equals("e")) {
            return String.valueOf(Math.E);
        }
        return "unknown";
    }

    static String suffix(String folder, String file) {
        int dot = file.lastIndexOf('.');
        if (dot < 0) {
            return "bare";
        }
        String suffix = file.substring(dot + 1);
        if (folder.equals("text")) {
            if (suffix.equals("txt")) {
                return "plain text";
            }
            if ("md".equals(suffix) || suffix.equalsIgnoreCase("adoc")) {
                return "marked text";
            }
        } else if (folder.startsWith("image")) {
            if (List.of("png", "jpg", "gif").contains(suffix)) {
                return file.contains("thumb") ? "thumbnail" : "image";
            }
        } else if (folder.endsWith("bin")) {
            if (suffix.isEmpty() || suffix.equals("exe") || suffix.equals("dll")) {
                return "program";
            }
        }
        return "other";
    }

    static String cookie(String name, String value, String site) {
        name = name.toLowerCase(Locale.ROOT);
        value = value.toLowerCase(Locale.ROOT);
        if ("userid".equals(name)) {
            return value.startsWith("user") ? "user" : "stranger";
        }
        if ("session".equals(name)) {
            if ("am".equals(value) && "abc.com".equals(site)) {
                return "morning";
            }
            return "session";
        }
        Matcher matcher = COOKIE.matcher(value);
        if (matcher.matches()) {
            return "pair of " + matcher.group(1);
        }
        return "crumbs";
    }

    static String date(String text) {
        LocalDate date;
        try {
            date = LocalDate.parse(text);
        } catch (DateTimeParseException otherwise) {
            try {
                date = LocalDate.parse(text, GERMAN);
            } catch (DateTimeParseException neither) {
                return "no date";
            }
        }
        if (date.isBefore(LocalDate.of(1970, 1, 1))) {
            return "before time";
        }
        if (date.equals(LocalDate.of(2000, 2, 29))) {
            return "leap";
        }
        return date.getMonthValue() == 12 && date.getDayOfMonth() >= 24 ? "holidays" : "workday";
    }

    static List<String> password(String name, String password) {
        List<String> complaints = new ArrayList<>();
        if (password.length() < 8) {
            complaints.add("short");
        }
        if (password.length() > 40) {
            complaints.add("long");
        }
        if (!password.matches(".*[0-9].*")) {
            complaints.add("no digit");
        }
        if (!password.matches(".*[A-Z].*")) {
            complaints.add("no capital");
        }
        if (!name.isEmpty() && password.contains(name)) {
            complaints.add("name in it");
        }
        if (password.equals(name)) {
            complaints.add("the name");
        }
        if (password.equalsIgnoreCase("Password1")) {
            complaints.add("the worst");
        }
        return complaints;
    }

    static String ordered(String a, String b, String c) {
        if (a.compareTo(b) < 0 && b.compareTo(c) < 0) {
            return "ascending";
        }
        if (a.compareTo(b) > 0 && b.compareTo(c) > 0) {
            return "descending";
        }
        return a.equals(b) && b.equals(c) ? "same" : "mixed";
    }

    /** A tiny notation: {@code key:number}, parts separated by commas. */
    static int sum(String text) {
        int sum = 0;
        for (String part : text.split(",")) {
            String[] pair = part.split(":");
            if (pair.length != 2) {
                throw new IllegalArgumentException("`" + part + "` is not key:number");
            }
            int number = Integer.parseInt(pair[1]);
            switch (pair[0]) {
                case "add":
                    sum += number;
                    break;
                case "sub":
                    sum -= number;
                    break;
                default:
                    throw new IllegalArgumentException("no such key");
            }
        }
        return sum;
    }
}
