package isobath.agent.weave;

import isobath.agent.link.Target;
import isobath.agent.replace.Replacement;
import isobath.agent.replace.Replacements;
import java.util.ArrayList;
import java.util.List;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * References such as {@code Integer::parseInt}, which no call instruction shows: they come to refer to a method of the class itself
 * that makes the replaced call.
 */
final class References {
    private final ClassNode type;
    private final List<MethodNode> added = new ArrayList<>();

    References(ClassNode type) {
        this.type = type;
    }

    /** Lets a reference to a replaced method refer to one that is added. */
    void weave(InvokeDynamicInsnNode made, Targets targets, int line, Edits edits) {
        boolean isPlain =
                made.bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory") && made.bsm.getName().equals("metafactory");
        if (!isPlain || made.bsmArgs.length < 3 || !(made.bsmArgs[1] instanceof Handle)) {
            return;
        }
        Handle original = (Handle) made.bsmArgs[1];
        Replacement found = replacement(original);
        if (found == null || found.before) {
            return;
        }
        String text = original.getOwner().substring(original.getOwner().lastIndexOf('/') + 1) + "::" + original.getName();
        int target = -1;
        if (found.outcomes == Replacement.Outcomes.VERDICT) {
            target = targets.pair(Target.TRUE, Target.FALSE, line, text);
        } else if (found.outcomes == Replacement.Outcomes.SUCCESS) {
            target = targets.pair(Target.PROCEED, Target.LEAVE, line, text);
        }
        InvokeDynamicInsnNode loaded = (InvokeDynamicInsnNode) edits.counterpart(made);
        if (loaded != null) {
            boolean isStatic = original.getTag() == Opcodes.H_INVOKESTATIC;
            String receiver = isStatic ? "" : "L" + original.getOwner() + ";";
            String descriptor = "(" + receiver + original.getDesc().substring(1);
            MethodNode bridge = bridge(descriptor, found, target);
            added.add(bridge);
            boolean isInterface = (type.access & Opcodes.ACC_INTERFACE) != 0;
            loaded.bsmArgs[1] = new Handle(Opcodes.H_INVOKESTATIC, type.name, bridge.name, descriptor, isInterface);
        }
    }

    /** Adds the methods to the class, when all of its own are done. */
    void finish() {
        type.methods.addAll(added);
    }

    private static Replacement replacement(Handle handle) {
        switch (handle.getTag()) {
            case Opcodes.H_INVOKESTATIC:
                return Replacements.ofStatic(handle.getOwner(), handle.getName(), handle.getDesc());
            case Opcodes.H_INVOKEVIRTUAL:
            case Opcodes.H_INVOKEINTERFACE:
                return Replacements.of(handle.getOwner(), handle.getName(), handle.getDesc());
            default:
                return null;
        }
    }

    private MethodNode bridge(String descriptor, Replacement found, int target) {
        int access = Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC;
        MethodNode bridge = new MethodNode(access, "isobath$reference" + added.size(), descriptor, null, null);
        InsnList code = bridge.instructions;
        int local = 0;
        for (Type argument : Type.getArgumentTypes(descriptor)) {
            code.add(new VarInsnNode(argument.getOpcode(Opcodes.ILOAD), local));
            local += argument.getSize();
        }
        Code.push(code, target);
        Code.call(code, found.owner, found.name, found.descriptor);
        code.add(new InsnNode(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN)));
        bridge.maxLocals = local;
        return bridge;
    }
}
