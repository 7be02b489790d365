package isobath.agent.weave;

import isobath.agent.link.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The targets of one class, numbered in the order of its bytecode. */
final class Targets {
    private final int first;
    private final String unit;
    private final String file;
    private final List<Target> targets = new ArrayList<>();
    private final Map<Integer, Integer> lines = new HashMap<>();
    private final Map<Integer, Integer> columns = new HashMap<>();
    private String function = "";

    Targets(int first, String className, String source) {
        this.first = first;
        int slash = className.lastIndexOf('/');
        unit = slash < 0 ? "" : className.substring(0, slash).replace('/', '.');
        String folder = slash < 0 ? "" : className.substring(0, slash + 1);
        int dollar = className.indexOf('$', slash + 2);
        String outer = dollar < 0 ? className : className.substring(0, dollar);
        file = source == null ? outer + ".class" : folder + source;
    }

    /** What follows is in this method. */
    void in(String function) {
        this.function = function;
    }

    /** The target of a line. */
    int line(int line) {
        Integer known = lines.get(line);
        if (known == null) {
            known = add(Target.STATEMENT, line, "line");
            lines.put(line, known);
        }
        return known;
    }

    /** Two targets, of which the first is returned. */
    int pair(int kind, int other, int line, String text) {
        int target = add(kind, line, text);
        add(other, line, text);
        return target;
    }

    int add(int kind, int line, String text) {
        int id = first + targets.size();
        // Targets of one line are told apart by where they come in it.
        int column = columns.merge(line, 1, Integer::sum);
        targets.add(new Target(id, kind, unit, file, line, column, function, text));
        return id;
    }

    List<Target> all() {
        return targets;
    }
}
