package isobath.agent.replace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import isobath.agent.Recordings;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.text.SimpleDateFormat;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.Type;

/** Every replaced method, beside the one that it replaces, on many arguments: same value, same exception, same message. */
class DifferenceTest {
    private static final String[] TEXTS = {
        null, "", "a", "A", "abc", "ABC", "b", "12", "-7", "0x1F", "1e400", "3.5", "99999999999999999999", "true", "TRUE", "2020-02-30",
        "2020-02-29", "10:11:12", "2020-02-29T10:11:12", "2020-02-29T10:11:12Z", "2020-02", "29.02.2020", "[a-c]+", "(", "DAYS",
        "7f1dbaf2-1c77-4a0e-a0ba-2f7f8ab4b3aa", "http://localhost/", "not a url", "^", "\u00e4",
    };

    @BeforeEach
    void clear() {
        Recordings.fresh();
    }

    @Test
    void everyReplacedMethodDoesWhatTheOriginalDoes() throws Exception {
        int compared = 0;
        for (Map.Entry<String, Replacement> entry : new TreeMap<>(Replacements.all()).entrySet()) {
            String key = entry.getKey();
            int open = key.indexOf('(');
            if (open < 0) {
                continue;
            }
            boolean isStatic = key.lastIndexOf(':', open) >= 0;
            int dot = key.lastIndexOf(isStatic ? ':' : '.', open);
            Class<?> owner = Class.forName(key.substring(0, dot).replace('/', '.'));
            String name = key.substring(dot + 1, open);
            Class<?>[] parameters = classes(Type.getArgumentTypes(key.substring(open)));
            Method made = made(entry.getValue());
            Class<?>[] sampled = parameters.clone();
            if (name.endsWith("$default")) {
                // The last one is always null.
                sampled[sampled.length - 1] = Void.class;
            }
            for (List<Supplier<Object>> arguments : combinations(isStatic ? null : owner, sampled)) {
                Object[] plain = values(arguments);
                Object[] ours = values(arguments);
                String expected = name.equals("<init>") ? constructed(owner, parameters, plain) : called(owner, name, parameters, isStatic, plain);
                String what = key + Arrays.toString(plain);
                if (expected == null) {
                    continue;
                }
                Object[] all = Arrays.copyOf(ours, ours.length + 1);
                all[ours.length] = 0;
                String found = outcome(() -> made.invoke(null, all));
                if (entry.getValue().before) {
                    // It only looks; the constructor itself is called afterwards.
                    assertEquals("null", found, what);
                } else {
                    assertEquals(expected, found, what);
                }
                compared++;
            }
        }
        assertTrue(compared > 10_000, "only " + compared);
    }

    @Test
    void equalsOfAnythingSaysWhatItSaysByItself() {
        List<Object> all = new ArrayList<>(Arrays.asList(TEXTS));
        all.addAll(
                Arrays.asList(
                        7, -7, 7L, (short) 7, (byte) 7, 'a', 'b', true, false, 0.0, -0.0, Double.NaN, 7.5f, Float.NaN,
                        new java.math.BigDecimal("1.0"), new java.math.BigDecimal("1.00"), java.math.BigInteger.TEN,
                        java.util.UUID.fromString("7f1dbaf2-1c77-4a0e-a0ba-2f7f8ab4b3aa"), java.net.URI.create("http://localhost/"),
                        TimeUnit.DAYS, TimeUnit.HOURS, java.util.Optional.of("a"), new Object(), new int[] {1}));
        others().forEach(one -> all.add(one.get()));
        int equal = 0;
        for (Object self : all) {
            for (Object other : all) {
                String what = self + " and " + other;
                assertEquals(java.util.Objects.equals(self, other), Objects.equalsOrNull(self, other, 0), what);
                if (self != null) {
                    assertEquals(self.equals(other), Objects.equals(self, other, 0), what);
                    equal += self.equals(other) ? 1 : 0;
                }
            }
        }
        assertTrue(equal >= all.size() - 1);
    }

    private interface Call {
        Object run() throws Exception;
    }

    private static String outcome(Call call) throws Exception {
        try {
            Object value = call.run();
            return value instanceof Object[] ? Arrays.toString((Object[]) value) : value instanceof Matcher ? value.toString() : String.valueOf(value);
        } catch (InvocationTargetException thrown) {
            Throwable cause = thrown.getCause();
            // What the JVM itself, or Kotlin, says of null names the variables of whoever called.
            String message = cause.getMessage();
            boolean isHelp =
                    cause instanceof NullPointerException && (message == null || message.matches("(Cannot|Parameter) .*"));
            return cause.getClass().getName() + (isHelp ? "" : ": " + message);
        }
    }

    private static String constructed(Class<?> owner, Class<?>[] parameters, Object[] arguments) throws Exception {
        Constructor<?> constructor = owner.getConstructor(parameters);
        return outcome(() -> constructor.newInstance(arguments));
    }

    private static String called(Class<?> owner, String name, Class<?>[] parameters, boolean isStatic, Object[] arguments) throws Exception {
        Method original;
        try {
            original = owner.getMethod(name, parameters);
            // Kotlin's are inherited from classes that are not public.
            if (owner.getName().startsWith("kotlin.")) {
                original.setAccessible(true);
            }
        } catch (NoSuchMethodException inherited) {
            return null;
        }
        if (isStatic) {
            return outcome(() -> original.invoke(null, arguments));
        }
        if (arguments[0] == null) {
            return NullPointerException.class.getName();
        }
        Object[] rest = Arrays.copyOfRange(arguments, 1, arguments.length);
        return outcome(() -> original.invoke(arguments[0], rest));
    }

    private static Method made(Replacement made) throws Exception {
        for (Method method : Class.forName(made.owner.replace('/', '.')).getMethods()) {
            if (method.getName().equals(made.name) && Type.getMethodDescriptor(method).equals(made.descriptor)) {
                return method;
            }
        }
        throw new NoSuchMethodException(made.name);
    }

    private static Object[] values(List<Supplier<Object>> suppliers) {
        return suppliers.stream().map(Supplier::get).toArray();
    }

    private static Class<?>[] classes(Type[] types) throws Exception {
        Class<?>[] classes = new Class<?>[types.length];
        for (int at = 0; at < types.length; at++) {
            switch (types[at].getSort()) {
                case Type.INT:
                    classes[at] = int.class;
                    break;
                case Type.BOOLEAN:
                    classes[at] = boolean.class;
                    break;
                default:
                    classes[at] = Class.forName(types[at].getClassName());
            }
        }
        return classes;
    }

    private static List<List<Supplier<Object>>> combinations(Class<?> self, Class<?>[] parameters) {
        List<List<Supplier<Object>>> all = new ArrayList<>();
        all.add(new ArrayList<>());
        List<Class<?>> types = new ArrayList<>(Arrays.asList(parameters));
        if (self != null) {
            types.add(0, self);
        }
        for (Class<?> type : types) {
            List<List<Supplier<Object>>> longer = new ArrayList<>();
            for (List<Supplier<Object>> begun : all) {
                for (Supplier<Object> one : samples(type)) {
                    List<Supplier<Object>> more = new ArrayList<>(begun);
                    more.add(one);
                    longer.add(more);
                }
            }
            all = longer;
        }
        return all;
    }

    private static List<Supplier<Object>> samples(Class<?> type) {
        List<Supplier<Object>> samples = new ArrayList<>();
        if (type == int.class) {
            for (int number : new int[] {-1, 0, 1, 2, 10, 16, 'b'}) {
                samples.add(() -> number);
            }
            return samples;
        }
        if (type == boolean.class) {
            samples.add(() -> true);
            samples.add(() -> false);
            return samples;
        }
        if (type == String.class || type == CharSequence.class) {
            for (String text : TEXTS) {
                samples.add(() -> text);
            }
            return samples;
        }
        samples.add(() -> null);
        for (Supplier<Object> one : others()) {
            if (type.isInstance(one.get())) {
                samples.add(one);
            }
        }
        return samples;
    }

    private static List<Supplier<Object>> others() {
        List<Supplier<Object>> all = new ArrayList<>();
        all.add(() -> "abc");
        all.add(() -> 7);
        all.add(() -> new StringBuffer("abc"));
        all.add(() -> new Date(7));
        all.add(() -> new Date(8));
        all.add(() -> LocalDate.of(2020, 2, 29));
        all.add(() -> LocalDate.of(2021, 1, 1));
        all.add(() -> LocalTime.of(10, 11));
        all.add(() -> LocalDateTime.of(2020, 2, 29, 10, 11));
        all.add(() -> Instant.ofEpochSecond(9));
        all.add(() -> OffsetDateTime.of(2020, 2, 29, 1, 2, 3, 4, ZoneOffset.UTC));
        all.add(() -> OffsetDateTime.of(2020, 2, 29, 2, 2, 3, 4, ZoneOffset.ofHours(1)));
        all.add(() -> ZonedDateTime.of(2020, 2, 29, 1, 2, 3, 4, ZoneOffset.UTC));
        all.add(() -> ZonedDateTime.of(2020, 2, 29, 1, 2, 4, 4, java.time.ZoneId.of("Asia/Tokyo")));
        all.add(() -> DateTimeFormatter.ofPattern("dd.MM.yyyy"));
        all.add(() -> DateTimeFormatter.ISO_LOCAL_DATE);
        all.add(() -> Locale.ROOT);
        all.add(() -> new SimpleDateFormat("dd.MM.yyyy", Locale.ROOT));
        all.add(() -> Pattern.compile("[a-c]+"));
        all.add(() -> Pattern.compile("[a-c]+").matcher("xabcx"));
        all.add(() -> Pattern.compile("[a-c]+").matcher("abc"));
        all.add(() -> TimeUnit.class);
        all.add(() -> String.class);
        for (Supplier<Collection<Object>> empty : collections()) {
            all.add(empty::get);
            all.add(
                    () -> {
                        Collection<Object> full = empty.get();
                        full.add("abc");
                        full.add("b");
                        return full;
                    });
        }
        for (Supplier<Map<Object, Object>> empty : maps()) {
            all.add(empty::get);
            all.add(
                    () -> {
                        Map<Object, Object> full = empty.get();
                        full.put("abc", "b");
                        return full;
                    });
        }
        all.add(() -> new EnumMap<TimeUnit, String>(TimeUnit.class));
        all.add(() -> java.util.EnumSet.of(TimeUnit.DAYS));
        return all;
    }

    private static List<Supplier<Collection<Object>>> collections() {
        return Arrays.asList(
                ArrayList::new, java.util.LinkedList::new, java.util.HashSet::new, java.util.LinkedHashSet::new, TreeSet::new,
                java.util.ArrayDeque::new, java.util.PriorityQueue::new, java.util.Vector::new, java.util.Stack::new,
                java.util.concurrent.CopyOnWriteArrayList::new, java.util.concurrent.CopyOnWriteArraySet::new,
                java.util.concurrent.ConcurrentLinkedQueue::new, java.util.concurrent.ConcurrentSkipListSet::new,
                java.util.concurrent.LinkedBlockingQueue::new);
    }

    private static List<Supplier<Map<Object, Object>>> maps() {
        return Arrays.asList(
                java.util.HashMap::new, java.util.LinkedHashMap::new, TreeMap::new, java.util.Hashtable::new,
                java.util.concurrent.ConcurrentHashMap::new, java.util.concurrent.ConcurrentSkipListMap::new);
    }
}
