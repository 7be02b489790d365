package isobath.agent.replace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import isobath.agent.Recordings;
import java.lang.reflect.Method;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.Type;

class ReplacementsTest {
    @BeforeEach
    void clear() {
        Recordings.fresh();
    }

    @Test
    void everyReplacementIsThereAndReturnsWhatTheOriginalDoes() throws Exception {
        for (Map.Entry<String, Replacement> entry : Replacements.all().entrySet()) {
            Replacement made = entry.getValue();
            Class<?> owner = Class.forName(made.owner.replace('/', '.'));
            boolean found = false;
            for (Method method : owner.getMethods()) {
                found |= method.getName().equals(made.name) && Type.getMethodDescriptor(method).equals(made.descriptor);
            }
            assertTrue(found, entry.getKey() + " becomes " + made.owner + "." + made.name + made.descriptor);
            if (!made.before && entry.getKey().contains(")")) {
                String original = entry.getKey().substring(entry.getKey().indexOf('('));
                assertEquals(Type.getReturnType(original), Type.getReturnType(made.descriptor), entry.getKey());
            }
        }
    }

    @Test
    void anyTextIsNearerToAnotherThanNull() {
        Objects.equals("crate", null, 0);
        Objects.equals("crate", "something else that is long", 2);
        Objects.equalsOrNull(null, 7, 4);
        Objects.equalsOrNull(900, 7, 6);
        KotlinTexts.equals(null, "crate", false, 8);
        Strings.equalsIgnoreCase("crate", null, 10);
        assertTrue(Recordings.score(0) > 0);
        assertTrue(Recordings.score(2) > Recordings.score(0));
        assertTrue(Recordings.score(6) > Recordings.score(4));
        assertEquals(Recordings.score(0), Recordings.score(8));
        assertEquals(Recordings.score(0), Recordings.score(10));
        Strings.equals("crate", null, 12);
        assertEquals(Recordings.score(0), Recordings.score(12));
    }

    @Test
    void everythingThatServicesAreKnownToAskIsReplaced() {
        String string = "Ljava/lang/String;";
        String object = "(Ljava/lang/Object;)Z";
        String[][] instance = {
            {"java/lang/String", "equals", object},
            {"java/lang/String", "equalsIgnoreCase", "(" + string + ")Z"},
            {"java/lang/String", "contentEquals", "(Ljava/lang/CharSequence;)Z"},
            {"java/lang/String", "startsWith", "(" + string + ")Z"},
            {"java/lang/String", "endsWith", "(" + string + ")Z"},
            {"java/lang/String", "contains", "(Ljava/lang/CharSequence;)Z"},
            {"java/lang/String", "matches", "(" + string + ")Z"},
            {"java/lang/String", "isEmpty", "()Z"},
            {"java/util/Collection", "contains", object},
            {"java/util/Collection", "containsAll", "(Ljava/util/Collection;)Z"},
            {"java/util/Collection", "isEmpty", "()Z"},
            {"java/util/Map", "containsKey", object},
            {"java/util/Date", "before", "(Ljava/util/Date;)Z"},
            {"java/util/Date", "after", "(Ljava/util/Date;)Z"},
            {"java/time/LocalDate", "isBefore", "(Ljava/time/chrono/ChronoLocalDate;)Z"},
            {"java/time/LocalTime", "isAfter", "(Ljava/time/LocalTime;)Z"},
            {"java/time/LocalDateTime", "isEqual", "(Ljava/time/chrono/ChronoLocalDateTime;)Z"},
            {"java/time/Instant", "isBefore", "(Ljava/time/Instant;)Z"},
            {"java/time/OffsetDateTime", "isEqual", "(Ljava/time/OffsetDateTime;)Z"},
            {"java/time/ZonedDateTime", "isEqual", "(Ljava/time/chrono/ChronoZonedDateTime;)Z"},
            {"java/text/DateFormat", "parse", "(" + string + ")Ljava/util/Date;"},
            {"java/text/SimpleDateFormat", "parse", "(" + string + ")Ljava/util/Date;"},
            {"java/util/regex/Pattern", "matcher", "(Ljava/lang/CharSequence;)Ljava/util/regex/Matcher;"},
            {"java/util/regex/Matcher", "matches", "()Z"},
            {"java/util/regex/Matcher", "find", "()Z"},
        };
        for (String[] method : instance) {
            assertTrue(Replacements.of(method[0], method[1], method[2]) != null, String.join(" ", method));
        }
        for (String boxed : new String[] {"Integer", "Long", "Short", "Byte", "Character", "Boolean", "Float", "Double"}) {
            assertTrue(Replacements.of("java/lang/" + boxed, "equals", object) != null, boxed);
        }
        for (String type : new String[] {"java/util/Date", "java/util/UUID", "java/math/BigDecimal", "java/math/BigInteger", "java/net/URI"}) {
            assertTrue(Replacements.of(type, "equals", object) != null, type);
        }
        String parse = "(Ljava/lang/CharSequence;)L";
        String[][] statics = {
            {"java/util/Objects", "equals", "(Ljava/lang/Object;Ljava/lang/Object;)Z"},
            {"java/util/regex/Pattern", "matches", "(" + string + "Ljava/lang/CharSequence;)Z"},
            {"java/lang/Boolean", "parseBoolean", "(" + string + ")Z"},
            {"java/lang/Integer", "parseInt", "(" + string + ")I"},
            {"java/lang/Integer", "valueOf", "(" + string + ")Ljava/lang/Integer;"},
            {"java/lang/Long", "parseLong", "(" + string + ")J"},
            {"java/lang/Float", "parseFloat", "(" + string + ")F"},
            {"java/lang/Double", "parseDouble", "(" + string + ")D"},
            {"java/util/UUID", "fromString", "(" + string + ")Ljava/util/UUID;"},
            {"java/lang/Enum", "valueOf", "(Ljava/lang/Class;" + string + ")Ljava/lang/Enum;"},
            {"java/net/URI", "create", "(" + string + ")Ljava/net/URI;"},
            {"java/net/URI", "<init>", "(" + string + ")V"},
            {"java/net/URL", "<init>", "(" + string + ")V"},
            {"java/math/BigDecimal", "<init>", "(" + string + ")V"},
            {"java/math/BigInteger", "<init>", "(" + string + ")V"},
            {"java/time/LocalDate", "parse", parse + "java/time/LocalDate;"},
            {"java/time/LocalTime", "parse", parse + "java/time/LocalTime;"},
            {"java/time/LocalDateTime", "parse", parse + "java/time/LocalDateTime;"},
            {"java/time/Instant", "parse", parse + "java/time/Instant;"},
            {"java/time/OffsetDateTime", "parse", parse + "java/time/OffsetDateTime;"},
            {"java/time/ZonedDateTime", "parse", parse + "java/time/ZonedDateTime;"},
        };
        for (String[] method : statics) {
            assertTrue(Replacements.ofStatic(method[0], method[1], method[2]) != null, String.join(" ", method));
        }
    }

    @Test
    void theNearerTextHasTheBetterScore() {
        Strings.equals("fox", "foo", 0);
        double far = Recordings.score(0);
        Strings.equals("fop", "foo", 0);
        assertTrue(far > 0 && Recordings.score(0) > far);
        Strings.equals("foo", "foo", 0);
        assertEquals(1, Recordings.score(0));
        assertEquals(1, Recordings.score(1));
    }

    @Test
    void whatTheOriginalThrowsIsThrown() {
        assertThrows(NullPointerException.class, () -> Strings.equals(null, "x", 0));
        assertThrows(NullPointerException.class, () -> Strings.startsWith("x", null, 0));
        assertThrows(NumberFormatException.class, () -> Parsers.parseInt("12x", 2));
        assertThrows(NumberFormatException.class, () -> Parsers.parseInt(null, 2));
        assertThrows(DateTimeParseException.class, () -> Times.parseLocalDate("2020-13-01", 4));
        assertEquals(1, Recordings.score(3));
        assertEquals(1, Recordings.score(5));
        assertEquals(LocalDate.of(2020, 1, 2), Times.parseLocalDate("2020-01-02", 4));
        assertEquals(1, Recordings.score(4));
    }

    @Test
    void collectionsPointAtTheirNearestElement() {
        Holdings.contains(Arrays.asList("Foo", "Bar"), "Fop", 0);
        double near = Recordings.score(0);
        Recordings.fresh();
        Holdings.contains(Arrays.asList("Foo", "Bar"), "zzzzzz", 0);
        assertTrue(near > Recordings.score(0) && Recordings.score(0) > 0);
        assertTrue(Holdings.contains(Collections.singleton(7), 7, 2));
        assertEquals(1, Recordings.score(2));
        Map<String, Integer> map = new HashMap<>();
        map.put("a", 1);
        assertEquals(1, Holdings.get(map, "a", 4));
        assertEquals(null, Holdings.get(map, "b", 4));
        assertEquals(1, Recordings.score(5));
    }

    @Test
    void libraryCallsHaveNoTargets() {
        assertEquals(5, Parsers.parseInt("5", -1));
        assertTrue(Strings.matches("ab", "[ab]+", -1));
        assertEquals(0, Recordings.count());
    }

    @Test
    void formatsOfJavaBecomeThoseOfTheProtocol() {
        assertEquals("%d.%m.%Y", Formats.strftime("dd.MM.yyyy"));
        assertEquals("%Y-%m-%dT%H:%M:%S", Formats.strftime("yyyy-MM-dd'T'HH:mm:ss"));
        assertEquals(null, Formats.strftime("dd MMM yyyy"));
        assertEquals("##.##.####", Formats.shape("dd.MM.yyyy"));
    }
}
