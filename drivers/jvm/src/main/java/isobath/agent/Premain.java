package isobath.agent;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.util.jar.JarFile;

/**
 * Where the JVM enters the agent, before the service's own main.
 *
 * <p>Probes are called from every class loader, so the agent's own jar goes to the bootstrap search
 * path first; all other classes of the agent are then loaded from there. Whatever goes wrong is said
 * in one line and the service starts as if the agent were not there.
 */
public final class Premain {
    private Premain() {}

    /** Called by the JVM for {@code -javaagent}. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        try {
            URI jar = Premain.class.getProtectionDomain().getCodeSource().getLocation().toURI();
            instrumentation.appendToBootstrapClassLoaderSearch(new JarFile(new File(jar)));
            Agent.start(arguments, instrumentation);
        } catch (Throwable problem) {
            System.err.println("isobath-agent: the service runs unwatched: " + problem);
        }
    }

    /** Called by the JVM for {@code Launcher-Agent-Class}. */
    public static void agentmain(String arguments, Instrumentation instrumentation) {
        premain(arguments, instrumentation);
    }
}
