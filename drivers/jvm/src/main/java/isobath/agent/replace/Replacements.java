package isobath.agent.replace;

import isobath.agent.replace.Replacement.Outcomes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Which methods are replaced by which: section 4 of seed 002, and what else is common in services. */
public final class Replacements {
    private static final String HERE = "isobath/agent/replace/";
    private static final String STRING = "Ljava/lang/String;";
    private static final String CHARS = "Ljava/lang/CharSequence;";
    private static final String OBJECT = "Ljava/lang/Object;";

    private static final String[] COLLECTIONS = {
        "Collection", "List", "Set", "SortedSet", "NavigableSet", "Queue", "Deque", "ArrayList", "LinkedList", "HashSet",
        "LinkedHashSet", "TreeSet", "ArrayDeque", "PriorityQueue", "Vector", "Stack", "AbstractCollection",
        "AbstractList", "AbstractSet", "EnumSet", "concurrent/CopyOnWriteArrayList", "concurrent/CopyOnWriteArraySet",
        "concurrent/ConcurrentLinkedQueue", "concurrent/ConcurrentSkipListSet", "concurrent/BlockingQueue",
    };
    private static final String[] MAPS = {
        "Map", "SortedMap", "NavigableMap", "HashMap", "LinkedHashMap", "TreeMap", "Hashtable", "AbstractMap", "EnumMap",
        "concurrent/ConcurrentMap", "concurrent/ConcurrentHashMap", "concurrent/ConcurrentSkipListMap",
    };

    private static final Map<String, Replacement> TABLE = new HashMap<>();
    private static final Set<String> OWNERS_EVERYWHERE = new HashSet<>();

    static {
        strings();
        objects();
        holdings();
        parsers();
        times();
        patterns();
        kotlin();
    }

    private Replacements() {}

    /** What is called in place of an instance method; null when nothing is. */
    public static Replacement of(String owner, String name, String descriptor) {
        Replacement found = TABLE.get(owner + '.' + name + descriptor);
        if (found == null && name.equals("equals") && descriptor.equals("(" + OBJECT + ")Z")) {
            return TABLE.get("*.equals");
        }
        return found;
    }

    /** What is called in place of a static method or before a constructor. */
    public static Replacement ofStatic(String owner, String name, String descriptor) {
        return TABLE.get(owner + ':' + name + descriptor);
    }

    /** Whether calls to a class, in libraries, may have to be replaced. */
    public static boolean isEverywhere(String owner) {
        return OWNERS_EVERYWHERE.contains(owner);
    }

    private static void strings() {
        String string = "java/lang/String";
        verdict(string, "equals", "(" + OBJECT + ")Z", "Strings");
        verdict(string, "contentEquals", "(" + CHARS + ")Z", "Strings");
        verdict(string, "contentEquals", "(Ljava/lang/StringBuffer;)Z", "Strings");
        verdict(string, "equalsIgnoreCase", "(" + STRING + ")Z", "Strings");
        verdict(string, "startsWith", "(" + STRING + ")Z", "Strings");
        verdict(string, "startsWith", "(" + STRING + "I)Z", "Strings");
        verdict(string, "endsWith", "(" + STRING + ")Z", "Strings");
        verdict(string, "contains", "(" + CHARS + ")Z", "Strings");
        verdict(string, "isEmpty", "()Z", "Strings");
        everywhere(string, "matches", "(" + STRING + ")Z", "Strings");
        verdict(string, "indexOf", "(" + STRING + ")I", "Strings");
        verdict(string, "indexOf", "(I)I", "Strings");
        verdict(string, "lastIndexOf", "(" + STRING + ")I", "Strings");
        verdict(string, "lastIndexOf", "(I)I", "Strings");
        for (String more : new String[] {"", "I"}) {
            String descriptor = "(" + STRING + more + ")[" + STRING;
            String made = "(L" + string + ";" + with(descriptor);
            TABLE.put(
                    string + ".split" + descriptor,
                    new Replacement(HERE + "Strings", "split", made, Outcomes.NONE, false, false));
        }
        verdict(string, "regionMatches", "(ZI" + STRING + "II)Z", "Strings");
    }

    private static void objects() {
        String both = "(" + OBJECT + OBJECT + "I)Z";
        Replacement equals = new Replacement(HERE + "Objects", "equals", both, Outcomes.VERDICT, false, false);
        TABLE.put("*.equals", equals);
        Replacement orNull = new Replacement(HERE + "Objects", "equalsOrNull", both, Outcomes.VERDICT, false, false);
        TABLE.put("java/util/Objects:equals(" + OBJECT + OBJECT + ")Z", orNull);
        TABLE.put("kotlin/jvm/internal/Intrinsics:areEqual(" + OBJECT + OBJECT + ")Z", orNull);
        verdict("java/util/Date", "before", "(Ljava/util/Date;)Z", "Objects");
        verdict("java/util/Date", "after", "(Ljava/util/Date;)Z", "Objects");
        String[][] moments = {
            {"LocalDate", "Ljava/time/chrono/ChronoLocalDate;", "LocalDate"},
            {"LocalTime", "Ljava/time/LocalTime;", "LocalTime"},
            {"LocalDateTime", "Ljava/time/chrono/ChronoLocalDateTime;", "LocalDateTime"},
            {"Instant", "Ljava/time/Instant;", "Instant"},
            {"OffsetDateTime", "Ljava/time/OffsetDateTime;", "OffsetDateTime"},
            {"ZonedDateTime", "Ljava/time/chrono/ChronoZonedDateTime;", "chrono/ChronoZonedDateTime"},
        };
        for (String[] moment : moments) {
            boolean hasEqual = !moment[0].equals("LocalTime") && !moment[0].equals("Instant");
            String[] names = hasEqual ? new String[] {"isBefore", "isAfter", "isEqual"} : new String[] {"isBefore", "isAfter"};
            for (String name : names) {
                String self = "(Ljava/time/" + moment[2] + ";" + moment[1] + "I)Z";
                Replacement made = new Replacement(HERE + "Objects", name, self, Outcomes.VERDICT, false, false);
                TABLE.put("java/time/" + moment[0] + '.' + name + "(" + moment[1] + ")Z", made);
            }
        }
    }

    private static void holdings() {
        for (String owner : COLLECTIONS) {
            for (String name : new String[] {"contains", "remove"}) {
                on(owner, "Collection", name, "(" + OBJECT + ")Z");
            }
            on(owner, "Collection", "containsAll", "(Ljava/util/Collection;)Z");
            on(owner, "Collection", "isEmpty", "()Z");
        }
        for (String owner : MAPS) {
            on(owner, "Map", "isEmpty", "()Z");
            on(owner, "Map", "containsKey", "(" + OBJECT + ")Z");
            on(owner, "Map", "containsValue", "(" + OBJECT + ")Z");
            on(owner, "Map", "get", "(" + OBJECT + ")" + OBJECT);
            on(owner, "Map", "getOrDefault", "(" + OBJECT + OBJECT + ")" + OBJECT);
        }
    }

    private static void on(String owner, String self, String name, String descriptor) {
        String made = "(Ljava/util/" + self + ";" + with(descriptor);
        TABLE.put(
                "java/util/" + owner + '.' + name + descriptor,
                new Replacement(HERE + "Holdings", name, made, Outcomes.VERDICT, false, false));
    }

    private static void parsers() {
        String[][] numbers = {
            {"Integer", "I", "Int"}, {"Long", "J", "Long"}, {"Short", "S", "Short"}, {"Byte", "B", "Byte"},
        };
        for (String[] number : numbers) {
            String owner = "java/lang/" + number[0];
            String boxed = "L" + owner + ";";
            parser(owner, "parse" + number[2], "(" + STRING + ")" + number[1], "Parsers", "parse" + number[2]);
            parser(owner, "parse" + number[2], "(" + STRING + "I)" + number[1], "Parsers", "parse" + number[2]);
            parser(owner, "valueOf", "(" + STRING + ")" + boxed, "Parsers", "valueOf" + number[0]);
            parser(owner, "decode", "(" + STRING + ")" + boxed, "Parsers", "decode" + number[0]);
        }
        parser("java/lang/Double", "parseDouble", "(" + STRING + ")D", "Parsers", "parseDouble");
        parser("java/lang/Double", "valueOf", "(" + STRING + ")Ljava/lang/Double;", "Parsers", "valueOfDouble");
        parser("java/lang/Float", "parseFloat", "(" + STRING + ")F", "Parsers", "parseFloat");
        parser("java/lang/Float", "valueOf", "(" + STRING + ")Ljava/lang/Float;", "Parsers", "valueOfFloat");
        parser("java/util/UUID", "fromString", "(" + STRING + ")Ljava/util/UUID;", "Parsers", "uuid");
        parser("java/net/URI", "create", "(" + STRING + ")Ljava/net/URI;", "Parsers", "uri");
        parser("java/lang/Enum", "valueOf", "(Ljava/lang/Class;" + STRING + ")Ljava/lang/Enum;", "Parsers", "valueOf");
        fixed("java/lang/Boolean", "parseBoolean", "(" + STRING + ")Z", "parseBoolean");
        fixed("java/lang/Boolean", "valueOf", "(" + STRING + ")Ljava/lang/Boolean;", "valueOfBoolean");
        constructor("java/math/BigDecimal", "decimal");
        constructor("java/math/BigInteger", "integer");
        constructor("java/net/URI", "newUri");
        constructor("java/net/URL", "newUrl");
    }

    private static void fixed(String owner, String name, String descriptor, String made) {
        String key = owner + ':' + name + descriptor;
        TABLE.put(
                key,
                new Replacement(HERE + "Parsers", made, "(" + with(descriptor), Outcomes.VERDICT, true, false));
        OWNERS_EVERYWHERE.add(owner);
    }

    private static void constructor(String owner, String made) {
        TABLE.put(
                owner + ":<init>(" + STRING + ")V",
                new Replacement(HERE + "Parsers", made, "(" + STRING + "I)V", Outcomes.SUCCESS, true, true));
        OWNERS_EVERYWHERE.add(owner);
    }

    private static void times() {
        String formatter = "Ljava/time/format/DateTimeFormatter;";
        String[] types = {"LocalDate", "LocalTime", "LocalDateTime", "OffsetDateTime", "ZonedDateTime", "YearMonth"};
        for (String type : types) {
            String owner = "java/time/" + type;
            parser(owner, "parse", "(" + CHARS + ")L" + owner + ";", "Times", "parse" + type);
            parser(owner, "parse", "(" + CHARS + formatter + ")L" + owner + ";", "Times", "parse" + type);
        }
        parser("java/time/Instant", "parse", "(" + CHARS + ")Ljava/time/Instant;", "Times", "parseInstant");
        for (String owner : new String[] {"java/text/DateFormat", "java/text/SimpleDateFormat"}) {
            TABLE.put(
                    owner + ".parse(" + STRING + ")Ljava/util/Date;",
                    new Replacement(
                            HERE + "Times",
                            "parse",
                            "(Ljava/text/DateFormat;" + STRING + "I)Ljava/util/Date;",
                            Outcomes.SUCCESS,
                            true,
                            false));
            OWNERS_EVERYWHERE.add(owner);
        }
        for (String more : new String[] {"", "Ljava/util/Locale;"}) {
            String descriptor = "(" + STRING + more + ")" + formatter;
            TABLE.put(
                    "java/time/format/DateTimeFormatter:ofPattern" + descriptor,
                    new Replacement(HERE + "Times", "ofPattern", "(" + with(descriptor), Outcomes.NONE, true, false));
        }
        OWNERS_EVERYWHERE.add("java/time/format/DateTimeFormatter");
    }

    private static void patterns() {
        String pattern = "java/util/regex/Pattern";
        String matcher = "java/util/regex/Matcher";
        TABLE.put(
                pattern + ".matcher(" + CHARS + ")L" + matcher + ";",
                new Replacement(
                        HERE + "Patterns",
                        "matcher",
                        "(L" + pattern + ";" + CHARS + "I)L" + matcher + ";",
                        Outcomes.NONE,
                        true,
                        false));
        TABLE.put(
                pattern + ":matches(" + STRING + CHARS + ")Z",
                new Replacement(
                        HERE + "Patterns", "matches", "(" + STRING + CHARS + "I)Z", Outcomes.VERDICT, true, false));
        OWNERS_EVERYWHERE.add(pattern);
        verdict(matcher, "matches", "()Z", "Patterns");
        verdict(matcher, "find", "()Z", "Patterns");
        verdict(matcher, "lookingAt", "()Z", "Patterns");
    }

    private static void kotlin() {
        String texts = "kotlin/text/StringsKt";
        for (String name : new String[] {"startsWith", "endsWith", "equals"}) {
            kotlin(texts, name, "(" + STRING + STRING);
        }
        kotlin(texts, "contains", "(" + CHARS + CHARS);
        String[][] parsers = {{"toIntOrNull", "Integer"}, {"toLongOrNull", "Long"}};
        for (String[] parser : parsers) {
            String descriptor = "(" + STRING + ")Ljava/lang/" + parser[1] + ";";
            TABLE.put(
                    texts + ':' + parser[0] + descriptor,
                    new Replacement(
                            HERE + "KotlinTexts", parser[0], "(" + with(descriptor), Outcomes.SUCCESS, false, false));
        }
    }

    /** A function whose last argument, whether case matters, may be left out. */
    private static void kotlin(String owner, String name, String begin) {
        String[][] forms = {{"", "Z)Z"}, {"$default", "ZI" + OBJECT + ")Z"}};
        for (String[] form : forms) {
            String descriptor = begin + form[1];
            TABLE.put(
                    owner + ':' + name + form[0] + descriptor,
                    new Replacement(HERE + "KotlinTexts", name, "(" + with(descriptor), Outcomes.VERDICT, false, false));
        }
    }

    private static void verdict(String owner, String name, String descriptor, String made) {
        add(owner, name, descriptor, made, false);
    }

    private static void everywhere(String owner, String name, String descriptor, String made) {
        add(owner, name, descriptor, made, true);
        OWNERS_EVERYWHERE.add(owner);
    }

    private static void add(String owner, String name, String descriptor, String made, boolean everywhere) {
        String own = "(L" + owner + ";" + with(descriptor);
        TABLE.put(
                owner + '.' + name + descriptor,
                new Replacement(HERE + made, name, own, Outcomes.VERDICT, everywhere, false));
    }

    private static void parser(String owner, String name, String descriptor, String type, String made) {
        TABLE.put(
                owner + ':' + name + descriptor,
                new Replacement(HERE + type, made, "(" + with(descriptor), Outcomes.SUCCESS, true, false));
        OWNERS_EVERYWHERE.add(owner);
    }

    /** The descriptor without its opening parenthesis, with one more integer. */
    private static String with(String descriptor) {
        int end = descriptor.indexOf(')');
        return descriptor.substring(1, end) + "I" + descriptor.substring(end);
    }

    /** All replacements by what they replace, for tests. */
    static Map<String, Replacement> all() {
        return TABLE;
    }
}
