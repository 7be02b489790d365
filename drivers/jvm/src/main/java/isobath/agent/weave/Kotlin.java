package isobath.agent.weave;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * What the Kotlin compiler adds to the code of a service: state machines of coroutines, default arguments, and arms
 * that nothing reaches. No input decides about it, so it gets no targets.
 */
final class Kotlin {
    private Kotlin() {}

    /** Whether a method has no lines in a class that has some: members of data classes, bridges of lambdas. */
    static boolean adds(ClassNode type, MethodNode method) {
        return isKotlin(type) && !hasLines(method) && type.methods.stream().anyMatch(Kotlin::hasLines);
    }

    private static boolean isKotlin(ClassNode type) {
        if (type.visibleAnnotations != null) {
            for (AnnotationNode annotation : type.visibleAnnotations) {
                if (annotation.desc.equals("Lkotlin/Metadata;")) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean hasLines(MethodNode method) {
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof LineNumberNode) {
                return true;
            }
        }
        return false;
    }

    /** The jumps, switches and casts of a method that the compiler added. */
    static Set<AbstractInsnNode> added(MethodNode method) {
        Set<AbstractInsnNode> added = new HashSet<>();
        boolean hasDefaults =
                (method.access & Opcodes.ACC_SYNTHETIC) != 0
                        && (method.name.endsWith("$default")
                                || method.desc.endsWith("Lkotlin/jvm/internal/DefaultConstructorMarker;)V"));
        Set<Integer> suspended = new HashSet<>();
        for (AbstractInsnNode node : method.instructions) {
            if (isSuspended(node)) {
                stateMachine(method, node, added);
                AbstractInsnNode kept = Code.real(node.getNext());
                if (kept instanceof VarInsnNode && kept.getOpcode() == Opcodes.ASTORE) {
                    suspended.add(((VarInsnNode) kept).var);
                }
            } else if (node instanceof JumpInsnNode && node.getOpcode() != Opcodes.GOTO) {
                AbstractInsnNode before = before(node);
                boolean isReturn = isReference(node) && (isSuspended(before) || isLoadOf(before, suspended));
                boolean isDefault = hasDefaults && (isMask(before) || throwsNew(node.getNext(), "UnsupportedOperationException"));
                if (isReturn || isDefault || isExhausted((JumpInsnNode) node)) {
                    added.add(node);
                }
            }
        }
        return added;
    }

    /** The call that asks for the mark of a function that waits. */
    private static boolean isSuspended(AbstractInsnNode node) {
        return node instanceof MethodInsnNode
                && ((MethodInsnNode) node).name.equals("getCOROUTINE_SUSPENDED")
                && ((MethodInsnNode) node).owner.startsWith("kotlin/coroutines/intrinsics/");
    }

    /** Where the function goes on, by {@code label}; what comes before only finds or makes the object that holds it. */
    private static void stateMachine(MethodNode method, AbstractInsnNode mark, Set<AbstractInsnNode> added) {
        AbstractInsnNode store = Code.real(mark.getNext());
        AbstractInsnNode load = store == null ? null : Code.real(store.getNext());
        AbstractInsnNode label = load == null ? null : Code.real(load.getNext());
        boolean isLabel = label instanceof FieldInsnNode && ((FieldInsnNode) label).name.equals("label");
        AbstractInsnNode places = isLabel ? Code.real(label.getNext()) : null;
        if (!(places instanceof TableSwitchInsnNode)) {
            return;
        }
        added.add(places);
        for (AbstractInsnNode node = method.instructions.getFirst(); node != mark; node = node.getNext()) {
            if (node instanceof JumpInsnNode || node.getOpcode() == Opcodes.CHECKCAST) {
                added.add(node);
            }
        }
    }

    private static boolean isReference(AbstractInsnNode jump) {
        return jump.getOpcode() == Opcodes.IF_ACMPEQ || jump.getOpcode() == Opcodes.IF_ACMPNE;
    }

    private static boolean isLoadOf(AbstractInsnNode node, Set<Integer> locals) {
        return node instanceof VarInsnNode
                && node.getOpcode() == Opcodes.ALOAD
                && locals.contains(((VarInsnNode) node).var);
    }

    /** Whether an argument was left out is a bit. */
    private static boolean isMask(AbstractInsnNode node) {
        return node != null && node.getOpcode() == Opcodes.IAND;
    }

    /** {@code when} over all there is: the last of its arms is no choice. */
    private static boolean isExhausted(JumpInsnNode jump) {
        String impossible = "NoWhenBranchMatchedException";
        return throwsNew(jump.label, impossible) || throwsNew(jump.getNext(), impossible);
    }

    private static boolean throwsNew(AbstractInsnNode at, String type) {
        AbstractInsnNode node = Code.real(at);
        return node != null && node.getOpcode() == Opcodes.NEW && ((TypeInsnNode) node).desc.endsWith("/" + type);
    }

    private static AbstractInsnNode before(AbstractInsnNode node) {
        AbstractInsnNode before = node.getPrevious();
        while (before != null && before.getOpcode() < 0) {
            before = before.getPrevious();
        }
        return before;
    }
}
