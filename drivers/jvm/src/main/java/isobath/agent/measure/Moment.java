package isobath.agent.measure;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.Date;

/** A moment in its calendar parts: year, month, day, hour, minute, second, nanosecond. */
public final class Moment {
    private final int[] parts;

    /** A moment of these parts. */
    public Moment(int... parts) {
        this.parts = parts;
    }

    /** The moment that a value is, or null. */
    public static Moment of(Object value) {
        try {
            if (value instanceof Date) {
                return of(LocalDateTime.ofInstant(Instant.ofEpochMilli(((Date) value).getTime()), ZoneOffset.UTC));
            }
            if (value instanceof Instant) {
                return of(LocalDateTime.ofInstant((Instant) value, ZoneOffset.UTC));
            }
            if (value instanceof TemporalAccessor && value.getClass().getName().startsWith("java.time.")) {
                TemporalAccessor at = (TemporalAccessor) value;
                return new Moment(
                        part(at, ChronoField.YEAR),
                        part(at, ChronoField.MONTH_OF_YEAR),
                        part(at, ChronoField.DAY_OF_MONTH),
                        part(at, ChronoField.HOUR_OF_DAY),
                        part(at, ChronoField.MINUTE_OF_HOUR),
                        part(at, ChronoField.SECOND_OF_MINUTE),
                        part(at, ChronoField.NANO_OF_SECOND));
            }
        } catch (DateTimeException | ArithmeticException beyond) {
            return null;
        }
        return null;
    }

    private static int part(TemporalAccessor at, ChronoField field) {
        return at.isSupported(field) ? at.get(field) : 0;
    }

    /** How far a relation between two moments is from the other verdict. */
    public static double distance(int relation, Moment a, Moment b) {
        int order = 0;
        double sum = 0;
        for (int at = 0; at < 7; at++) {
            if (order == 0) {
                order = Integer.compare(a.parts[at], b.parts[at]);
            }
            double gap = Math.abs((double) a.parts[at] - b.parts[at]);
            sum += at == 6 ? gap / 1e9 : gap;
        }
        // A sum of parts can shrink while the moment moves the wrong way, so order counts days.
        double gap = relation <= Relation.NOT_EQUAL ? sum : Math.abs(a.days() - b.days());
        return Relation.toOther(relation, order, gap);
    }

    /** Days since a fixed day, fractions included. */
    private double days() {
        int month = Math.max(1, Math.min(12, parts[1]));
        int day = Math.max(1, parts[2]);
        LocalTime time = LocalTime.of(parts[3], parts[4], Math.min(59, parts[5]), parts[6]);
        return LocalDate.of(parts[0], month, 1).toEpochDay() + day - 1 + time.toNanoOfDay() / 86_400e9;
    }
}
