package isobath.agent.replace;

import isobath.agent.measure.Shape;
import isobath.agent.probe.Probe;
import isobath.agent.track.Role;
import isobath.agent.track.Track;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;

/** Texts that are parsed: the first target is that it succeeds, the next that it throws. */
public final class Parsers {
    private Parsers() {}

    /** A text is about to be parsed as the type of this name in the protocol. */
    static void seen(CharSequence text, String type, int target) {
        if (text instanceof String && Track.tracked((String) text)) {
            Track.used((String) text, Role.PARSED, type, target);
        }
    }

    static void refused(CharSequence text, String shape, int target) {
        double distance = -1;
        if (text != null && Probe.wants(true, target)) {
            distance = shape.isEmpty() ? -1 : distance(text, shape);
        }
        Probe.outcome(false, distance, target);
    }

    private static double distance(CharSequence text, String shape) {
        double near = shape.equals("int")
                ? Shape.number(text, false)
                : shape.equals("float") ? Shape.number(text, true) : Shape.distance(text, shape);
        return near > 0 ? near : Shape.outOfRange(text);
    }

    private interface Parser<T> {
        T parse();
    }

    /** Parses a text as a type of the protocol, whose form a refused text is compared with. */
    private static <T> T parsed(String text, String type, String shape, int target, Parser<T> parser) {
        seen(text, type, target);
        T value;
        try {
            value = parser.parse();
        } catch (RuntimeException refusal) {
            refused(text, shape, target);
            throw refusal;
        }
        Probe.outcome(true, -1, target);
        return value;
    }

    /** {@code Integer.parseInt(String)}. */
    public static int parseInt(String text, int target) {
        return parsed(text, "i32", "int", target, () -> Integer.parseInt(text));
    }

    /** {@code Integer.parseInt(String, int)}. */
    public static int parseInt(String text, int radix, int target) {
        return parsed(text, "i32", "int", target, () -> Integer.parseInt(text, radix));
    }

    /** {@code Integer.valueOf(String)}. */
    public static Integer valueOfInteger(String text, int target) {
        return parsed(text, "i32", "int", target, () -> Integer.valueOf(text));
    }

    /** {@code Integer.decode}. */
    public static Integer decodeInteger(String text, int target) {
        return parsed(text, "i32", "int", target, () -> Integer.decode(text));
    }

    /** {@code Long.parseLong(String)}. */
    public static long parseLong(String text, int target) {
        return parsed(text, "i64", "int", target, () -> Long.parseLong(text));
    }

    /** {@code Long.parseLong(String, int)}. */
    public static long parseLong(String text, int radix, int target) {
        return parsed(text, "i64", "int", target, () -> Long.parseLong(text, radix));
    }

    /** {@code Long.valueOf(String)}. */
    public static Long valueOfLong(String text, int target) {
        return parsed(text, "i64", "int", target, () -> Long.valueOf(text));
    }

    /** {@code Long.decode}. */
    public static Long decodeLong(String text, int target) {
        return parsed(text, "i64", "int", target, () -> Long.decode(text));
    }

    /** {@code Short.parseShort(String)}. */
    public static short parseShort(String text, int target) {
        return parsed(text, "i16", "int", target, () -> Short.parseShort(text));
    }

    /** {@code Short.parseShort(String, int)}. */
    public static short parseShort(String text, int radix, int target) {
        return parsed(text, "i16", "int", target, () -> Short.parseShort(text, radix));
    }

    /** {@code Short.valueOf(String)}. */
    public static Short valueOfShort(String text, int target) {
        return parsed(text, "i16", "int", target, () -> Short.valueOf(text));
    }

    /** {@code Short.decode}. */
    public static Short decodeShort(String text, int target) {
        return parsed(text, "i16", "int", target, () -> Short.decode(text));
    }

    /** {@code Byte.parseByte(String)}. */
    public static byte parseByte(String text, int target) {
        return parsed(text, "i8", "int", target, () -> Byte.parseByte(text));
    }

    /** {@code Byte.parseByte(String, int)}. */
    public static byte parseByte(String text, int radix, int target) {
        return parsed(text, "i8", "int", target, () -> Byte.parseByte(text, radix));
    }

    /** {@code Byte.valueOf(String)}. */
    public static Byte valueOfByte(String text, int target) {
        return parsed(text, "i8", "int", target, () -> Byte.valueOf(text));
    }

    /** {@code Byte.decode}. */
    public static Byte decodeByte(String text, int target) {
        return parsed(text, "i8", "int", target, () -> Byte.decode(text));
    }

    /** {@code Double.parseDouble}. */
    public static double parseDouble(String text, int target) {
        return parsed(text, "f64", "float", target, () -> Double.parseDouble(text));
    }

    /** {@code Double.valueOf(String)}. */
    public static Double valueOfDouble(String text, int target) {
        return parsed(text, "f64", "float", target, () -> Double.valueOf(text));
    }

    /** {@code Float.parseFloat}. */
    public static float parseFloat(String text, int target) {
        return parsed(text, "f64", "float", target, () -> Float.parseFloat(text));
    }

    /** {@code Float.valueOf(String)}. */
    public static Float valueOfFloat(String text, int target) {
        return parsed(text, "f64", "float", target, () -> Float.valueOf(text));
    }

    /** {@code UUID.fromString}. */
    public static UUID uuid(String text, int target) {
        return parsed(text, "uuid", "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", target, () -> UUID.fromString(text));
    }

    /** {@code URI.create}. */
    public static URI uri(String text, int target) {
        return parsed(text, "url", "", target, () -> URI.create(text));
    }

    /** {@code Boolean.parseBoolean}. */
    public static boolean parseBoolean(String text, int target) {
        boolean verdict = Boolean.parseBoolean(text);
        seen(text, "bool", target);
        boolean wanted = !verdict && text != null && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Shape.distance(text, "true") : -1, target);
        return verdict;
    }

    /** {@code Boolean.valueOf(String)}. */
    public static Boolean valueOfBoolean(String text, int target) {
        return parseBoolean(text, target);
    }

    /** {@code Enum.valueOf}, also where an enum calls it for itself. */
    public static <E extends Enum<E>> E valueOf(Class<E> type, String text, int target) {
        if (type != null && Track.tracked(text)) {
            List<String> names = new ArrayList<>();
            E[] constants = type.getEnumConstants();
            for (E constant : constants == null ? Collections.<E>emptyList() : java.util.Arrays.asList(constants)) {
                names.add(constant.name());
            }
            if (!names.isEmpty()) {
                Track.used(text, Role.EQUAL, names, target);
            }
        }
        E value;
        try {
            value = Enum.valueOf(type, text);
        } catch (RuntimeException refusal) {
            double nearest = -1;
            if (type != null && text != null && type.getEnumConstants() != null && Probe.wants(true, target)) {
                for (E constant : type.getEnumConstants()) {
                    double distance = Shape.like(text, constant.name());
                    nearest = nearest < 0 ? distance : Math.min(nearest, distance);
                }
            }
            Probe.outcome(false, nearest, target);
            throw refusal;
        }
        Probe.outcome(true, -1, target);
        return value;
    }

    /** Before {@code new BigDecimal(String)}. */
    public static void decimal(String text, int target) {
        seen(text, "f64", target);
        constructed(text, "float", target, () -> new BigDecimal(text));
    }

    /** Before {@code new BigInteger(String)}. */
    public static void integer(String text, int target) {
        seen(text, "i64", target);
        constructed(text, "int", target, () -> new BigInteger(text));
    }

    /** Before {@code new URI(String)}. */
    public static void newUri(String text, int target) {
        seen(text, "url", target);
        constructed(text, "", target, () -> URI.create(text));
    }

    /** Before {@code new URL(String)}. */
    public static void newUrl(String text, int target) {
        seen(text, "url", target);
        constructed(text, "", target, () -> URI.create(text).toURL());
    }

    private interface Trial {
        Object run() throws Exception;
    }

    /** What a constructor will do cannot be watched from within, so it is tried beforehand while that teaches anything. */
    private static void constructed(String text, String shape, int target, Trial trial) {
        if (target < 0 || (!Probe.wants(true, target) && !Probe.wants(false, target))) {
            return;
        }
        try {
            trial.run();
        } catch (Exception refusal) {
            refused(text, shape, target);
            return;
        }
        Probe.outcome(true, -1, target);
    }
}
