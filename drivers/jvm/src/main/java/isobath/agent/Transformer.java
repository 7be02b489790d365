package isobath.agent;

import isobath.agent.jdbc.JdbcWeaver;
import isobath.agent.link.Frame;
import isobath.agent.link.Queue;
import isobath.agent.service.Servers;
import isobath.agent.service.Validators;
import isobath.agent.weave.LibraryWeaver;
import isobath.agent.weave.Weaver;
import isobath.agent.weave.Woven;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Map;

/** Changes classes as they are loaded. A class that cannot be changed is left as it is, and told of. */
final class Transformer implements ClassFileTransformer {
    /** The first target and the number of targets of each class of the service. */
    private final Map<String, int[]> blocks;
    private final Queue queue;

    Transformer(Map<String, int[]> blocks, Queue queue) {
        this.blocks = blocks;
        this.queue = queue;
    }

    /** One that changes drivers of databases and nothing else. */
    static ClassFileTransformer ofDrivers() {
        return new ClassFileTransformer() {
            @Override
            public byte[] transform(
                    ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
                if (loader == null || name == null || redefined != null || name.startsWith("isobath/agent/")) {
                    return null;
                }
                try {
                    return JdbcWeaver.weave(loader, bytes);
                } catch (Throwable problem) {
                    return null;
                }
            }
        };
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || name == null || redefined != null || name.startsWith("isobath/agent/")) {
            return null;
        }
        try {
            int[] block = blocks.get(name);
            return block == null ? library(loader, name, bytes) : service(name, bytes, block);
        } catch (Throwable problem) {
            queue.add(Frame.unwatched(name.replace('/', '.'), String.valueOf(problem)));
            return null;
        }
    }

    private byte[] service(String name, byte[] bytes, int[] block) {
        Woven woven = Weaver.weave(bytes, block[0]);
        String dotted = name.replace('/', '.');
        if (woven.targets.size() != block[1]) {
            queue.add(Frame.unwatched(dotted, "what is loaded is not what was found on the class path"));
            return null;
        }
        for (String method : woven.plain) {
            queue.add(Frame.unwatched(dotted + "." + method.substring(0, method.indexOf(':')), method));
        }
        return woven.bytes;
    }

    private static byte[] library(ClassLoader loader, String name, byte[] bytes) {
        if (name.startsWith("java/") || name.startsWith("sun/") || name.startsWith("jdk/")) {
            return null;
        }
        if (Servers.concerns(name)) {
            return Servers.weave(bytes);
        }
        byte[] telling = JdbcWeaver.weave(loader, bytes);
        if (telling == null) {
            telling = Validators.weave(bytes);
        }
        return telling != null ? telling : LibraryWeaver.weave(bytes);
    }
}
