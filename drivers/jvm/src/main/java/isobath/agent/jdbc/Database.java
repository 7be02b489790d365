package isobath.agent.jdbc;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.List;

/**
 * The database of the service, reached the way the service reaches it; so one in memory can be read, written and reset.
 *
 * <p>{@code java.sql} is not visible from the bootstrap loader, so whoever uses it ({@code isobath.agent.sql.Access})
 * is defined in a loader of its own.
 */
public final class Database {
    private static final String PACKAGE = "isobath.agent.sql.";
    private static Session session;
    private static boolean isKept;

    private Database() {}

    /** A connection of ours. */
    public interface Session {
        /** Runs statements; the rows of the last that has some. */
        List<List<String>> run(List<String> statements) throws Exception;

        /** Remembers all rows, the first time; puts them back, later. */
        void reset() throws Exception;

        /** The database system, then its tables as SQL. */
        List<List<String>> describe() throws Exception;
    }

    private interface Work<T> {
        T on(Session session) throws Exception;
    }

    /** Does something of ours, of which nothing is told. */
    private static <T> T ours(Work<T> work) throws Exception {
        Jdbc.ours(true);
        try {
            return work.on(session());
        } finally {
            Jdbc.ours(false);
        }
    }

    /** Runs statements on the database of the service. */
    public static synchronized List<List<String>> run(String text) throws Exception {
        List<String> statements = Text.split(text);
        for (String statement : statements) {
            if (!statement.trim().regionMatches(true, 0, "SELECT", 0, 6)) {
                Jdbc.touch();
            }
        }
        return ours(session -> session.run(statements));
    }

    /** Puts the rows back that were there when this was called first. */
    public static synchronized void reset() throws Exception {
        if (!Jdbc.takeChanged() && isKept) {
            return;
        }
        ours(
                session -> {
                    session.reset();
                    return null;
                });
        isKept = true;
    }

    /** The database system, then its tables as SQL. */
    public static synchronized List<List<String>> describe() throws Exception {
        return ours(Session::describe);
    }

    private static Session session() throws Exception {
        if (session == null) {
            Jdbc.Source source = Jdbc.source();
            if (source == null) {
                throw new IllegalStateException("the service has not connected to a database through JDBC");
            }
            // Others may have rows in them that somebody needs.
            if (!isInMemory(source.url)) {
                throw new IllegalStateException("only databases in memory are written to; name others by --db");
            }
            session = connect(source.driver, source.url, source.properties);
        }
        return session;
    }

    /** A connection of our own. */
    static Session connect(Object driver, String url, Object properties) throws Exception {
        Class<?> access = new Loader(driver.getClass().getClassLoader()).loadClass(PACKAGE + "Access");
        return (Session) access.getConstructor(Object.class, String.class, Object.class).newInstance(driver, url, properties);
    }

    static boolean isInMemory(String url) {
        return url.startsWith("jdbc:h2:mem:")
                || url.startsWith("jdbc:hsqldb:mem:")
                || url.startsWith("jdbc:derby:memory:")
                || url.startsWith("jdbc:sqlite::memory:");
    }

    /** Defines the classes of one package where {@code java.sql} and the driver can be seen. */
    private static final class Loader extends ClassLoader {
        Loader(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream in = ClassLoader.getSystemResourceAsStream(file)) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                byte[] buffer = new byte[4096];
                for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                    bytes.write(buffer, 0, count);
                }
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (java.io.IOException | NullPointerException missing) {
                throw new ClassNotFoundException(name, missing);
            }
        }
    }
}
