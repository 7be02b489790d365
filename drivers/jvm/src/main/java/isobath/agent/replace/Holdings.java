package isobath.agent.replace;

import isobath.agent.measure.Relation;
import isobath.agent.measure.Values;
import isobath.agent.probe.Probe;
import isobath.agent.track.Role;
import isobath.agent.track.Track;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Collections and maps: whether they hold something, and how near the nearest of their elements is. */
public final class Holdings {
    /** More elements are not looked at. */
    private static final int MOST = 100;

    private Holdings() {}

    /** {@code Collection.isEmpty}. */
    public static boolean isEmpty(Collection<?> self, int target) {
        boolean verdict = self.isEmpty();
        Probe.outcome(verdict, verdict || !isPlain(self) ? 1 : self.size(), target);
        return verdict;
    }

    /** {@code Map.isEmpty}. */
    public static boolean isEmpty(Map<?, ?> self, int target) {
        boolean verdict = self.isEmpty();
        Probe.outcome(verdict, verdict || !isPlain(self) ? 1 : self.size(), target);
        return verdict;
    }

    /** {@code Collection.contains}. */
    public static boolean contains(Collection<?> self, Object element, int target) {
        boolean verdict = self.contains(element);
        sought(self, element, verdict, target);
        return verdict;
    }

    /** {@code Collection.remove}. */
    public static boolean remove(Collection<?> self, Object element, int target) {
        List<Object> before = first(self);
        boolean verdict = self.remove(element);
        sought(before, element, verdict, target);
        return verdict;
    }

    /** {@code Collection.containsAll}: as far as all that are missing together. */
    public static boolean containsAll(Collection<?> self, Collection<?> elements, int target) {
        boolean verdict = self.containsAll(elements);
        double sum = 0;
        if (!verdict && target >= 0) {
            for (Object element : first(elements)) {
                sum += self.contains(element) ? 0 : nearest(self, element);
            }
        }
        Probe.outcome(verdict, sum, target);
        return verdict;
    }

    /** {@code Map.containsKey}. */
    public static boolean containsKey(Map<?, ?> self, Object key, int target) {
        boolean verdict = self.containsKey(key);
        sought(keys(self), key, verdict, target);
        return verdict;
    }

    /** {@code Map.containsValue}. */
    public static boolean containsValue(Map<?, ?> self, Object value, int target) {
        boolean verdict = self.containsValue(value);
        sought(isPlain(self) ? self.values() : Collections.emptyList(), value, verdict, target);
        return verdict;
    }

    /** {@code Map.get}: found or not. */
    public static Object get(Map<?, ?> self, Object key, int target) {
        Object value = self.get(key);
        sought(keys(self), key, value != null, target);
        return value;
    }

    /** {@code Map.getOrDefault}: found or not. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public static Object getOrDefault(Map self, Object key, Object otherwise, int target) {
        Object value = self.getOrDefault(key, otherwise);
        sought(keys(self), key, isPlain(self) ? self.containsKey(key) : value != otherwise, target);
        return value;
    }

    private static void sought(Collection<?> among, Object element, boolean found, int target) {
        if (element instanceof String && Track.tracked((String) element)) {
            List<String> texts = new ArrayList<>();
            for (Object known : first(among)) {
                if (known instanceof String && !known.equals(element)) {
                    texts.add((String) known);
                }
            }
            if (!texts.isEmpty()) {
                Track.used((String) element, Role.EQUAL, texts, target);
            }
        }
        Probe.outcome(found, !found && Probe.wants(true, target) ? nearest(among, element) : -1, target);
    }

    private static double nearest(Collection<?> among, Object element) {
        double nearest = Double.POSITIVE_INFINITY;
        for (Object known : first(among)) {
            double distance = Values.toOther(Relation.EQUAL, known, element);
            if (distance >= 0) {
                nearest = Math.min(nearest, distance);
            }
        }
        return nearest < Double.POSITIVE_INFINITY ? nearest : -1;
    }

    private static Collection<?> keys(Map<?, ?> map) {
        return isPlain(map) ? map.keySet() : Collections.emptyList();
    }

    /** Only what the JDK itself made is sure to have no effect when it is looked at. */
    private static boolean isPlain(Object holding) {
        return holding.getClass().getName().startsWith("java.util.");
    }

    /** The first elements; none where looking at them is refused or another thread is changing them. */
    private static List<Object> first(Collection<?> all) {
        List<Object> first = new ArrayList<>();
        if (!isPlain(all)) {
            return first;
        }
        try {
            for (Object element : all) {
                if (first.size() == MOST) {
                    break;
                }
                first.add(element);
            }
        } catch (RuntimeException changed) {
            first.clear();
        }
        return first;
    }
}
