package isobath.agent;

import isobath.agent.probe.Probe;
import isobath.agent.replace.Strings;

/**
 * What probes cost, in nanoseconds: {@code java -cp target/classes:target/test-classes isobath.agent.Speed}.
 *
 * <p>Each loop is measured with and without its probe, and the difference between the quickest rounds of both counts.
 */
public final class Speed {
    private static final int ROUNDS = 15;
    private static final int TIMES = 20_000_000;

    private Speed() {}

    private interface Loop {
        long run(int times);
    }

    /** Prints one line for each kind of probe. */
    public static void main(String[] arguments) {
        Recordings.fresh();
        // Outcomes of a branch that is taken both ways are known after a few of them, as in a service.
        print("line", Speed::plain, Speed::line);
        print("branch", Speed::branches, Speed::probedBranches);
        print("long branch", Speed::wideBranches, Speed::probedWideBranches);
        print("equals", Speed::equal, Speed::probedEqual);
    }

    private static void print(String name, Loop plain, Loop probed) {
        double without = Double.POSITIVE_INFINITY;
        double with = Double.POSITIVE_INFINITY;
        long kept = 0;
        for (int round = 0; round < ROUNDS; round++) {
            long start = System.nanoTime();
            kept += plain.run(TIMES);
            long middle = System.nanoTime();
            kept += probed.run(TIMES);
            long end = System.nanoTime();
            without = Math.min(without, (double) (middle - start) / TIMES);
            with = Math.min(with, (double) (end - middle) / TIMES);
        }
        System.out.printf("%-12s %6.2f ns%s%n", name, Math.max(0, with - without), kept == 42 ? " " : "");
    }

    private static long plain(int times) {
        long sum = 0;
        for (int at = 0; at < times; at++) {
            sum = sum * 31 + at;
        }
        return sum;
    }

    private static long line(int times) {
        long sum = 0;
        for (int at = 0; at < times; at++) {
            // Not always the same one, which would be asked for once and for all.
            Probe.hit(40 + (at & 63));
            sum = sum * 31 + at;
        }
        return sum;
    }

    private static long branches(int times) {
        long sum = 0;
        for (int at = 0; at < times; at++) {
            sum += 200 + (at >> 4 & 63) * 2;
            if ((at & 15) < 7) {
                sum += at;
            }
            sum *= 31;
        }
        return sum;
    }

    private static long probedBranches(int times) {
        long sum = 0;
        for (int at = 0; at < times; at++) {
            // As above, not always the same one; each comes out both ways before it is another's turn.
            int target = 200 + (at >> 4 & 63) * 2;
            Probe.lt(at & 15, 7, target);
            sum += target;
            if ((at & 15) < 7) {
                sum += at;
            }
            sum *= 31;
        }
        return sum;
    }

    private static long wideBranches(int times) {
        long sum = 0;
        for (long at = 0; at < times; at++) {
            sum += 400 + (int) (at >> 4 & 63) * 2;
            if ((at & 15) < 7) {
                sum += at;
            }
            sum *= 31;
        }
        return sum;
    }

    private static long probedWideBranches(int times) {
        long sum = 0;
        for (long at = 0; at < times; at++) {
            int target = 400 + (int) (at >> 4 & 63) * 2;
            sum += target;
            if (Probe.order(at & 15, 7, 2, target) < 0) {
                sum += at;
            }
            sum *= 31;
        }
        return sum;
    }

    private static final String[] WORDS = {"open", "closed", "draft", "gone"};

    private static long equal(int times) {
        long sum = 0;
        for (int at = 0; at < times; at++) {
            if (WORDS[at & 3].equals("closed")) {
                sum += at;
            }
        }
        return sum;
    }

    private static long probedEqual(int times) {
        long sum = 0;
        for (int at = 0; at < times; at++) {
            if (Strings.equals(WORDS[at & 3], "closed", 30)) {
                sum += at;
            }
        }
        return sum;
    }
}
