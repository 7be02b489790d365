package isobath.agent.weave;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Finds the instructions of a class file in the code that another agent made of it.
 *
 * <p>Agents add instructions and locals, route jumps through code of their own and, for that, invert conditions. Lines,
 * calls, comparisons, conditions, switches and casts keep their order. These are aligned; all else is not looked at.
 */
final class Alignment {
    /** The largest table of the longest common subsequence, in cells. */
    private static final long LARGEST = 9_000_000;

    private Alignment() {}

    /** The counterpart in {@code loaded} of each instruction of {@code planned} that can have a probe. */
    static Map<AbstractInsnNode, AbstractInsnNode> of(InsnList planned, InsnList loaded) {
        List<AbstractInsnNode> from = new ArrayList<>();
        List<AbstractInsnNode> to = new ArrayList<>();
        String[] wanted = keys(planned, from);
        String[] found = keys(loaded, to);
        Map<AbstractInsnNode, AbstractInsnNode> counterparts = new IdentityHashMap<>();
        int start = 0;
        while (start < wanted.length && start < found.length && wanted[start].equals(found[start])) {
            counterparts.put(from.get(start), to.get(start));
            start++;
        }
        int wantedEnd = wanted.length;
        int foundEnd = found.length;
        while (wantedEnd > start && foundEnd > start && wanted[wantedEnd - 1].equals(found[foundEnd - 1])) {
            counterparts.put(from.get(--wantedEnd), to.get(--foundEnd));
        }
        int[] matches =
                match(Arrays.copyOfRange(wanted, start, wantedEnd), Arrays.copyOfRange(found, start, foundEnd));
        for (int at = 0; at < matches.length; at++) {
            if (matches[at] >= 0) {
                counterparts.put(from.get(start + at), to.get(start + matches[at]));
            }
        }
        return counterparts;
    }

    private static String[] keys(InsnList code, List<AbstractInsnNode> nodes) {
        List<String> keys = new ArrayList<>();
        for (AbstractInsnNode node : code) {
            String key = key(node);
            if (key != null) {
                nodes.add(node);
                keys.add(key);
            }
        }
        return keys.toArray(new String[0]);
    }

    /** What does not change when code is added around an instruction; null where no probe depends on it. */
    private static String key(AbstractInsnNode node) {
        int opcode = node.getOpcode();
        if (node instanceof LineNumberNode) {
            return "line " + ((LineNumberNode) node).line;
        }
        if (node instanceof MethodInsnNode) {
            MethodInsnNode call = (MethodInsnNode) node;
            return opcode + " " + call.owner + "." + call.name + call.desc;
        }
        if (node instanceof InvokeDynamicInsnNode) {
            InvokeDynamicInsnNode call = (InvokeDynamicInsnNode) node;
            return "dynamic " + call.name + call.desc + Arrays.toString(call.bsmArgs);
        }
        if (opcode >= Opcodes.LCMP && opcode <= Opcodes.DCMPG) {
            return "compare " + opcode;
        }
        if (node instanceof JumpInsnNode && opcode != Opcodes.GOTO && opcode != Opcodes.JSR) {
            // A condition and its inverse have operands of the same kind: the relation is that of the plan.
            return "jump " + Math.min(opcode, inverse(opcode));
        }
        if (node instanceof TableSwitchInsnNode) {
            return "table " + ((TableSwitchInsnNode) node).min + ".." + ((TableSwitchInsnNode) node).max;
        }
        if (node instanceof LookupSwitchInsnNode) {
            return "lookup " + ((LookupSwitchInsnNode) node).keys;
        }
        return opcode == Opcodes.CHECKCAST ? "cast " + ((TypeInsnNode) node).desc : null;
    }

    private static int inverse(int opcode) {
        if (opcode == Opcodes.IFNULL || opcode == Opcodes.IFNONNULL) {
            return Opcodes.IFNULL + Opcodes.IFNONNULL - opcode;
        }
        return ((opcode + 1) ^ 1) - 1;
    }

    /** For each wanted key the position of an equal one, in rising order; -1 where there is none. */
    private static int[] match(String[] wanted, String[] found) {
        int[] matches = new int[wanted.length];
        int at = 0;
        int matched = 0;
        for (int wish = 0; wish < wanted.length; wish++) {
            while (at < found.length && !found[at].equals(wanted[wish])) {
                at++;
            }
            boolean isFound = at < found.length;
            matches[wish] = isFound ? at++ : -1;
            matched += isFound ? 1 : 0;
        }
        boolean isAll = matched == wanted.length;
        return isAll || (long) wanted.length * found.length > LARGEST ? matches : longest(wanted, found);
    }

    private static int[] longest(String[] wanted, String[] found) {
        int[][] lengths = new int[wanted.length + 1][found.length + 1];
        for (int wish = wanted.length - 1; wish >= 0; wish--) {
            for (int at = found.length - 1; at >= 0; at--) {
                lengths[wish][at] =
                        wanted[wish].equals(found[at])
                                ? lengths[wish + 1][at + 1] + 1
                                : Math.max(lengths[wish + 1][at], lengths[wish][at + 1]);
            }
        }
        int[] matches = new int[wanted.length];
        int at = 0;
        for (int wish = 0; wish < wanted.length; wish++) {
            matches[wish] = -1;
            while (at < found.length && lengths[wish][at] > lengths[wish + 1][at]) {
                if (wanted[wish].equals(found[at])) {
                    matches[wish] = at++;
                    break;
                }
                at++;
            }
        }
        return matches;
    }
}
