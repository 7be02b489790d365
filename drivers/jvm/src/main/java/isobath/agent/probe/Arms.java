package isobath.agent.probe;

import isobath.agent.measure.Distance;
import isobath.agent.track.Role;
import isobath.agent.track.Track;
import java.util.Arrays;
import java.util.Collections;

/** {@code switch}: how far the value is from each arm. */
public final class Arms {
    private static int[][] keys = new int[64][];
    private static int[][] targets = new int[64][];
    private static String[][] texts = new String[64][];
    private static int count;

    private Arms() {}

    /** Remembers a switch; of the targets the last is that of the default, negative where it has none. Returns its number. */
    public static synchronized int table(int[] caseKeys, int[] caseTargets) {
        int number = next();
        keys[number] = caseKeys;
        targets[number] = caseTargets;
        return number;
    }

    /** Remembers a switch over texts, each of which has a target. Returns its number. */
    public static synchronized int table(String[] cases, int[] caseTargets) {
        int number = next();
        texts[number] = cases;
        targets[number] = caseTargets;
        return number;
    }

    private static int next() {
        if (count == keys.length) {
            // Readers without a lock see the old or the new arrays, both right for them.
            keys = Arrays.copyOf(keys, 2 * count);
            targets = Arrays.copyOf(targets, 2 * count);
            texts = Arrays.copyOf(texts, 2 * count);
        }
        return count++;
    }

    /** The value of a switch. */
    public static void number(int value, int table) {
        int[] known = keys[table];
        int[] arms = targets[table];
        boolean found = false;
        for (int at = 0; at < known.length; at++) {
            if (known[at] == value) {
                Probe.hit(arms[at]);
                found = true;
            } else if (!Probe.covered(arms[at])) {
                Probe.near(arms[at], Math.abs((double) known[at] - value));
            }
        }
        int otherwise = arms[arms.length - 1];
        if (otherwise < 0) {
            return;
        }
        if (!found) {
            Probe.hit(otherwise);
        } else if (!Probe.covered(otherwise)) {
            Probe.near(otherwise, 1);
        }
    }

    /** The value of a switch over texts. */
    public static void text(String value, int table) {
        if (value == null) {
            return;
        }
        String[] known = texts[table];
        int[] arms = targets[table];
        if (Track.tracked(value)) {
            Track.used(value, Role.EQUAL, Collections.unmodifiableList(Arrays.asList(known)), arms[0]);
        }
        for (int at = 0; at < known.length; at++) {
            if (known[at].equals(value)) {
                Probe.hit(arms[at]);
            } else if (!Probe.covered(arms[at])) {
                int[] points = Distance.points(value);
                double distance = Distance.positions(points, 0, points.length, Distance.points(known[at]));
                Probe.near(arms[at], Recording.methods() ? distance : 1);
            }
        }
    }
}
