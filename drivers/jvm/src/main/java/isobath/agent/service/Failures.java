package isobath.agent.service;

import isobath.agent.link.Frame;
import isobath.agent.link.Link;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

/** Exceptions that no handler of the service wanted: the web server was left with them. */
public final class Failures {
    private static final int LONGEST_STACK = 8000;
    private static volatile Set<String> classes = Collections.emptySet();

    private Failures() {}

    /** These classes, by their names with dots, belong to the service. */
    public static void watch(Set<String> names) {
        classes = new HashSet<>(names);
    }

    /** The web server was left with this. */
    public static void seen(Throwable failure) {
        Link link = Link.current();
        if (link == null || failure == null) {
            return;
        }
        try {
            Throwable cause = failure;
            // What wraps the cause comes from the web framework.
            for (int depth = 0; cause.getCause() != null && cause.getCause() != cause && depth < 20; depth++) {
                cause = cause.getCause();
            }
            StackTraceElement place = place(cause);
            if (place == null) {
                place = place(failure);
            }
            String file = place == null ? cause.getClass().getName() : file(place);
            int line = place == null ? 1 : Math.max(1, place.getLineNumber());
            StringWriter stack = new StringWriter();
            cause.printStackTrace(new PrintWriter(stack));
            String text = Traces.without(stack.toString());
            String shortened = text.length() > LONGEST_STACK ? text.substring(0, LONGEST_STACK) : text;
            link.queue().addUrgent(Frame.panicked(link.action(), file, line, String.valueOf(cause), shortened));
        } catch (RuntimeException broken) {
            // An exception that cannot even be printed must not become another one.
        }
    }

    private static StackTraceElement place(Throwable failure) {
        for (StackTraceElement element : failure.getStackTrace()) {
            if (classes.contains(element.getClassName()) && !Traces.isOurs(element)) {
                return element;
            }
        }
        return null;
    }

    private static String file(StackTraceElement place) {
        String name = place.getClassName();
        int dot = name.lastIndexOf('.');
        String folder = dot < 0 ? "" : name.substring(0, dot + 1).replace('.', '/');
        return folder + (place.getFileName() == null ? name.substring(dot + 1) : place.getFileName());
    }
}
