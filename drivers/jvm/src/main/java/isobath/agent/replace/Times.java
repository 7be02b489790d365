package isobath.agent.replace;

import isobath.agent.probe.Probe;
import isobath.agent.track.Role;
import isobath.agent.track.Track;
import java.text.DateFormat;
import java.text.ParseException;
import java.text.SimpleDateFormat;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.YearMonth;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.Locale;
import java.util.Map;
import java.util.WeakHashMap;

/** Texts that are parsed as dates and times, in a form of their own or in one that the service names. */
public final class Times {
    private static final String DATE = "####-##-##";
    private static final String TIME = "##:##:##";
    private static final Map<DateTimeFormatter, String> FORMATS = Collections.synchronizedMap(new WeakHashMap<>());

    private Times() {}

    /** {@code DateTimeFormatter.ofPattern(String)}: a formatter does not tell its pattern, so it is remembered. */
    public static DateTimeFormatter ofPattern(String pattern, int target) {
        DateTimeFormatter formatter = DateTimeFormatter.ofPattern(pattern);
        FORMATS.put(formatter, pattern);
        return formatter;
    }

    /** {@code DateTimeFormatter.ofPattern(String, Locale)}. */
    public static DateTimeFormatter ofPattern(String pattern, Locale locale, int target) {
        DateTimeFormatter formatter = DateTimeFormatter.ofPattern(pattern, locale);
        FORMATS.put(formatter, pattern);
        return formatter;
    }

    private static void seen(CharSequence text, String type, String pattern, int target) {
        if (!(text instanceof String) || !Track.tracked((String) text)) {
            return;
        }
        String format = pattern == null ? null : Formats.strftime(pattern);
        if (format == null) {
            Track.used((String) text, Role.PARSED, type, target);
        } else {
            Track.used((String) text, Role.PARSED, Arrays.asList(type, format), target);
        }
    }

    private static void refused(CharSequence text, String shape, String pattern, int target) {
        Parsers.refused(text, pattern == null ? shape : Formats.shape(pattern), target);
    }

    private interface Parser<T> {
        T parse();
    }

    private static String pattern(DateTimeFormatter formatter) {
        return formatter == null ? null : FORMATS.get(formatter);
    }

    /** Parses a text as a type of the protocol; a refused one is compared with the pattern, or else with the usual form. */
    private static <T> T parsed(
            CharSequence text, String type, String shape, String pattern, int target, Parser<T> parser) {
        seen(text, type, pattern, target);
        T value;
        try {
            value = parser.parse();
        } catch (RuntimeException refusal) {
            refused(text, shape, pattern, target);
            throw refusal;
        }
        Probe.outcome(true, -1, target);
        return value;
    }

    /** {@code LocalDate.parse(CharSequence)}. */
    public static LocalDate parseLocalDate(CharSequence text, int target) {
        return parsed(text, "date", DATE, null, target, () -> LocalDate.parse(text));
    }

    /** {@code LocalDate.parse(CharSequence, DateTimeFormatter)}. */
    public static LocalDate parseLocalDate(CharSequence text, DateTimeFormatter formatter, int target) {
        return parsed(text, "date", DATE, pattern(formatter), target, () -> LocalDate.parse(text, formatter));
    }

    /** {@code LocalTime.parse(CharSequence)}. */
    public static LocalTime parseLocalTime(CharSequence text, int target) {
        return parsed(text, "time", TIME, null, target, () -> LocalTime.parse(text));
    }

    /** {@code LocalTime.parse(CharSequence, DateTimeFormatter)}. */
    public static LocalTime parseLocalTime(CharSequence text, DateTimeFormatter formatter, int target) {
        return parsed(text, "time", TIME, pattern(formatter), target, () -> LocalTime.parse(text, formatter));
    }

    /** {@code LocalDateTime.parse(CharSequence)}. */
    public static LocalDateTime parseLocalDateTime(CharSequence text, int target) {
        return parsed(text, "datetime", DATE + "T" + TIME, "yyyy-MM-dd'T'HH:mm:ss", target, () -> LocalDateTime.parse(text));
    }

    /** {@code LocalDateTime.parse(CharSequence, DateTimeFormatter)}. */
    public static LocalDateTime parseLocalDateTime(CharSequence text, DateTimeFormatter formatter, int target) {
        return parsed(text, "datetime", DATE + "T" + TIME, pattern(formatter), target, () -> LocalDateTime.parse(text, formatter));
    }

    /** {@code OffsetDateTime.parse(CharSequence)}. */
    public static OffsetDateTime parseOffsetDateTime(CharSequence text, int target) {
        return parsed(text, "datetime", DATE + "T" + TIME + "Z", null, target, () -> OffsetDateTime.parse(text));
    }

    /** {@code OffsetDateTime.parse(CharSequence, DateTimeFormatter)}. */
    public static OffsetDateTime parseOffsetDateTime(CharSequence text, DateTimeFormatter formatter, int target) {
        return parsed(text, "datetime", DATE + "T" + TIME + "Z", pattern(formatter), target, () -> OffsetDateTime.parse(text, formatter));
    }

    /** {@code ZonedDateTime.parse(CharSequence)}. */
    public static ZonedDateTime parseZonedDateTime(CharSequence text, int target) {
        return parsed(text, "datetime", DATE + "T" + TIME + "Z", null, target, () -> ZonedDateTime.parse(text));
    }

    /** {@code ZonedDateTime.parse(CharSequence, DateTimeFormatter)}. */
    public static ZonedDateTime parseZonedDateTime(CharSequence text, DateTimeFormatter formatter, int target) {
        return parsed(text, "datetime", DATE + "T" + TIME + "Z", pattern(formatter), target, () -> ZonedDateTime.parse(text, formatter));
    }

    /** {@code Instant.parse(CharSequence)}. */
    public static Instant parseInstant(CharSequence text, int target) {
        return parsed(text, "datetime", DATE + "T" + TIME + "Z", null, target, () -> Instant.parse(text));
    }

    /** {@code YearMonth.parse(CharSequence)}. */
    public static YearMonth parseYearMonth(CharSequence text, int target) {
        return parsed(text, "date", "####-##", "yyyy-MM", target, () -> YearMonth.parse(text));
    }

    /** {@code YearMonth.parse(CharSequence, DateTimeFormatter)}. */
    public static YearMonth parseYearMonth(CharSequence text, DateTimeFormatter formatter, int target) {
        return parsed(text, "date", "####-##", pattern(formatter), target, () -> YearMonth.parse(text, formatter));
    }

    /** {@code DateFormat.parse(String)}. */
    public static Date parse(DateFormat self, String text, int target) throws ParseException {
        String pattern = self instanceof SimpleDateFormat ? ((SimpleDateFormat) self).toPattern() : null;
        seen(text, "date", pattern, target);
        Date value;
        try {
            value = self.parse(text);
        } catch (ParseException | RuntimeException refusal) {
            refused(text, DATE, pattern, target);
            throw refusal;
        }
        Probe.outcome(true, -1, target);
        return value;
    }
}
