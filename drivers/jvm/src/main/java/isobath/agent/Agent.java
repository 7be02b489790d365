package isobath.agent;

import isobath.agent.jdbc.Database;
import isobath.agent.jdbc.Door;
import isobath.agent.jdbc.Jdbc;
import isobath.agent.link.Frame;
import isobath.agent.link.Link;
import isobath.agent.link.Target;
import isobath.agent.probe.Recording;
import isobath.agent.service.Entities;
import isobath.agent.service.Failures;
import isobath.agent.service.Outgoing;
import isobath.agent.service.Servers;
import isobath.agent.service.ServiceClasses;
import isobath.agent.service.Traces;
import isobath.agent.track.Track;
import isobath.agent.weave.Weaver;
import isobath.agent.weave.Woven;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Starts the agent: finds the classes of the service, tells the core their targets, and watches. */
public final class Agent {
    /** Programs that start services and are none; the agent flag may reach them by the environment. */
    private static final String[] LAUNCHERS = {
        "org.codehaus.plexus.classworlds.launcher.", "org.apache.maven.wrapper.", "org.gradle.", "worker.org.gradle.",
        "com.sun.tools.", "jdk.", "sun.tools.", "xsbt.", "org.jetbrains.kotlin.daemon.",
    };

    private Agent() {}

    /** Starts watching, when there is a core. */
    public static void start(String arguments, Instrumentation instrumentation) throws IOException {
        Settings settings = Settings.of(System.getenv(), arguments);
        String command = System.getProperty("sun.java.command", "");
        if (isLauncher(command)) {
            return;
        }
        if (settings.door > 0) {
            try {
                Door.open(settings.door, settings.doorToken);
            } catch (IOException refused) {
                System.err.println("isobath-agent: tests cannot bring rows at port " + settings.door + ": " + refused.getMessage());
            }
        }
        if (settings.address == null) {
            if (settings.door > 0) {
                // Only to know how the service reaches its database.
                instrumentation.addTransformer(Transformer.ofDrivers(), true);
            }
            return;
        }
        Map<String, byte[]> classes =
                ServiceClasses.find(
                        settings,
                        command,
                        System.getProperty("java.class.path"),
                        System.getProperty("jdk.module.path"),
                        System.getProperty("catalina.base"),
                        System.getProperty("jetty.base"));
        Entities.read(classes);
        List<Target> targets = new ArrayList<>();
        List<Frame> unwatched = new ArrayList<>();
        Map<String, int[]> blocks = new HashMap<>();
        Set<String> names = new HashSet<>();
        for (Map.Entry<String, byte[]> type : classes.entrySet()) {
            String name = type.getKey().replace('/', '.');
            names.add(name);
            try {
                Woven plan = Weaver.plan(type.getValue(), targets.size());
                blocks.put(type.getKey(), new int[] {targets.size(), plan.targets.size()});
                targets.addAll(plan.targets);
            } catch (RuntimeException problem) {
                unwatched.add(Frame.unwatched(name, String.valueOf(problem)));
            }
        }
        Link link = Link.open(settings, targets, targets.size());
        Recording.into(link.map(), settings.methods);
        Failures.watch(names);
        Traces.hide(instrumentation);
        Outgoing.watch();
        Servers.hurry();
        for (Frame frame : unwatched) {
            link.queue().add(frame);
        }
        // Retransformers come last, so that agents that compute coverage see the classes as they are in the files.
        instrumentation.addTransformer(new Transformer(classes, blocks, link.queue()), true);
        link.serve(new Commands());
    }

    static boolean isLauncher(String command) {
        for (String launcher : LAUNCHERS) {
            if (command.startsWith(launcher)) {
                return true;
            }
        }
        return false;
    }

    private static final class Commands implements Link.Services {
        @Override
        public void track(List<String> inputs) {
            Track.also(inputs);
        }

        @Override
        public void settle() {
            Jdbc.settle();
        }

        @Override
        public void reset() throws Exception {
            Database.reset();
        }

        @Override
        public List<List<String>> runSql(String text) throws Exception {
            return Database.run(text);
        }

        @Override
        public List<List<String>> describe() throws Exception {
            return Database.describe();
        }
    }
}
