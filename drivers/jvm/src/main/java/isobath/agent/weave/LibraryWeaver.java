package isobath.agent.weave;

import isobath.agent.replace.Replacement;
import isobath.agent.replace.Replacements;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Replaces calls in a class of a library, so that inputs can be followed there. It gets no targets. */
public final class LibraryWeaver {
    private LibraryWeaver() {}

    /** The class with calls replaced; null when there is nothing to replace. */
    public static byte[] weave(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        if (!mayHaveCalls(reader)) {
            return null;
        }
        ClassWriter writer = new ClassWriter(reader, 0);
        boolean[] changed = new boolean[1];
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
                        return new Calls(to, changed);
                    }
                },
                0);
        return changed[0] ? writer.toByteArray() : null;
    }

    /** Whether a class names another one whose methods are replaced everywhere. */
    private static boolean mayHaveCalls(ClassReader reader) {
        char[] buffer = new char[reader.getMaxStringLength()];
        for (int item = 1; item < reader.getItemCount(); item++) {
            int offset = reader.getItem(item);
            // 7 is the tag of a class; wide constants leave an item without an offset.
            if (offset > 0 && reader.readByte(offset - 1) == 7) {
                String name = reader.readUTF8(offset, buffer);
                if (name != null && Replacements.isEverywhere(name)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static final class Calls extends MethodVisitor {
        private final boolean[] changed;

        Calls(MethodVisitor to, boolean[] changed) {
            super(Opcodes.ASM9, to);
            this.changed = changed;
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            Replacement found = null;
            if (opcode == Opcodes.INVOKEVIRTUAL) {
                found = Replacements.of(owner, name, descriptor);
            } else if (opcode == Opcodes.INVOKESTATIC || name.equals("<init>")) {
                found = Replacements.ofStatic(owner, name, descriptor);
            }
            if (found == null || !found.everywhere) {
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
                return;
            }
            changed[0] = true;
            if (found.before) {
                super.visitInsn(Opcodes.DUP);
            }
            super.visitInsn(Opcodes.ICONST_M1);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, found.owner, found.name, found.descriptor, false);
            if (found.before) {
                super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
            }
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            super.visitMaxs(stack + 2, locals);
        }
    }
}
