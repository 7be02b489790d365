package isobath.agent.weave;

import java.util.ArrayList;
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
        return weave(bytes, first, new HashSet<>(), new ArrayList<>(), false);
    }

    /** A class with probes, numbered from {@code first} as in {@link #plan}. */
    public static Woven weave(byte[] bytes, int first) {
        Set<String> left = new HashSet<>();
        List<String> plain = new ArrayList<>();
        while (true) {
            try {
                return weave(bytes, first, left, plain, true);
            } catch (MethodTooLargeException tooLarge) {
                // Its targets keep their numbers; nothing will ever reach them.
                if (!left.add(tooLarge.getMethodName() + tooLarge.getDescriptor())) {
                    throw tooLarge;
                }
                plain.add(tooLarge.getMethodName() + ": with probes it would be longer than a method may be");
            }
        }
    }

    private static Woven weave(byte[] bytes, int first, Set<String> left, List<String> plain, boolean write) {
        ClassReader reader = new ClassReader(bytes);
        ClassNode type = new ClassNode();
        reader.accept(type, 0);
        Targets targets = new Targets(first, type.name, Source.of(type));
        References references = new References(type);
        for (int at = 0; at < type.methods.size(); at++) {
            MethodNode method = type.methods.get(at);
            boolean isBridge = (method.access & Opcodes.ACC_BRIDGE) != 0;
            if (isBridge || method.instructions.size() == 0) {
                continue;
            }
            if (isGenerated(type, method) || Kotlin.adds(type, method)) {
                MethodWeaver.follow(method);
                continue;
            }
            boolean keep = left.contains(method.name + method.desc);
            MethodNode woven = keep ? copy(method) : method;
            targets.in(type.name.replace('/', '.') + "." + method.name);
            new MethodWeaver(woven, targets, references, write && !keep).weave();
        }
        if (!write) {
            return new Woven(null, targets.all(), plain);
        }
        references.finish();
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        type.accept(writer);
        return new Woven(writer.toByteArray(), targets.all(), plain);
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

    private static MethodNode copy(MethodNode method) {
        String[] exceptions = method.exceptions.toArray(new String[0]);
        MethodNode copy =
                new MethodNode(Opcodes.ASM9, method.access, method.name, method.desc, method.signature, exceptions);
        method.accept(copy);
        return copy;
    }
}
