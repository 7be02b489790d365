package isobath.agent.weave;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Every shape of bytecode that probes are put into; what it computes does not matter. */
@SuppressWarnings("unused")
final class Torture {
    private static final String[] WORDS = {"Foo", "bar", "12", "2020-01-02", "", "x7", "AaAa", "BBBB", "true", "Ab-1"};

    sealed interface Form permits Circle, Square {}

    record Circle(int radius) implements Form {}

    record Square(int side, String name) implements Form {}

    enum Color {
        RED,
        GREEN {
            @Override
            int weight() {
                return 7;
            }
        },
        BLUE;

        int weight() {
            return ordinal();
        }
    }

    private static String word(int n) {
        return WORDS[Math.floorMod(n, WORDS.length)];
    }

    static int integers(int n) {
        int sum = 0;
        for (int i = 0; i < n && i != 9; i++) {
            if (i > 3 || n <= 2 && n >= -1) {
                sum += i == 5 ? 10 : 1;
            }
            if (i % 2 == 0) {
                continue;
            }
            sum *= n < 0 ? -1 : 2;
        }
        do {
            sum--;
        } while (sum > 100);
        return sum;
    }

    static String wide(int n) {
        long a = (long) n << 40;
        double d = n / 2.0;
        float f = n == 3 ? Float.NaN : n;
        StringBuilder s = new StringBuilder();
        if (a > 5L << 40) s.append("a");
        if (a == 0L) s.append("b");
        if (d < 1.5) s.append("c");
        if (!(d >= 2)) s.append("d");
        if (f > 2) s.append("e");
        if (!(f <= 4)) s.append("f");
        boolean kept = d == 0.5;
        return s.toString() + kept + Long.compare(a, 3) + Double.compare(d, 1);
    }

    static String switches(int n) {
        String s;
        switch (n) {
            case 0:
            case 1:
                s = "few";
                break;
            case 5:
                s = "five";
                break;
            case 1000:
                s = "many";
                break;
            default:
                s = "other";
        }
        switch (word(n)) {
            case "AaAa":
                s += 1;
                break;
            case "BBBB":
                s += 2;
                break;
            case "Foo":
                s += 3;
                // falls through
            default:
                s += 4;
        }
        Color color = Color.values()[Math.floorMod(n, 3)];
        return s + switch (color) {
            case RED -> "r";
            case GREEN -> {
                int w = color.weight();
                yield "g" + w;
            }
            case BLUE -> "b";
        };
    }

    static Object references(int n) {
        Object o = n % 2 == 0 ? word(n) : (Object) Integer.valueOf(n);
        Object p = n > 3 ? o : null;
        if (p == null) {
            return "null";
        }
        if (o == p && o != word(1)) {
            if (o instanceof String s && s.length() > 2) {
                return s;
            }
        }
        return (Integer) o;
    }

    static Object strings(int n) {
        String s = word(n);
        String t = n > 8 ? null : word(n + 1);
        boolean a = s.equals(t);
        boolean b = s.equalsIgnoreCase("BAR") || s.startsWith("F") || s.endsWith("2") || s.contains("-");
        int at = s.indexOf('o') + s.indexOf("1") + t.length();
        return a + "" + b + at + s.isEmpty() + s.matches("[a-z]+\\d*") + s.contentEquals(new StringBuilder("bar"))
                + s.startsWith("o", 1) + s.regionMatches(true, 0, "foo", 0, 2) + s.lastIndexOf('a') + s.lastIndexOf("B") + s.split("-").length + s.split("\\.", 2)[0] + s.compareTo(t);
    }

    static Object parses(int n) {
        String s = word(n);
        switch (Math.floorMod(n, 7)) {
            case 0:
                return Integer.parseInt(s);
            case 1:
                return Long.valueOf(s);
            case 2:
                return Double.parseDouble(s) + Integer.parseInt(s, 16);
            case 3:
                return LocalDate.parse(s).isBefore(LocalDate.of(2021, 1, 1));
            case 4:
                return new BigDecimal(s).compareTo(BigDecimal.TEN) > 0;
            case 5:
                return UUID.fromString(s);
            default:
                return Boolean.parseBoolean(s) ? Color.valueOf("RED") : Color.valueOf(s);
        }
    }

    static Object collections(int n) {
        List<String> list = Arrays.asList(WORDS);
        Map<String, Integer> map = IntStream.range(0, 4).boxed().collect(Collectors.toMap(Torture::word, i -> i));
        Integer found = map.get(word(n));
        if (found != null && list.contains(word(n + 20)) && !map.isEmpty()) {
            return found + map.getOrDefault(word(n + 1), 9);
        }
        return map.containsKey("bar") || map.containsValue(n) ? list.containsAll(map.keySet()) : list.isEmpty();
    }

    static String handlers(int n) {
        StringBuilder s = new StringBuilder();
        try {
            s.append(10 / n);
            try {
                s.append(word(n).charAt(3));
            } finally {
                s.append("finally");
            }
        } catch (ArithmeticException | StringIndexOutOfBoundsException e) {
            s.append(e.getClass().getSimpleName());
        }
        synchronized (s) {
            if (n > 4) {
                s.append("!");
            }
        }
        return s.toString();
    }

    static String allocations(int n) {
        // A jump between `new` and its constructor: frames then name an object that is not initialized.
        StringBuilder s =
                new StringBuilder(
                        n > 3
                                ? word(n)
                                : new String(
                                        n == 0
                                                ? "zero"
                                                : "less"));
        return new Square(
                        n > 2 && word(n).isEmpty() ? n : -n,
                        s.toString())
                .toString();
    }

    static String lambdas(int n) {
        int[] seen = {0};
        Supplier<String> late = () -> n > 2 ? "big" + seen[0] : "small";
        Function<String, Integer> parse = Integer::parseInt;
        seen[0] = IntStream.range(0, Math.max(0, n)).filter(i -> i % 3 == 1).sum();
        return late.get() + (n == 2 ? parse.apply(word(n)) : "none");
    }

    static String methodReferences(int n) {
        Function<String, Integer> parse = Integer::parseInt;
        java.util.function.Predicate<String> bound = word(n)::equals;
        java.util.function.BiPredicate<String, String> free = String::startsWith;
        java.util.function.ToIntFunction<String> wide = Integer::valueOf;
        java.util.function.Predicate<Object> among = java.util.List.of("1", "foo", word(n))::contains;
        Map<String, String> map = Map.of("1", "one");
        Function<String, Object> get = map::get;
        boolean all = java.util.stream.Stream.of("bar", word(n)).allMatch(bound);
        return all + " " + free.test(word(n), "f") + among.test("1") + get.apply("1")
                + (n > 5 ? parse.apply("" + n) + wide.applyAsInt("-" + n) : bound.test("bar"));
    }

    static Object records(int n) {
        Form form = n % 2 == 0 ? new Circle(n) : new Square(n, word(n));
        if (form instanceof Circle circle && circle.radius() > 3) {
            return circle.equals(new Circle(4));
        }
        return form.hashCode() == form.hashCode() && form.equals(new Square(1, "bar"));
    }

    static Object patterns(int n) {
        Pattern pattern = Pattern.compile("(\\w)(\\d+)");
        var matcher = pattern.matcher(word(n));
        if (matcher.matches()) {
            return matcher.group(2);
        }
        return matcher.find() || Pattern.matches("[A-Z].*", word(n));
    }

    static int constructors(int n) {
        class Inner {
            final int kept;

            Inner(int m) {
                this(m > 3 ? "x" : "yy", m);
            }

            Inner(String s, int m) {
                super();
                kept = s.length() + (m < 0 ? n : m);
            }
        }
        return new Inner(n).kept;
    }

    private Torture() {}
}
