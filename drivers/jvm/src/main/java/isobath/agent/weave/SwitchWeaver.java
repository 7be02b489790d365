package isobath.agent.weave;

import isobath.agent.link.Target;
import isobath.agent.probe.Arms;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TypeInsnNode;

/**
 * Puts probes before {@code switch}.
 *
 * <p>Compilers turn a switch over texts into one over their hashes, then compare, then into one over numbers.
 * The first is told of by its texts, since hashes have no distance; the last like any other.
 */
final class SwitchWeaver {
    private static final String ARMS = "isobath/agent/probe/Arms";

    private final Targets targets;
    private final Edits edits;
    /** Comparisons that only tell apart what has the same hash. */
    private final Set<AbstractInsnNode> told;

    SwitchWeaver(Targets targets, Edits edits, Set<AbstractInsnNode> told) {
        this.targets = targets;
        this.edits = edits;
        this.told = told;
    }

    void weave(AbstractInsnNode node, int line) {
        List<Integer> keys = new ArrayList<>();
        List<LabelNode> labels;
        LabelNode otherwise;
        if (node instanceof TableSwitchInsnNode) {
            TableSwitchInsnNode table = (TableSwitchInsnNode) node;
            for (int key = table.min; key <= table.max; key++) {
                keys.add(key);
            }
            labels = table.labels;
            otherwise = table.dflt;
        } else {
            LookupSwitchInsnNode lookup = (LookupSwitchInsnNode) node;
            keys.addAll(lookup.keys);
            labels = lookup.labels;
            otherwise = lookup.dflt;
        }
        AbstractInsnNode hash = node.getPrevious();
        if (isHash(hash)) {
            texts((MethodInsnNode) hash, labels, line);
        } else {
            numbers(node, keys, labels, otherwise, line);
        }
    }

    private void numbers(
            AbstractInsnNode node, List<Integer> keys, List<LabelNode> labels, LabelNode otherwise, int line) {
        Map<LabelNode, StringBuilder> names = new HashMap<>();
        for (int at = 0; at < keys.size(); at++) {
            StringBuilder name = names.computeIfAbsent(labels.get(at), label -> new StringBuilder("case "));
            if (name.length() < 60) {
                name.append(name.length() == 5 ? "" : ", ").append(keys.get(at));
            }
        }
        Map<LabelNode, Integer> arms = new HashMap<>();
        List<Integer> known = new ArrayList<>();
        List<Integer> reached = new ArrayList<>();
        for (int at = 0; at < keys.size(); at++) {
            LabelNode label = labels.get(at);
            // The gaps of a table lead where the default does.
            if (label == otherwise) {
                continue;
            }
            if (!arms.containsKey(label)) {
                arms.put(label, targets.add(Target.ARM, line, names.get(label).toString()));
            }
            known.add(keys.get(at));
            reached.add(arms.get(label));
        }
        // Where all cases are named, compilers add a default that nobody reaches.
        reached.add(isImpossible(otherwise) ? -1 : targets.add(Target.ARM, line, "default"));
        if (edits.counterpart(node) != null) {
            InsnList probe = new InsnList();
            probe.add(new InsnNode(Opcodes.DUP));
            Code.push(probe, Arms.table(array(known), array(reached)));
            Code.call(probe, ARMS, "number", "(II)V");
            edits.insertBefore(node, probe);
        }
    }

    private static boolean isImpossible(LabelNode label) {
        AbstractInsnNode first = Code.real(label);
        if (first == null || first.getOpcode() != Opcodes.NEW) {
            return false;
        }
        String type = ((TypeInsnNode) first).desc;
        return type.equals("java/lang/MatchException")
                || type.equals("java/lang/IncompatibleClassChangeError")
                || type.equals("kotlin/NoWhenBranchMatchedException");
    }

    private static boolean isHash(AbstractInsnNode node) {
        return node instanceof MethodInsnNode
                && ((MethodInsnNode) node).owner.equals("java/lang/String")
                && ((MethodInsnNode) node).name.equals("hashCode");
    }

    private void texts(MethodInsnNode hash, List<LabelNode> labels, int line) {
        List<String> texts = new ArrayList<>();
        for (LabelNode label : labels) {
            // Texts of one hash are compared one after the other.
            AbstractInsnNode node = Code.real(label);
            for (int steps = 0; node != null && steps < 40; steps++) {
                AbstractInsnNode next = Code.real(node.getNext());
                boolean isCompared = next instanceof MethodInsnNode && ((MethodInsnNode) next).name.equals("equals");
                if (node instanceof LdcInsnNode && ((LdcInsnNode) node).cst instanceof String && isCompared) {
                    String text = (String) ((LdcInsnNode) node).cst;
                    told.add(next);
                    told.add(Code.real(next.getNext()));
                    if (!texts.contains(text)) {
                        texts.add(text);
                    }
                }
                int opcode = node.getOpcode();
                if (opcode == Opcodes.GOTO || opcode == Opcodes.TABLESWITCH || opcode == Opcodes.LOOKUPSWITCH) {
                    break;
                }
                node = next;
            }
        }
        if (texts.isEmpty()) {
            return;
        }
        List<Integer> arms = new ArrayList<>();
        for (String text : texts) {
            arms.add(targets.add(Target.ARM, line, "case \"" + text + "\""));
        }
        if (edits.counterpart(hash) != null) {
            InsnList probe = new InsnList();
            probe.add(new InsnNode(Opcodes.DUP));
            Code.push(probe, Arms.table(texts.toArray(new String[0]), array(arms)));
            Code.call(probe, ARMS, "text", "(Ljava/lang/String;I)V");
            edits.insertBefore(hash, probe);
        }
    }

    private static int[] array(List<Integer> list) {
        return list.stream().mapToInt(Integer::intValue).toArray();
    }
}
