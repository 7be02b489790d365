package isobath.agent.weave;

import java.util.Map;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;

/**
 * Changes to the code of a method.
 *
 * <p>Probes are planned on the method of the class file. They are inserted into that method, or, when another agent
 * changed the class before us, into the method that is loaded, at the instructions that correspond.
 */
final class Edits {
    private enum Mode {
        NONE,
        SAME,
        COUNTERPART
    }

    private final Mode mode;
    private final InsnList code;
    private final Map<AbstractInsnNode, AbstractInsnNode> counterparts;
    /** Whether an instruction that needs a probe has no counterpart. */
    private boolean isIncomplete;

    private Edits(Mode mode, InsnList code, Map<AbstractInsnNode, AbstractInsnNode> counterparts) {
        this.mode = mode;
        this.code = code;
        this.counterparts = counterparts;
    }

    /** Changes nothing: only the targets are wanted. */
    static Edits none() {
        return new Edits(Mode.NONE, null, null);
    }

    /** Changes the code that the probes are planned on. */
    static Edits of(InsnList code) {
        return new Edits(Mode.SAME, code, null);
    }

    /** Changes the loaded code at the counterparts of the planned instructions. */
    static Edits of(InsnList loaded, Map<AbstractInsnNode, AbstractInsnNode> counterparts) {
        return new Edits(Mode.COUNTERPART, loaded, counterparts);
    }

    /** The code that is changed; null when none is. */
    InsnList code() {
        return code;
    }

    /** Whether some probes could not be inserted. */
    boolean isIncomplete() {
        return isIncomplete;
    }

    /** The instruction to change in place of one of the plan; null when there is none. */
    AbstractInsnNode counterpart(AbstractInsnNode planned) {
        switch (mode) {
            case SAME:
                return planned;
            case COUNTERPART:
                AbstractInsnNode found = counterparts.get(planned);
                isIncomplete |= found == null;
                return found;
            default:
                return null;
        }
    }

    void insertBefore(AbstractInsnNode planned, InsnList probe) {
        AbstractInsnNode node = counterpart(planned);
        if (node != null) {
            code.insertBefore(node, probe);
        }
    }

    void replace(AbstractInsnNode planned, InsnList probe) {
        AbstractInsnNode node = counterpart(planned);
        if (node != null) {
            code.insertBefore(node, probe);
            code.remove(node);
        }
    }
}
