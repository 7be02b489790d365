package isobath.agent.replace;

import static isobath.agent.measure.Distance.folded;
import static isobath.agent.measure.Distance.points;

import isobath.agent.measure.Distance;
import isobath.agent.measure.Relation;
import isobath.agent.probe.Probe;
import isobath.agent.track.Role;
import isobath.agent.track.Track;

/** Methods of {@code String}. Each first does what the original does, exceptions included. */
public final class Strings {
    private Strings() {}

    /** {@code String.equals}. */
    public static boolean equals(String self, Object other, int target) {
        boolean verdict = self.equals(other);
        Track.compared(self, other, Role.EQUAL, target);
        double distance = other == null ? Distance.FROM_NULL : -1;
        if (!verdict && other instanceof String) {
            distance = equality(self, (String) other, target);
        }
        Probe.outcome(verdict, distance, target);
        return verdict;
    }

    /** {@code String.contentEquals(CharSequence)}. */
    public static boolean contentEquals(String self, CharSequence other, int target) {
        boolean verdict = self.contentEquals(other);
        Track.compared(self, other, Role.EQUAL, target);
        Probe.outcome(verdict, verdict ? -1 : equality(self, other.toString(), target), target);
        return verdict;
    }

    /** {@code String.contentEquals(StringBuffer)}. */
    public static boolean contentEquals(String self, StringBuffer other, int target) {
        return contentEquals(self, (CharSequence) other, target);
    }

    private static double equality(String a, String b, int target) {
        return Probe.wants(true, target) ? Distance.texts(Relation.EQUAL, points(a), points(b)) : -1;
    }

    /** {@code String.equalsIgnoreCase}. */
    public static boolean equalsIgnoreCase(String self, String other, int target) {
        boolean verdict = self.equalsIgnoreCase(other);
        Track.compared(self, other, Role.EQUAL_IGNORING_CASE, target);
        double distance = other == null ? Distance.FROM_NULL : -1;
        if (!verdict && other != null && Probe.wants(true, target)) {
            distance = Distance.texts(Relation.EQUAL, folded(points(self)), folded(points(other)));
        }
        Probe.outcome(verdict, distance, target);
        return verdict;
    }

    /** {@code String.startsWith(String)}. */
    public static boolean startsWith(String self, String prefix, int target) {
        boolean verdict = self.startsWith(prefix);
        Track.compared(self, prefix, Role.STARTS_WITH, target);
        boolean wanted = !verdict && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Distance.prefix(points(self), points(prefix)) : -1, target);
        return verdict;
    }

    /** {@code String.startsWith(String, int)}. */
    public static boolean startsWith(String self, String prefix, int from, int target) {
        boolean verdict = self.startsWith(prefix, from);
        double distance = -1;
        if (!verdict && from >= 0 && Probe.wants(true, target)) {
            String rest = self.substring(Math.min(from, self.length()));
            int missing = Math.max(0, from - self.length());
            distance = Distance.prefix(points(rest), points(prefix)) + missing;
        }
        Probe.outcome(verdict, distance, target);
        return verdict;
    }

    /** {@code String.endsWith}. */
    public static boolean endsWith(String self, String suffix, int target) {
        boolean verdict = self.endsWith(suffix);
        Track.compared(self, suffix, Role.ENDS_WITH, target);
        boolean wanted = !verdict && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Distance.suffix(points(self), points(suffix)) : -1, target);
        return verdict;
    }

    /** {@code String.contains}. */
    public static boolean contains(String self, CharSequence part, int target) {
        boolean verdict = self.contains(part);
        Track.compared(self, part, Role.CONTAINS, target);
        boolean wanted = !verdict && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Distance.part(points(self), points(part)) : -1, target);
        return verdict;
    }

    /** {@code String.isEmpty}. */
    public static boolean isEmpty(String self, int target) {
        boolean verdict = self.isEmpty();
        Probe.outcome(verdict, verdict ? 1 : self.length(), target);
        return verdict;
    }

    /** {@code String.matches}. */
    public static boolean matches(String self, String regex, int target) {
        boolean verdict = self.matches(regex);
        Patterns.seen(self, regex, target);
        Probe.outcome(verdict, -1, target);
        return verdict;
    }

    /** {@code String.indexOf(String)}: found or not. */
    public static int indexOf(String self, String part, int target) {
        int at = self.indexOf(part);
        Track.compared(self, part, Role.CONTAINS, target);
        boolean wanted = at < 0 && Probe.wants(true, target);
        Probe.outcome(at >= 0, wanted ? Distance.part(points(self), points(part)) : -1, target);
        return at;
    }

    /** {@code String.indexOf(int)}: found or not. */
    public static int indexOf(String self, int c, int target) {
        int at = self.indexOf(c);
        if (Character.isValidCodePoint(c)) {
            String part = new String(Character.toChars(c));
            if (at < 0 && Track.tracked(self)) {
                Track.used(self, Role.CONTAINS, part, target);
            }
            boolean wanted = at < 0 && Probe.wants(true, target);
            Probe.outcome(at >= 0, wanted ? Distance.part(points(self), points(part)) : -1, target);
        }
        return at;
    }

    /** {@code String.lastIndexOf(String)}: found or not. */
    public static int lastIndexOf(String self, String part, int target) {
        indexOf(self, part, target);
        return self.lastIndexOf(part);
    }

    /** {@code String.lastIndexOf(int)}: found or not. */
    public static int lastIndexOf(String self, int c, int target) {
        indexOf(self, c, target);
        return self.lastIndexOf(c);
    }

    /** {@code String.split(String)}: what it is split at should be in it. */
    public static String[] split(String self, String regex, int target) {
        String[] parts = self.split(regex);
        separated(self, regex, target);
        return parts;
    }

    /** {@code String.split(String, int)}. */
    public static String[] split(String self, String regex, int limit, int target) {
        String[] parts = self.split(regex, limit);
        separated(self, regex, target);
        return parts;
    }

    private static void separated(String self, String regex, int target) {
        String plain = regex.replaceAll("\\\\([^a-zA-Z0-9])", "$1");
        boolean isPlain = plain.length() < regex.length() || regex.matches("[^\\\\.\\[{(*+?^$|]+");
        if (isPlain && !self.contains(plain) && Track.tracked(self)) {
            Track.used(self, Role.CONTAINS, plain, target);
        }
    }

    /** {@code String.regionMatches(boolean, int, String, int, int)}. */
    public static boolean regionMatches(
            String self, boolean ignoring, int from, String other, int at, int length, int target) {
        boolean verdict = self.regionMatches(ignoring, from, other, at, length);
        Probe.outcome(verdict, -1, target);
        return verdict;
    }
}
