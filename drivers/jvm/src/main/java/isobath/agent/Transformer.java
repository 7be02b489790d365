package isobath.agent;

import isobath.agent.jdbc.JdbcWeaver;
import isobath.agent.link.Frame;
import isobath.agent.link.Queue;
import isobath.agent.service.JsonReaders;
import isobath.agent.service.Servers;
import isobath.agent.service.Validators;
import isobath.agent.weave.LibraryWeaver;
import isobath.agent.weave.Weaver;
import isobath.agent.weave.Woven;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Changes classes as they are loaded. A class that cannot be changed is left as it is, and told of.
 *
 * <p>When another agent retransforms a class, its bytes come here again without our changes, and get them again. A class
 * that was loaded without them never gets them later: methods cannot be added to it then.
 */
final class Transformer implements ClassFileTransformer {
    /** The class files of the service. */
    private final Map<String, byte[]> classes;
    /** The first target and the number of targets of each class of the service; null to change drivers of databases only. */
    private final Map<String, int[]> blocks;
    private final Queue queue;
    /** Names of the changed classes of each loader. */
    private final Map<ClassLoader, Set<String>> changed = new WeakHashMap<>();
    private final Set<String> told = Collections.synchronizedSet(new HashSet<>());

    Transformer(Map<String, byte[]> classes, Map<String, int[]> blocks, Queue queue) {
        this.classes = classes;
        this.blocks = blocks;
        this.queue = queue;
    }

    /** One that changes drivers of databases and nothing else. */
    static ClassFileTransformer ofDrivers() {
        return new Transformer(new HashMap<>(), null, null);
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || name == null || name.startsWith("isobath/agent/")) {
            return null;
        }
        if (redefined != null && !isChanged(loader, name)) {
            return null;
        }
        try {
            byte[] woven = weave(loader, name, bytes);
            if (woven != null) {
                remember(loader, name);
            }
            return woven;
        } catch (Throwable problem) {
            tell(name.replace('/', '.'), String.valueOf(problem));
            return null;
        }
    }

    private void remember(ClassLoader loader, String name) {
        synchronized (changed) {
            Set<String> names = changed.get(loader);
            if (names == null) {
                names = new HashSet<>();
                changed.put(loader, names);
            }
            names.add(name);
        }
    }

    private boolean isChanged(ClassLoader loader, String name) {
        synchronized (changed) {
            Set<String> names = changed.get(loader);
            return names != null && names.contains(name);
        }
    }

    private byte[] weave(ClassLoader loader, String name, byte[] bytes) {
        if (blocks == null) {
            return JdbcWeaver.weave(loader, bytes);
        }
        int[] block = blocks.get(name);
        return block == null ? library(loader, name, bytes) : service(name, bytes, block);
    }

    private byte[] service(String name, byte[] bytes, int[] block) {
        String dotted = name.replace('/', '.');
        Woven woven = Weaver.weave(classes.get(name), bytes, block[0]);
        if (woven.targets.size() != block[1]) {
            throw new IllegalStateException("its targets are not those that were planned");
        }
        for (String method : woven.plain) {
            tell(dotted + "." + method.substring(0, method.indexOf(':')), method);
        }
        return woven.bytes;
    }

    /** Tells of code that is not watched, once. */
    private void tell(String code, String reason) {
        if (queue != null && told.add(code)) {
            queue.add(Frame.unwatched(code, reason));
        }
    }

    private static byte[] library(ClassLoader loader, String name, byte[] bytes) {
        if (name.startsWith("java/") || name.startsWith("sun/") || name.startsWith("jdk/")) {
            return null;
        }
        if (Servers.concerns(name)) {
            return Servers.weave(bytes);
        }
        if (JsonReaders.concerns(name)) {
            return JsonReaders.weave(bytes);
        }
        byte[] telling = JdbcWeaver.weave(loader, bytes);
        if (telling == null) {
            telling = Validators.weave(bytes);
        }
        return telling != null ? telling : LibraryWeaver.weave(bytes);
    }
}
