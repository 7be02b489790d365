package isobath.agent.weave;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodTooLargeException;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Puts probes into a class of the service.
 *
 * <p>Only straight-line code is inserted, never a jump, a local or a handler. So the frames of the class
 * stay right as they are, nothing has to be known about other classes, and none is loaded.
 */
public final class Weaver {
    private Weaver() {}

    /** The targets of a class, numbered from {@code first}. */
    public static Woven plan(byte[] bytes, int first) {
        return weave(bytes, null, first, new HashSet<>(), false);
    }

    /** A class with probes, numbered from {@code first} as in {@link #plan}. */
    public static Woven weave(byte[] bytes, int first) {
        return weave(bytes, bytes, first);
    }

    /**
     * A class as it is loaded, with the probes that were planned for its class file.
     *
     * @param planned the class file, from which {@link #plan} took the targets
     * @param loaded what another agent, or the class loader, made of it
     */
    public static Woven weave(byte[] planned, byte[] loaded, int first) {
        Set<String> left = new HashSet<>();
        byte[] changed = Arrays.equals(planned, loaded) ? null : loaded;
        while (true) {
            try {
                return weave(planned, changed, first, left, true);
            } catch (MethodTooLargeException tooLarge) {
                // Its targets keep their numbers; nothing will ever reach them.
                if (!left.add(tooLarge.getMethodName() + tooLarge.getDescriptor())) {
                    throw tooLarge;
                }
            }
        }
    }

    private static Woven weave(byte[] planned, byte[] changed, int first, Set<String> left, boolean write) {
        ClassNode type = read(planned);
        ClassNode loaded = changed == null ? type : read(changed);
        List<String> plain = new ArrayList<>();
        Targets targets = new Targets(first, type.name, Source.of(type));
        References references = new References(loaded);
        for (int at = 0; at < type.methods.size(); at++) {
            MethodNode method = type.methods.get(at);
            boolean isBridge = (method.access & Opcodes.ACC_BRIDGE) != 0;
            if (isBridge || method.instructions.size() == 0) {
                continue;
            }
            MethodNode counterpart = changed == null ? method : find(loaded, method);
            if (isGenerated(type, method) || Kotlin.adds(type, method)) {
                if (counterpart != null) {
                    MethodWeaver.follow(counterpart);
                }
                continue;
            }
            Edits edits = Edits.none();
            if (left.contains(method.name + method.desc)) {
                plain.add(method.name + ": with probes it would be longer than a method may be");
            } else if (write && changed == null) {
                edits = Edits.of(method.instructions);
            } else if (write && counterpart != null) {
                edits = Edits.of(counterpart.instructions, Alignment.of(method.instructions, counterpart.instructions));
            } else if (write) {
                plain.add(method.name + ": the loaded class does not have this method of the class file");
            }
            targets.in(type.name.replace('/', '.') + "." + method.name);
            new MethodWeaver(method, targets, references, edits).weave();
            if (edits.isIncomplete()) {
                plain.add(method.name + ": the loaded code lacks instructions of the class file; some targets are not watched");
            }
        }
        if (!write) {
            return new Woven(null, targets.all(), plain);
        }
        references.finish();
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        loaded.accept(writer);
        return new Woven(writer.toByteArray(), targets.all(), plain);
    }

    private static ClassNode read(byte[] bytes) {
        ClassNode type = new ClassNode();
        new ClassReader(bytes).accept(type, 0);
        return type;
    }

    private static MethodNode find(ClassNode type, MethodNode wanted) {
        for (MethodNode method : type.methods) {
            if (method.name.equals(wanted.name) && method.desc.equals(wanted.desc)) {
                return method.instructions.size() == 0 ? null : method;
            }
        }
        return null;
    }

    /** What the compiler adds to every enum is nobody's code, nor is what only keeps others from making an object. */
    private static boolean isGenerated(ClassNode type, MethodNode method) {
        if (method.name.equals("<init>") && method.desc.equals("()V") && (method.access & Opcodes.ACC_PRIVATE) != 0) {
            int instructions = 0;
            for (AbstractInsnNode node : method.instructions) {
                instructions += node.getOpcode() < 0 ? 0 : 1;
            }
            // A load, the constructor above, and a return.
            return instructions == 3;
        }
        boolean isEnum = (type.access & Opcodes.ACC_ENUM) != 0;
        return isEnum
                && ((method.name.equals("valueOf") && method.desc.startsWith("(Ljava/lang/String;)"))
                        || (method.name.equals("values") && method.desc.startsWith("()[")));
    }
}
