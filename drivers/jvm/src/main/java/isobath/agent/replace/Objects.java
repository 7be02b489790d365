package isobath.agent.replace;

import isobath.agent.measure.Relation;
import isobath.agent.measure.Values;
import isobath.agent.probe.Probe;
import isobath.agent.track.Role;
import isobath.agent.track.Track;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.chrono.ChronoLocalDate;
import java.time.chrono.ChronoLocalDateTime;
import java.time.chrono.ChronoZonedDateTime;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Date;

/** {@code equals}, {@code compareTo} and the comparisons of dates, on whatever type they turn out to be. */
public final class Objects {
    private Objects() {}

    /** {@code Object.equals} and all that override it. */
    public static boolean equals(Object self, Object other, int target) {
        boolean verdict = self.equals(other);
        told(verdict, self, other, target);
        return verdict;
    }

    /** {@code Objects.equals} and what Kotlin makes of {@code ==}. */
    public static boolean equalsOrNull(Object self, Object other, int target) {
        boolean verdict = java.util.Objects.equals(self, other);
        told(verdict, self, other, target);
        return verdict;
    }

    private static void told(boolean verdict, Object self, Object other, int target) {
        Track.compared(self, other, Role.EQUAL, target);
        boolean wanted = !verdict && Probe.wants(true, target);
        Probe.outcome(verdict, wanted ? Values.toOther(Relation.EQUAL, self, other) : -1, target);
    }

    /** {@code Comparable.compareTo}, whose result is then compared with zero by this relation. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    public static int compareTo(Comparable self, Object other, int relation, int target) {
        int order = self.compareTo(other);
        boolean verdict = Relation.holds(relation, order);
        if (relation <= Relation.NOT_EQUAL) {
            Track.compared(self, other, Role.EQUAL, target);
        }
        boolean wanted = Probe.wants(!verdict, target);
        Probe.outcome(verdict, wanted ? Values.toOther(relation, self, other) : -1, target);
        return order;
    }

    private static boolean moments(boolean verdict, int relation, Object self, Object other, int target) {
        boolean wanted = Probe.wants(!verdict, target);
        Probe.outcome(verdict, wanted ? Values.toOther(relation, self, other) : -1, target);
        return verdict;
    }

    /** {@code Date.before}. */
    public static boolean before(Date self, Date other, int target) {
        return moments(self.before(other), Relation.LESS, self, other, target);
    }

    /** {@code Date.after}. */
    public static boolean after(Date self, Date other, int target) {
        return moments(self.after(other), Relation.GREATER, self, other, target);
    }

    /** {@code LocalDate.isBefore}. */
    public static boolean isBefore(LocalDate self, ChronoLocalDate other, int target) {
        return moments(self.isBefore(other), Relation.LESS, self, other, target);
    }

    /** {@code LocalDate.isAfter}. */
    public static boolean isAfter(LocalDate self, ChronoLocalDate other, int target) {
        return moments(self.isAfter(other), Relation.GREATER, self, other, target);
    }

    /** {@code LocalDate.isEqual}. */
    public static boolean isEqual(LocalDate self, ChronoLocalDate other, int target) {
        return moments(self.isEqual(other), Relation.EQUAL, self, other, target);
    }

    /** {@code LocalTime.isBefore}. */
    public static boolean isBefore(LocalTime self, LocalTime other, int target) {
        return moments(self.isBefore(other), Relation.LESS, self, other, target);
    }

    /** {@code LocalTime.isAfter}. */
    public static boolean isAfter(LocalTime self, LocalTime other, int target) {
        return moments(self.isAfter(other), Relation.GREATER, self, other, target);
    }

    /** {@code LocalDateTime.isBefore}. */
    public static boolean isBefore(LocalDateTime self, ChronoLocalDateTime<?> other, int target) {
        return moments(self.isBefore(other), Relation.LESS, self, other, target);
    }

    /** {@code LocalDateTime.isAfter}. */
    public static boolean isAfter(LocalDateTime self, ChronoLocalDateTime<?> other, int target) {
        return moments(self.isAfter(other), Relation.GREATER, self, other, target);
    }

    /** {@code LocalDateTime.isEqual}. */
    public static boolean isEqual(LocalDateTime self, ChronoLocalDateTime<?> other, int target) {
        return moments(self.isEqual(other), Relation.EQUAL, self, other, target);
    }

    /** {@code Instant.isBefore}. */
    public static boolean isBefore(Instant self, Instant other, int target) {
        return moments(self.isBefore(other), Relation.LESS, self, other, target);
    }

    /** {@code Instant.isAfter}. */
    public static boolean isAfter(Instant self, Instant other, int target) {
        return moments(self.isAfter(other), Relation.GREATER, self, other, target);
    }

    /** {@code OffsetDateTime.isBefore}. */
    public static boolean isBefore(OffsetDateTime self, OffsetDateTime other, int target) {
        return moments(self.isBefore(other), Relation.LESS, self.toInstant(), other.toInstant(), target);
    }

    /** {@code OffsetDateTime.isAfter}. */
    public static boolean isAfter(OffsetDateTime self, OffsetDateTime other, int target) {
        return moments(self.isAfter(other), Relation.GREATER, self.toInstant(), other.toInstant(), target);
    }

    /** {@code OffsetDateTime.isEqual}. */
    public static boolean isEqual(OffsetDateTime self, OffsetDateTime other, int target) {
        return moments(self.isEqual(other), Relation.EQUAL, self.toInstant(), other.toInstant(), target);
    }

    /** {@code ZonedDateTime.isBefore}. */
    public static boolean isBefore(ChronoZonedDateTime<?> self, ChronoZonedDateTime<?> other, int target) {
        return moments(self.isBefore(other), Relation.LESS, self.toInstant(), other.toInstant(), target);
    }

    /** {@code ZonedDateTime.isAfter}. */
    public static boolean isAfter(ChronoZonedDateTime<?> self, ChronoZonedDateTime<?> other, int target) {
        return moments(self.isAfter(other), Relation.GREATER, self.toInstant(), other.toInstant(), target);
    }

    /** {@code ZonedDateTime.isEqual}. */
    public static boolean isEqual(ChronoZonedDateTime<?> self, ChronoZonedDateTime<?> other, int target) {
        return moments(self.isEqual(other), Relation.EQUAL, self.toInstant(), other.toInstant(), target);
    }
}
