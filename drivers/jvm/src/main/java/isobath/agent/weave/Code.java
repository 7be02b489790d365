package isobath.agent.weave;

import isobath.agent.measure.Relation;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;

/** Small pieces of bytecode. */
final class Code {
    private Code() {}

    /** Pushes a number. */
    static void push(InsnList code, int value) {
        if (value >= -1 && value <= 5) {
            code.add(new InsnNode(Opcodes.ICONST_0 + value));
        } else if (value >= Byte.MIN_VALUE && value <= Byte.MAX_VALUE) {
            code.add(new IntInsnNode(Opcodes.BIPUSH, value));
        } else if (value >= Short.MIN_VALUE && value <= Short.MAX_VALUE) {
            code.add(new IntInsnNode(Opcodes.SIPUSH, value));
        } else {
            code.add(new LdcInsnNode(value));
        }
    }

    /** Calls a static method of the agent. */
    static void call(InsnList code, String owner, String name, String descriptor) {
        code.add(new MethodInsnNode(Opcodes.INVOKESTATIC, owner, name, descriptor, false));
    }

    /** The next instruction, if nobody can jump to it. */
    static AbstractInsnNode follower(AbstractInsnNode instruction) {
        AbstractInsnNode next = instruction.getNext();
        return next != null && next.getOpcode() >= 0 ? next : null;
    }

    /** The next instruction that is one. */
    static AbstractInsnNode real(AbstractInsnNode instruction) {
        AbstractInsnNode next = instruction;
        while (next != null && next.getOpcode() < 0) {
            next = next.getNext();
        }
        return next;
    }

    /** Whether a node is only about the code and not the code. */
    static boolean isNote(AbstractInsnNode node) {
        return node instanceof LineNumberNode || node instanceof FrameNode;
    }

    /** Whether an instruction jumps by comparing an integer with zero. */
    static boolean looksAtZero(AbstractInsnNode instruction) {
        return instruction != null
                && instruction.getOpcode() >= Opcodes.IFEQ
                && instruction.getOpcode() <= Opcodes.IFLE;
    }

    /** The relation by which a jump instruction does not jump: mostly that of the source. */
    static int falling(int opcode) {
        switch (opcode) {
            case Opcodes.IFEQ:
            case Opcodes.IF_ICMPEQ:
                return Relation.NOT_EQUAL;
            case Opcodes.IFNE:
            case Opcodes.IF_ICMPNE:
                return Relation.EQUAL;
            case Opcodes.IFLT:
            case Opcodes.IF_ICMPLT:
                return Relation.GREATER_OR_EQUAL;
            case Opcodes.IFGE:
            case Opcodes.IF_ICMPGE:
                return Relation.LESS;
            case Opcodes.IFGT:
            case Opcodes.IF_ICMPGT:
                return Relation.LESS_OR_EQUAL;
            default:
                return Relation.GREATER;
        }
    }
}
