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
    private static final String ACCESS = "isobath.agent.sql.Access";
    private static Session session;
    private static boolean isKept;

    private Database() {}

    /** A connection of ours. */
    public interface Session {
        /** Runs statements; the rows of the last that has some. */
        List<List<String>> run(List<String> statements) throws Exception;

        /** Remembers all rows, the first time; puts them back, later. */
        void reset() throws Exception;
    }

    /** Runs statements on the database of the service. */
    public static synchronized List<List<String>> run(String text) throws Exception {
        Jdbc.ours(true);
        try {
            Jdbc.touch();
            return session().run(Text.split(text));
        } finally {
            Jdbc.ours(false);
        }
    }

    /** Puts the rows back that were there when this was called first. */
    public static synchronized void reset() throws Exception {
        if (!Jdbc.takeChanged() && isKept) {
            return;
        }
        Jdbc.ours(true);
        try {
            session().reset();
            isKept = true;
        } finally {
            Jdbc.ours(false);
        }
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
            Class<?> access = new Loader(source.driver.getClass().getClassLoader()).loadClass(ACCESS);
            session =
                    (Session)
                            access.getConstructor(Object.class, String.class, Object.class)
                                    .newInstance(source.driver, source.url, source.properties);
        }
        return session;
    }

    static boolean isInMemory(String url) {
        return url.startsWith("jdbc:h2:mem:")
                || url.startsWith("jdbc:hsqldb:mem:")
                || url.startsWith("jdbc:derby:memory:")
                || url.startsWith("jdbc:sqlite::memory:");
    }

    /** Defines one class, and what is in it, where {@code java.sql} and the driver can be seen. */
    private static final class Loader extends ClassLoader {
        Loader(ClassLoader parent) {
            super(parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(ACCESS)) {
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
