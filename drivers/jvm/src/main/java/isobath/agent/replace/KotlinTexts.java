package isobath.agent.replace;

import static isobath.agent.measure.Distance.folded;
import static isobath.agent.measure.Distance.points;

import isobath.agent.measure.Distance;
import isobath.agent.probe.Probe;
import isobath.agent.track.Role;
import isobath.agent.track.Track;

/**
 * Functions of Kotlin's own library about texts, which stand in for those of {@code String}. Where the mask has its bit,
 * the argument before it was left out.
 */
public final class KotlinTexts {
    private KotlinTexts() {}

    private static boolean ignoring(boolean given, int mask) {
        return (mask & 2) == 0 && given;
    }

    /** {@code text.startsWith(prefix)}. */
    public static boolean startsWith(String self, String prefix, boolean given, int mask, Object none, int target) {
        return startsWith(self, prefix, ignoring(given, mask), target);
    }

    /** {@code text.startsWith(prefix, ignoreCase)}. */
    public static boolean startsWith(String self, String prefix, boolean ignoring, int target) {
        if (!ignoring) {
            return Strings.startsWith(self, prefix, target);
        }
        boolean verdict = self.regionMatches(true, 0, prefix, 0, prefix.length());
        Track.compared(self, prefix, Role.STARTS_WITH, target);
        boolean wanted = !verdict && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Distance.prefix(folded(points(self)), folded(points(prefix))) : -1, target);
        return verdict;
    }

    /** {@code text.endsWith(suffix)}. */
    public static boolean endsWith(String self, String suffix, boolean given, int mask, Object none, int target) {
        return endsWith(self, suffix, ignoring(given, mask), target);
    }

    /** {@code text.endsWith(suffix, ignoreCase)}. */
    public static boolean endsWith(String self, String suffix, boolean ignoring, int target) {
        if (!ignoring) {
            return Strings.endsWith(self, suffix, target);
        }
        boolean verdict = self.regionMatches(true, self.length() - suffix.length(), suffix, 0, suffix.length());
        Track.compared(self, suffix, Role.ENDS_WITH, target);
        boolean wanted = !verdict && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Distance.suffix(folded(points(self)), folded(points(suffix))) : -1, target);
        return verdict;
    }

    /** {@code part in text}. */
    public static boolean contains(
            CharSequence self, CharSequence part, boolean given, int mask, Object none, int target) {
        return contains(self, part, ignoring(given, mask), target);
    }

    /** {@code text.contains(part, ignoreCase)}. */
    public static boolean contains(CharSequence self, CharSequence part, boolean ignoring, int target) {
        String text = self.toString();
        String wish = part.toString();
        if (!ignoring) {
            return Strings.contains(text, wish, target);
        }
        boolean verdict = false;
        for (int at = 0; !verdict && at <= text.length() - wish.length(); at++) {
            verdict = text.regionMatches(true, at, wish, 0, wish.length());
        }
        Track.compared(text, wish, Role.CONTAINS, target);
        boolean wanted = !verdict && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Distance.part(folded(points(text)), folded(points(wish))) : -1, target);
        return verdict;
    }

    /** {@code text.equals(other)}, of which both may be null. */
    public static boolean equals(String self, String other, boolean given, int mask, Object none, int target) {
        return equals(self, other, ignoring(given, mask), target);
    }

    /** {@code text.equals(other, ignoreCase)}, of which both may be null. */
    public static boolean equals(String self, String other, boolean ignoring, int target) {
        if (self == null || other == null) {
            Probe.outcome(self == other, self == other ? -1 : Distance.FROM_NULL, target);
            return self == other;
        }
        return ignoring ? Strings.equalsIgnoreCase(self, other, target) : Strings.equals(self, other, target);
    }

    /** {@code text.toIntOrNull()}. */
    public static Integer toIntOrNull(String self, int target) {
        self.length();
        try {
            return Parsers.valueOfInteger(self, target);
        } catch (NumberFormatException refused) {
            return null;
        }
    }

    /** {@code text.toLongOrNull()}. */
    public static Long toLongOrNull(String self, int target) {
        self.length();
        try {
            return Parsers.valueOfLong(self, target);
        } catch (NumberFormatException refused) {
            return null;
        }
    }
}
