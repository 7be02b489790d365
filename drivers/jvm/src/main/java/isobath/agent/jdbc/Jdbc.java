package isobath.agent.jdbc;

import isobath.agent.link.Frame;
import isobath.agent.link.Link;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What database drivers do: statements with their values, rows that were read, complaints.
 *
 * <p>Called from within the classes of a driver ({@link JdbcWeaver}). The types of {@code java.sql} are not
 * visible from here, so statements and result sets are plain objects.
 */
public final class Jdbc {
    private static final int MOST = 2000;

    private static final Weak<Prepared> PREPARED = new Weak<>();
    private static final Weak<Record> RESULTS = new Weak<>();
    private static final ThreadLocal<Call> CALLS = new ThreadLocal<>();
    private static final ThreadLocal<Boolean> OURS = new ThreadLocal<>();
    private static final List<Record> TOLD = new ArrayList<>();
    private static volatile Source source;
    private static volatile boolean changed;

    private Jdbc() {}

    private static final class Prepared {
        String sql;
        final Map<Integer, Object> values = new ConcurrentHashMap<>();
        final List<String> batch = new ArrayList<>();
    }

    private static final class Call {
        final Object statement;
        final List<String> texts;
        int depth;

        Call(Object statement, List<String> texts) {
            this.statement = statement;
            this.texts = texts;
        }
    }

    private static final class Record {
        final int action;
        final String database;
        final String text;
        long rows;
        String failure;

        Record(int action, String database, String text) {
            this.action = action;
            this.database = database;
            this.text = text;
        }
    }

    /** Stands for a value that is not there, which the map of values cannot hold. */
    private static final Object NOTHING = new Object();

    /** How the service connects to its database. */
    static final class Source {
        final Object driver;
        final String url;
        final Object properties;

        Source(Object driver, String url, Object properties) {
            this.driver = driver;
            this.url = url;
            this.properties = properties;
        }
    }

    /** How the service connects; null as long as it did not. */
    static Source source() {
        return source;
    }

    /** Whether anything may have changed since this was asked last. */
    static boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }

    /** Something was changed behind the back of the service. */
    static void touch() {
        changed = true;
    }

    /** Does something of ours, of which nothing is told. */
    static void ours(boolean begins) {
        OURS.set(begins ? Boolean.TRUE : null);
    }

    /** A driver made a connection. */
    public static void connected(Object connection, Object driver, String url, Object properties) {
        if (connection != null && url != null && OURS.get() == null) {
            Source known = source;
            // The first database that the service opens is its own.
            if (known == null || known.url.equals(url)) {
                source = new Source(driver, url, properties);
            }
        }
    }

    /** A statement was prepared. */
    public static void prepared(Object statement, String sql) {
        if (statement != null && sql != null && OURS.get() == null) {
            Prepared made = new Prepared();
            made.sql = sql;
            PREPARED.put(statement, made);
        }
    }

    /** A value was bound. */
    public static void bind(Object statement, int index, Object value) {
        Prepared known = PREPARED.get(statement);
        if (known != null) {
            known.values.put(index, value == null ? NOTHING : value);
        }
    }

    /** The values so far are one more statement of a batch. */
    public static void batch(Object statement, String sql) {
        Prepared known = PREPARED.get(statement);
        if (known == null && sql != null) {
            known = new Prepared();
            PREPARED.put(statement, known);
        }
        if (known != null && known.batch.size() < MOST) {
            known.batch.add(sql != null ? sql : filled(known));
        }
    }

    private static String filled(Prepared prepared) {
        Map<Integer, Object> values = new HashMap<>(prepared.values);
        values.replaceAll((at, value) -> value == NOTHING ? null : value);
        return Text.fill(prepared.sql, values);
    }

    /** A statement is about to be executed; without a text it is the prepared one, or the batch. */
    public static void begin(Object statement, String sql, boolean isBatch) {
        Call call = CALLS.get();
        if (call != null) {
            call.depth++;
            return;
        }
        List<String> texts = new ArrayList<>();
        Prepared known = PREPARED.get(statement);
        if (sql != null) {
            texts.add(sql);
        } else if (known != null && isBatch) {
            texts.addAll(known.batch);
            known.batch.clear();
        } else if (known != null && known.sql != null) {
            texts.add(filled(known));
        }
        CALLS.set(new Call(statement, texts));
    }

    private static Call ended() {
        Call call = CALLS.get();
        if (call == null) {
            return null;
        }
        if (call.depth > 0) {
            call.depth--;
            return null;
        }
        CALLS.remove();
        return call;
    }

    /** It returned a result set. */
    public static void endRows(Object rows) {
        Call call = ended();
        if (call == null || rows == null) {
            return;
        }
        Record record = told(call, 0, null);
        if (record != null) {
            RESULTS.put(rows, record);
        }
    }

    /** It returned how many rows it touched. */
    public static void endCount(long count) {
        Call call = ended();
        if (call != null) {
            changed |= OURS.get() == null;
            told(call, Math.max(0, count), null);
        }
    }

    /** It returned whether there is a result set. */
    public static void endFlag(boolean hasRows) {
        Call call = ended();
        if (call != null) {
            changed |= !hasRows && OURS.get() == null;
            Record record = told(call, 0, null);
            if (record != null && hasRows) {
                // Whoever asks the statement for its result set gets one that is counted.
                RESULTS.put(call.statement, record);
            }
        }
    }

    /** It was a batch. */
    public static void endBatch(Object counts) {
        endCount(counts == null ? 0 : 1);
    }

    /** It complained. */
    public static void failed(Throwable complaint) {
        Call call = ended();
        if (call != null) {
            changed |= OURS.get() == null;
            told(call, 0, String.valueOf(complaint.getMessage()));
        }
    }

    /** The result set of a statement was asked for. */
    public static void results(Object rows, Object statement) {
        Record record = rows == null ? null : RESULTS.get(statement);
        if (record != null) {
            RESULTS.put(rows, record);
        }
    }

    /** A result set went on. */
    public static void next(boolean found, Object rows) {
        if (found) {
            Record record = RESULTS.get(rows);
            if (record != null) {
                record.rows++;
            }
        }
    }

    private static Record told(Call call, long rows, String failure) {
        Link link = Link.current();
        // What the service does while it starts belongs to no call.
        if (link == null || link.candidate() == 0 || OURS.get() != null) {
            return null;
        }
        Record record = null;
        for (String text : call.texts) {
            record = new Record(link.action(), database(call.statement), text);
            record.rows = rows;
            record.failure = failure;
            synchronized (TOLD) {
                if (TOLD.size() < MOST) {
                    TOLD.add(record);
                }
            }
        }
        return record;
    }

    private static String database(Object statement) {
        String name = statement.getClass().getName();
        String[][] known = {
            {"org.h2.", "h2"},
            {"org.hsqldb.", "hsqldb"},
            {"org.apache.derby.", "derby"},
            {"org.postgresql.", "postgres"},
            {"com.mysql.", "mysql"},
            {"org.mariadb.", "mariadb"},
            {"org.sqlite.", "sqlite"},
        };
        for (String[] one : known) {
            if (name.startsWith(one[0])) {
                return one[1];
            }
        }
        return "jdbc";
    }

    /** Tells the core of all statements so far. */
    public static void settle() {
        Link link = Link.current();
        List<Record> all;
        synchronized (TOLD) {
            all = new ArrayList<>(TOLD);
            TOLD.clear();
        }
        for (Record record : all) {
            link.queue().add(Frame.statement(record.action, record.database, record.text, record.rows, record.failure));
        }
    }
}
