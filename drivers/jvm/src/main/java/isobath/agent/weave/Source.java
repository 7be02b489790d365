package isobath.agent.weave;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.objectweb.asm.tree.ClassNode;

/**
 * Where the lines of a class were written: mostly all in one file. Kotlin copies inline functions and numbers their
 * lines after the last of the file; the map of JSR 45 in the class says where they came from.
 */
final class Source {
    private static final Pattern RANGE = Pattern.compile("(\\d+)(?:#(\\d+))?(?:,(\\d+))?:(\\d+)(?:,(\\d+))?");

    /** A place in a file. */
    static final class Place {
        final String file;
        final int line;

        Place(String file, int line) {
            this.file = file;
            this.line = line;
        }
    }

    private static final class Range {
        final int from;
        final int to;
        final int written;
        final String file;

        Range(int from, int to, int written, String file) {
            this.from = from;
            this.to = to;
            this.written = written;
            this.file = file;
        }
    }

    private final String file;
    private final List<Range> ranges;

    private Source(String file, List<Range> ranges) {
        this.file = file;
        this.ranges = ranges;
    }

    /** The source of a class. */
    static Source of(ClassNode type) {
        String name = type.name;
        int slash = name.lastIndexOf('/');
        int dollar = name.indexOf('$', slash + 2);
        String outer = dollar < 0 ? name : name.substring(0, dollar);
        String own = type.sourceFile == null ? outer + ".class" : folder(name) + type.sourceFile;
        List<Range> ranges = new ArrayList<>();
        if (type.sourceDebug != null && type.sourceDebug.contains("*S Kotlin\n")) {
            try {
                ranges = ranges(type.sourceDebug, name);
                // What no range is about was written where the first one was.
                own = ranges.isEmpty() ? own : ranges.get(0).file;
            } catch (RuntimeException broken) {
                ranges.clear();
            }
        }
        if (ranges.isEmpty() && name.contains("$$inlined$")) {
            // A class that came along with an inline function, of which nothing was written here.
            ranges.add(new Range(0, Integer.MAX_VALUE, 0, null));
        }
        return new Source(own, ranges);
    }

    /** Where a line was written; null when that is in a library. */
    Place place(int line) {
        for (Range range : ranges) {
            if (line >= range.from && line < range.to) {
                return range.file == null ? null : new Place(range.file, range.written + line - range.from);
            }
        }
        return file == null ? null : new Place(file, line);
    }

    private static List<Range> ranges(String map, String className) {
        List<Range> ranges = new ArrayList<>();
        Map<String, String> files = new HashMap<>();
        String[] lines = map.split("\n");
        int at = 0;
        while (!lines[at].equals("*S Kotlin")) {
            at++;
        }
        String id = "1";
        for (at += 2; at < lines.length && !lines[at].equals("*L"); at++) {
            // A number and a name, then the class.
            String[] file = lines[at].split(" ", 3);
            String path = lines[++at];
            files.put(file[1], belongsTo(path, className) ? folder(path) + file[2] : null);
        }
        for (at++; at < lines.length && !lines[at].startsWith("*"); at++) {
            Matcher range = RANGE.matcher(lines[at]);
            if (range.matches()) {
                id = range.group(2) == null ? id : range.group(2);
                int repeated = range.group(3) == null ? 1 : Integer.parseInt(range.group(3));
                int from = Integer.parseInt(range.group(4));
                ranges.add(new Range(from, from + repeated, Integer.parseInt(range.group(1)), files.get(id)));
            }
        }
        return ranges;
    }

    /** Whether two classes have the first two parts of their packages in common, as the parts of one program do. */
    private static boolean belongsTo(String path, String className) {
        String[] wanted = folder(className).split("/");
        String[] found = folder(path).split("/");
        for (int part = 0; part < Math.min(2, wanted.length); part++) {
            if (part >= found.length || !found[part].equals(wanted[part])) {
                return false;
            }
        }
        return true;
    }

    private static String folder(String className) {
        return className.substring(0, className.lastIndexOf('/') + 1);
    }
}
