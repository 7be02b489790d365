package isobath.agent.weave;

import isobath.agent.link.Target;
import isobath.agent.measure.Relation;
import isobath.agent.replace.Replacement;
import isobath.agent.replace.Replacements;
import isobath.agent.service.Requests;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/** Puts probes into one method. */
final class MethodWeaver {
    private static final String PROBE = "isobath/agent/probe/Probe";
    private static final String[] INTEGERS = {"eq", "ne", "lt", "le", "gt", "ge"};

    private final Targets targets;
    private final References references;
    /** The code that the probes are planned on. */
    private final InsnList code;
    private final Edits edits;
    /** Jumps and calls that what stands before them already told of, or that are the compiler's own. */
    private final Set<AbstractInsnNode> told;
    private final SwitchWeaver switches;
    private int line;

    MethodWeaver(MethodNode method, Targets targets, References references, Edits edits) {
        this.targets = targets;
        this.references = references;
        this.code = method.instructions;
        this.edits = edits;
        this.told = Kotlin.added(method);
        this.switches = new SwitchWeaver(targets, edits, told);
    }

    void weave() {
        int pending = -1;
        AbstractInsnNode begin = null;
        AbstractInsnNode next;
        for (AbstractInsnNode node = code.getFirst(); node != null; node = next) {
            next = node.getNext();
            if (node instanceof LineNumberNode) {
                line = ((LineNumberNode) node).line;
                pending = targets.counts(line) ? targets.line(line) : -1;
                begin = node;
            }
            if (node.getOpcode() < 0) {
                continue;
            }
            if (pending >= 0) {
                hit(pending, begin);
                pending = -1;
            }
            visit(node);
        }
    }

    /** Tells of a line where it begins: before the first instruction after its number. */
    private void hit(int target, AbstractInsnNode begin) {
        AbstractInsnNode first = Code.real(edits.counterpart(begin));
        if (first == null) {
            return;
        }
        InsnList probe = new InsnList();
        Code.push(probe, target);
        Code.call(probe, PROBE, "hit", "(I)V");
        if (first.getOpcode() == Opcodes.NEW) {
            keepFrames(first, probe);
        }
        edits.code().insertBefore(first, probe);
    }

    private void visit(AbstractInsnNode node) {
        int opcode = node.getOpcode();
        if (told.contains(node)) {
            return;
        }
        if (!targets.counts(line)) {
            if (node instanceof MethodInsnNode) {
                follow((MethodInsnNode) node, edits);
            }
        } else if (node instanceof MethodInsnNode) {
            call((MethodInsnNode) node);
        } else if (node instanceof InvokeDynamicInsnNode) {
            references.weave((InvokeDynamicInsnNode) node, targets, line, edits);
        } else if (opcode >= Opcodes.LCMP && opcode <= Opcodes.DCMPG) {
            compare(node);
        } else if (node instanceof JumpInsnNode && opcode != Opcodes.GOTO && opcode != Opcodes.JSR) {
            jump((JumpInsnNode) node);
        } else if (node instanceof TableSwitchInsnNode || node instanceof LookupSwitchInsnNode) {
            switches.weave(node, line);
        } else if (opcode == Opcodes.CHECKCAST) {
            cast((TypeInsnNode) node);
        }
    }

    private void jump(JumpInsnNode jump) {
        int opcode = jump.getOpcode();
        InsnList probe = new InsnList();
        switch (opcode) {
            case Opcodes.IFNULL:
            case Opcodes.IFNONNULL:
                boolean falls = opcode == Opcodes.IFNULL;
                probe.add(new InsnNode(Opcodes.DUP));
                Code.push(probe, condition(falls ? "!= null" : "== null"));
                Code.call(probe, PROBE, falls ? "notNull" : "isNull", "(Ljava/lang/Object;I)V");
                break;
            case Opcodes.IF_ACMPEQ:
            case Opcodes.IF_ACMPNE:
                boolean differs = opcode == Opcodes.IF_ACMPEQ;
                probe.add(new InsnNode(Opcodes.DUP2));
                Code.push(probe, condition(differs ? "!= of references" : "== of references"));
                Code.call(probe, PROBE, differs ? "different" : "same", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
                break;
            default:
                int relation = Code.falling(opcode);
                boolean zero = Code.looksAtZero(jump);
                probe.add(new InsnNode(zero ? Opcodes.DUP : Opcodes.DUP2));
                if (zero) {
                    Code.push(probe, 0);
                }
                Code.push(probe, condition(Relation.sign(relation) + (zero ? " 0" : "")));
                Code.call(probe, PROBE, INTEGERS[relation], "(III)V");
        }
        edits.insertBefore(jump, probe);
    }

    private int condition(String text) {
        return targets.pair(Target.TRUE, Target.FALSE, line, text);
    }

    /** A comparison of longs, floats or doubles; the jump that looks at its result says which relation is meant. */
    private void compare(AbstractInsnNode node) {
        AbstractInsnNode jump = Code.follower(node);
        if (!Code.looksAtZero(jump)) {
            return;
        }
        told.add(jump);
        int relation = Code.falling(jump.getOpcode());
        int opcode = node.getOpcode();
        InsnList probe = new InsnList();
        String operands = opcode == Opcodes.LCMP ? "JJ" : opcode <= Opcodes.FCMPG ? "FF" : "DD";
        if (opcode != Opcodes.LCMP) {
            Code.push(probe, opcode == Opcodes.FCMPG || opcode == Opcodes.DCMPG ? 1 : -1);
            operands += "I";
        }
        Code.push(probe, relation);
        Code.push(probe, condition(Relation.sign(relation)));
        Code.call(probe, PROBE, "order", "(" + operands + "II)I");
        edits.replace(node, probe);
    }

    private void cast(TypeInsnNode cast) {
        InsnList probe = new InsnList();
        String type = cast.desc.substring(cast.desc.lastIndexOf('/') + 1);
        int target = targets.add(Target.FAULT, line, "cast to " + type);
        probe.add(new InsnNode(Opcodes.DUP));
        probe.add(new InsnNode(Opcodes.DUP));
        probe.add(new TypeInsnNode(Opcodes.INSTANCEOF, cast.desc));
        Code.push(probe, target);
        Code.call(probe, PROBE, "cast", "(Ljava/lang/Object;ZI)V");
        edits.insertBefore(cast, probe);
    }

    private void call(MethodInsnNode call) {
        Requests.Name name = Requests.of(call.owner, call.name, call.desc);
        if (name != null) {
            edits.insertBefore(call, name.probe());
        }
        if (told.contains(Code.follower(call))) {
            // Only the compiler looks at what comes out.
            follow(call, edits);
            return;
        }
        if (orders(call)) {
            return;
        }
        Replacement replacement = replacement(call);
        if (replacement == null) {
            return;
        }
        int target = -1;
        String text = call.owner.substring(call.owner.lastIndexOf('/') + 1) + "." + call.name;
        if (replacement.outcomes == Replacement.Outcomes.VERDICT) {
            target = condition(text);
            AbstractInsnNode jump = Code.follower(call);
            boolean isVerdict = replacement.descriptor.endsWith(")Z");
            if (isVerdict && jump != null && (jump.getOpcode() == Opcodes.IFEQ || jump.getOpcode() == Opcodes.IFNE)) {
                told.add(jump);
            }
        } else if (replacement.outcomes == Replacement.Outcomes.SUCCESS) {
            target = targets.pair(Target.PROCEED, Target.LEAVE, line, text.replace(".<init>", ""));
        }
        InsnList probe = new InsnList();
        if (replacement.before) {
            probe.add(new InsnNode(Opcodes.DUP));
        }
        Code.push(probe, target);
        Code.call(probe, replacement.owner, replacement.name, replacement.descriptor);
        if (replacement.before) {
            edits.insertBefore(call, probe);
        } else {
            edits.replace(call, probe);
        }
    }

    /** Replaces calls as in a library: inputs are followed, and there are no targets. */
    static void follow(MethodNode method) {
        Edits edits = Edits.of(method.instructions);
        AbstractInsnNode next;
        for (AbstractInsnNode node = method.instructions.getFirst(); node != null; node = next) {
            next = node.getNext();
            if (node instanceof MethodInsnNode) {
                follow((MethodInsnNode) node, edits);
            }
        }
    }

    private static void follow(MethodInsnNode call, Edits edits) {
        Replacement found = replacement(call);
        if (found != null && found.everywhere && !found.before) {
            InsnList instead = new InsnList();
            Code.push(instead, -1);
            Code.call(instead, found.owner, found.name, found.descriptor);
            edits.replace(call, instead);
        }
    }

    private static Replacement replacement(MethodInsnNode call) {
        switch (call.getOpcode()) {
            case Opcodes.INVOKESTATIC:
                return Replacements.ofStatic(call.owner, call.name, call.desc);
            case Opcodes.INVOKESPECIAL:
                return call.name.equals("<init>") ? Replacements.ofStatic(call.owner, call.name, call.desc) : null;
            default:
                return Replacements.of(call.owner, call.name, call.desc);
        }
    }

    /** {@code compareTo} of the JDK's own types, whose result is looked at by a jump. */
    private boolean orders(MethodInsnNode call) {
        AbstractInsnNode jump = Code.follower(call);
        boolean isOrder =
                call.name.equals("compareTo")
                        && call.owner.startsWith("java/")
                        && call.desc.endsWith(";)I")
                        && call.getOpcode() != Opcodes.INVOKESPECIAL;
        if (!isOrder || !Code.looksAtZero(jump)) {
            return false;
        }
        told.add(jump);
        int relation = Code.falling(jump.getOpcode());
        InsnList probe = new InsnList();
        Code.push(probe, relation);
        Code.push(probe, condition("compareTo " + Relation.sign(relation) + " 0"));
        String descriptor = "(Ljava/lang/Comparable;Ljava/lang/Object;II)I";
        Code.call(probe, "isobath/agent/replace/Objects", "compareTo", descriptor);
        edits.replace(call, probe);
        return true;
    }

    /**
     * Frames name an object that is not initialized by the label of its {@code new}. A probe between that label and
     * the instruction would part them, so the instruction gets a label of its own.
     */
    private void keepFrames(AbstractInsnNode allocation, InsnList probe) {
        Map<LabelNode, LabelNode> renamed = new HashMap<>();
        LabelNode own = new LabelNode();
        AbstractInsnNode before = allocation.getPrevious();
        while (before != null && before.getOpcode() < 0) {
            if (before instanceof LabelNode) {
                renamed.put((LabelNode) before, own);
            }
            before = before.getPrevious();
        }
        probe.add(own);
        for (AbstractInsnNode node = edits.code().getFirst(); node != null; node = node.getNext()) {
            if (node instanceof FrameNode) {
                FrameNode frame = (FrameNode) node;
                rename(frame.local, renamed);
                rename(frame.stack, renamed);
            }
        }
    }

    private static void rename(List<Object> values, Map<LabelNode, LabelNode> renamed) {
        for (int at = 0; values != null && at < values.size(); at++) {
            if (renamed.containsKey(values.get(at))) {
                values.set(at, renamed.get(values.get(at)));
            }
        }
    }
}
