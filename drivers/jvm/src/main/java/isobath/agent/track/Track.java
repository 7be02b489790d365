package isobath.agent.track;

import isobath.agent.link.Frame;
import isobath.agent.link.Link;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Inputs that carry a mark, and what they are used for (seed 002, section 5). */
public final class Track {
    private static final String MARK = "_isobath_";
    private static final String END = "_input";

    private static volatile Set<String> also = Collections.emptySet();

    private Track() {}

    /** These values are inputs, too. */
    public static void also(List<String> inputs) {
        also = new HashSet<>(inputs);
    }

    /** Whether a text is a tracked input or holds a marker. */
    public static boolean tracked(String text) {
        return text != null && (marked(text) || (!also.isEmpty() && also.contains(text)));
    }

    /** Whether a text holds {@code _isobath_n_input}. */
    static boolean marked(String text) {
        int at = text.indexOf(MARK);
        while (at >= 0) {
            int digit = at + MARK.length();
            int end = digit;
            while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
                end++;
            }
            if (end > digit && text.startsWith(END, end)) {
                return true;
            }
            at = text.indexOf(MARK, digit);
        }
        return false;
    }

    /** A tracked input was used together with these. */
    public static void used(String input, int role, List<String> arguments, int target) {
        Link link = Link.current();
        if (link != null) {
            link.queue().addOnce(Frame.tracked(link.action(), input, role, arguments, target), link.candidate());
        }
    }

    /** A tracked input was used together with this. */
    public static void used(String input, int role, String argument, int target) {
        used(input, role, Collections.singletonList(argument), target);
    }

    /** Two values were compared. */
    public static void compared(Object left, Object right, int role, int target) {
        if (left instanceof UUID && right instanceof UUID) {
            // No marker can be parsed as one. Whichever the core sent is the input.
            used(left.toString(), role, right.toString(), target);
            used(right.toString(), role, left.toString(), target);
            return;
        }
        if (!(left instanceof CharSequence) || !(right instanceof CharSequence)) {
            return;
        }
        String a = left.toString();
        String b = right.toString();
        boolean first = tracked(a);
        boolean second = tracked(b);
        if (first && second) {
            used(a, Role.SAME, b, target);
        } else if (first) {
            used(a, role, b, target);
        } else if (second && (role == Role.EQUAL || role == Role.EQUAL_IGNORING_CASE)) {
            // The second operand is the wish only where the operands may be exchanged.
            used(b, role, a, target);
        }
    }

    /** Whether somebody wants to know what becomes of inputs. */
    public static boolean isListening() {
        return Link.current() != null;
    }

    /** A JSON body was read into a type. */
    public static void body(String schema) {
        Link link = Link.current();
        if (link != null) {
            link.queue().addOnce(Frame.body(link.action(), schema), link.candidate());
        }
    }

    /** A part of a request was looked for by name. */
    public static void named(String name, int place) {
        Link link = Link.current();
        if (link != null && name != null) {
            link.queue().addOnce(Frame.parameter(link.action(), place, name), link.candidate());
        }
    }
}
