package isobath.agent;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** What the core, by the environment, and the user, by the agent's arguments, want. */
public final class Settings {
    /** Host and port of the core; null when there is none. */
    public final String address;
    /** Shows the core that it is us. */
    public final String token;
    /** Classes to watch besides, or instead of, those that are found; patterns with {@code *}. */
    public final List<Pattern> include;
    /** Classes to leave as they are. */
    public final List<Pattern> exclude;
    /** Whether replaced methods have distances. */
    public final boolean methods;

    /** The port at which test suites bring rows, or 0. */
    public final int door;
    /** Shows that a caller at that port is a test suite. */
    public final String doorToken;

    private Settings(Map<String, String> environment, String arguments) {
        address = environment.get("ISOBATH_ADDRESS");
        token = environment.getOrDefault("ISOBATH_TOKEN", "");
        methods = !"off".equals(environment.get("ISOBATH_METHODS"));
        String[] place = environment.getOrDefault("ISOBATH_DOOR", "0").split("/", 2);
        door = Integer.parseInt(place[0]);
        doorToken = place.length == 2 ? place[1] : "";
        include = patterns(argument(arguments, "include"), environment.get("ISOBATH_INCLUDE"));
        exclude = patterns(argument(arguments, "exclude"), environment.get("ISOBATH_EXCLUDE"));
    }

    /** Reads them; arguments are {@code include=a.b.*:c.*,exclude=d.*}. */
    public static Settings of(Map<String, String> environment, String arguments) {
        return new Settings(environment, arguments == null ? "" : arguments);
    }

    /** Whether a class, by its name with dots, is to be left as it is. */
    public boolean excludes(String name) {
        return any(exclude, name);
    }

    /** Whether a class is asked for by name. */
    public boolean includes(String name) {
        return any(include, name);
    }

    private static boolean any(List<Pattern> patterns, String name) {
        for (Pattern pattern : patterns) {
            if (pattern.matcher(name).matches()) {
                return true;
            }
        }
        return false;
    }

    private static String argument(String arguments, String name) {
        for (String argument : arguments.split(",")) {
            if (argument.startsWith(name + "=")) {
                return argument.substring(name.length() + 1).replace(':', ',');
            }
        }
        return null;
    }

    private static List<Pattern> patterns(String... lists) {
        List<Pattern> patterns = new ArrayList<>();
        for (String list : lists) {
            if (list == null) {
                continue;
            }
            for (String word : list.split(",")) {
                if (!word.trim().isEmpty()) {
                    patterns.add(pattern(word.trim()));
                }
            }
        }
        return Collections.unmodifiableList(patterns);
    }

    /** A name also stands for all that is in it. */
    private static Pattern pattern(String word) {
        StringBuilder pattern = new StringBuilder();
        String between = "";
        for (String part : word.split("\\*", -1)) {
            pattern.append(between).append(part.isEmpty() ? "" : Pattern.quote(part));
            between = ".*";
        }
        return Pattern.compile(pattern + "([.$].*)?");
    }
}
