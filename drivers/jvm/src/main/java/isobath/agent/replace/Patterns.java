package isobath.agent.replace;

import isobath.agent.probe.Probe;
import isobath.agent.track.Role;
import isobath.agent.track.Track;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Regular expressions. What satisfies the whole expression also satisfies a search for it, so that is asked for. */
public final class Patterns {
    private Patterns() {}

    /** A text was matched against an expression. */
    static void seen(CharSequence text, String regex, int target) {
        if (text instanceof String && Track.tracked((String) text)) {
            Track.used((String) text, Role.PATTERN, "^(?:" + regex + ")$", target);
        }
    }

    /** {@code Pattern.matcher}, of which nobody can say later what it looks at. */
    public static Matcher matcher(Pattern self, CharSequence text, int target) {
        Matcher matcher = self.matcher(text);
        seen(text, self.pattern(), target);
        return matcher;
    }

    /** {@code Pattern.matches}. */
    public static boolean matches(String regex, CharSequence text, int target) {
        boolean verdict = Pattern.matches(regex, text);
        seen(text, regex, target);
        Probe.outcome(verdict, -1, target);
        return verdict;
    }

    /** {@code Matcher.matches}. */
    public static boolean matches(Matcher self, int target) {
        boolean verdict = self.matches();
        Probe.outcome(verdict, -1, target);
        return verdict;
    }

    /** {@code Matcher.find}. */
    public static boolean find(Matcher self, int target) {
        boolean verdict = self.find();
        Probe.outcome(verdict, -1, target);
        return verdict;
    }

    /** {@code Matcher.lookingAt}. */
    public static boolean lookingAt(Matcher self, int target) {
        boolean verdict = self.lookingAt();
        Probe.outcome(verdict, -1, target);
        return verdict;
    }
}
