package isobath.agent.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Lets the classes of a database driver tell what they do. Found by what they implement, so any driver will do. */
public final class JdbcWeaver {
    private static final String JDBC = "isobath/agent/jdbc/Jdbc";
    private static final int STATEMENT = 1;
    private static final int PREPARED = 2;
    private static final int CONNECTION = 4;
    private static final int RESULT = 8;
    private static final int DRIVER = 16;
    private static final int DEEPEST = 8;

    /** Pools and frameworks only pass on what a driver then does. */
    private static final String[] WRAPPERS = {
        "com/zaxxer/", "org/apache/tomcat/", "org/apache/commons/", "com/mchange/", "org/springframework/", "org/hibernate/",
        "net/ttddyy/", "io/agroal/", "com/alibaba/", "oracle/ucp/", "org/jooq/", "com/p6spy/", "org/jdbi/", "io/quarkus/",
        "java/", "javax/", "jdk/", "sun/", "com/sun/",
    };

    private static final Map<String, Integer> KINDS = new HashMap<>();

    static {
        KINDS.put("java/sql/Statement", STATEMENT);
        KINDS.put("java/sql/PreparedStatement", STATEMENT | PREPARED);
        KINDS.put("java/sql/CallableStatement", STATEMENT | PREPARED);
        KINDS.put("java/sql/Connection", CONNECTION);
        KINDS.put("java/sql/ResultSet", RESULT);
        KINDS.put("java/sql/Driver", DRIVER);
    }

    private JdbcWeaver() {}

    /** The class, telling; null when it belongs to no driver. */
    public static byte[] weave(ClassLoader loader, byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        if (isWrapper(reader.getClassName()) || (reader.getAccess() & Opcodes.ACC_INTERFACE) != 0) {
            return null;
        }
        int kind = names(reader, "java/sql/SQLException") ? kind(loader, reader, 0) : 0;
        if (kind == 0) {
            return null;
        }
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
                        boolean isPlain = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_STATIC)) == 0;
                        boolean isOpen = (access & Opcodes.ACC_PUBLIC) != 0 && (access & Opcodes.ACC_BRIDGE) == 0;
                        return isPlain && isOpen ? method(to, kind, name, descriptor) : to;
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static boolean isWrapper(String name) {
        for (String wrapper : WRAPPERS) {
            if (name.startsWith(wrapper)) {
                return true;
            }
        }
        return false;
    }

    private static boolean names(ClassReader reader, String wanted) {
        char[] buffer = new char[reader.getMaxStringLength()];
        for (int item = 1; item < reader.getItemCount(); item++) {
            int offset = reader.getItem(item);
            if (offset > 0 && reader.readByte(offset - 1) == 7 && wanted.equals(reader.readUTF8(offset, buffer))) {
                return true;
            }
        }
        return false;
    }

    /** What a class implements, by itself or through those above it; these are read and not loaded. */
    private static int kind(ClassLoader loader, ClassReader reader, int depth) {
        int kind = 0;
        for (String name : reader.getInterfaces()) {
            kind |= kind(loader, name, depth);
        }
        if (reader.getSuperName() != null) {
            kind |= kind(loader, reader.getSuperName(), depth);
        }
        return kind;
    }

    private static int kind(ClassLoader loader, String name, int depth) {
        synchronized (KINDS) {
            Integer known = KINDS.get(name);
            if (known != null) {
                return known;
            }
        }
        int kind = 0;
        if (depth < DEEPEST && !isWrapper(name)) {
            try (InputStream in = loader.getResourceAsStream(name + ".class")) {
                kind = in == null ? 0 : kind(loader, new ClassReader(in), depth + 1);
            } catch (IOException unreadable) {
                kind = 0;
            }
        }
        synchronized (KINDS) {
            KINDS.put(name, kind);
        }
        return kind;
    }

    private static MethodVisitor method(MethodVisitor to, int kind, String name, String descriptor) {
        boolean textFirst = descriptor.startsWith("(Ljava/lang/String;");
        boolean none = descriptor.startsWith("()");
        if ((kind & STATEMENT) != 0) {
            boolean isBatch = name.equals("executeBatch") || name.equals("executeLargeBatch");
            boolean executes =
                    isBatch
                            || name.equals("execute")
                            || name.equals("executeQuery")
                            || name.equals("executeUpdate")
                            || name.equals("executeLargeUpdate");
            if (executes && (none || textFirst)) {
                return new Execution(to, textFirst, isBatch, Type.getReturnType(descriptor));
            }
            if (name.equals("addBatch") && (none || textFirst)) {
                return new Batch(to, textFirst);
            }
            if (name.equals("getResultSet") && none) {
                return new Return(to, Opcodes.ARETURN, "results", "(Ljava/lang/Object;Ljava/lang/Object;)V", 0);
            }
        }
        Type[] arguments = Type.getArgumentTypes(descriptor);
        if ((kind & PREPARED) != 0 && name.startsWith("set") && arguments.length >= 2 && arguments[0] == Type.INT_TYPE) {
            return new Binding(to, arguments[1], name.equals("setNull"));
        }
        if ((kind & CONNECTION) != 0 && name.startsWith("prepare") && textFirst) {
            return new Return(to, Opcodes.ARETURN, "prepared", "(Ljava/lang/Object;Ljava/lang/String;)V", 1);
        }
        if ((kind & RESULT) != 0 && name.equals("next") && descriptor.equals("()Z")) {
            return new Return(to, Opcodes.IRETURN, "next", "(ZLjava/lang/Object;)V", 0);
        }
        if ((kind & DRIVER) != 0 && name.equals("connect") && textFirst) {
            String told = "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/String;Ljava/lang/Object;)V";
            return new Return(to, Opcodes.ARETURN, "connected", told, 0, 1, 2);
        }
        return to;
    }

    /** Tells what is returned, together with some of the first locals. */
    private static final class Return extends MethodVisitor {
        private final int opcode;
        private final String hook;
        private final String descriptor;
        private final int[] locals;

        Return(MethodVisitor to, int opcode, String hook, String descriptor, int... locals) {
            super(Opcodes.ASM9, to);
            this.opcode = opcode;
            this.hook = hook;
            this.descriptor = descriptor;
            this.locals = locals;
        }

        @Override
        public void visitInsn(int instruction) {
            if (instruction == opcode) {
                super.visitInsn(Opcodes.DUP);
                for (int local : locals) {
                    super.visitVarInsn(Opcodes.ALOAD, local);
                }
                super.visitMethodInsn(Opcodes.INVOKESTATIC, JDBC, hook, descriptor, false);
            }
            super.visitInsn(instruction);
        }
    }

    private static final class Binding extends MethodVisitor {
        private final Type type;
        private final boolean isNull;

        Binding(MethodVisitor to, Type type, boolean isNull) {
            super(Opcodes.ASM9, to);
            this.type = type;
            this.isNull = isNull;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitVarInsn(Opcodes.ALOAD, 0);
            super.visitVarInsn(Opcodes.ILOAD, 1);
            if (isNull) {
                super.visitInsn(Opcodes.ACONST_NULL);
            } else {
                super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), 2);
                box();
            }
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC, JDBC, "bind", "(Ljava/lang/Object;ILjava/lang/Object;)V", false);
        }

        private void box() {
            String boxed;
            switch (type.getSort()) {
                case Type.BOOLEAN:
                    boxed = "java/lang/Boolean";
                    break;
                case Type.BYTE:
                    boxed = "java/lang/Byte";
                    break;
                case Type.SHORT:
                    boxed = "java/lang/Short";
                    break;
                case Type.INT:
                    boxed = "java/lang/Integer";
                    break;
                case Type.LONG:
                    boxed = "java/lang/Long";
                    break;
                case Type.FLOAT:
                    boxed = "java/lang/Float";
                    break;
                case Type.DOUBLE:
                    boxed = "java/lang/Double";
                    break;
                case Type.CHAR:
                    boxed = "java/lang/Character";
                    break;
                default:
                    return;
            }
            String descriptor = "(" + type.getDescriptor() + ")L" + boxed + ";";
            super.visitMethodInsn(Opcodes.INVOKESTATIC, boxed, "valueOf", descriptor, false);
        }
    }

    private static final class Batch extends MethodVisitor {
        private final boolean hasText;

        Batch(MethodVisitor to, boolean hasText) {
            super(Opcodes.ASM9, to);
            this.hasText = hasText;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitVarInsn(Opcodes.ALOAD, 0);
            if (hasText) {
                super.visitVarInsn(Opcodes.ALOAD, 1);
            } else {
                super.visitInsn(Opcodes.ACONST_NULL);
            }
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC, JDBC, "batch", "(Ljava/lang/Object;Ljava/lang/String;)V", false);
        }
    }

    private static final class Execution extends MethodVisitor {
        private final boolean hasText;
        private final boolean isBatch;
        private final Type returned;
        private final Label start = new Label();

        Execution(MethodVisitor to, boolean hasText, boolean isBatch, Type returned) {
            super(Opcodes.ASM9, to);
            this.hasText = hasText;
            this.isBatch = isBatch;
            this.returned = returned;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitVarInsn(Opcodes.ALOAD, 0);
            if (hasText) {
                super.visitVarInsn(Opcodes.ALOAD, 1);
            } else {
                super.visitInsn(Opcodes.ACONST_NULL);
            }
            super.visitInsn(isBatch ? Opcodes.ICONST_1 : Opcodes.ICONST_0);
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC, JDBC, "begin", "(Ljava/lang/Object;Ljava/lang/String;Z)V", false);
            super.visitLabel(start);
        }

        @Override
        public void visitInsn(int opcode) {
            switch (opcode) {
                case Opcodes.ARETURN:
                    boolean isArray = returned.getSort() == Type.ARRAY;
                    super.visitInsn(Opcodes.DUP);
                    hook(isArray ? "endBatch" : "endRows", "(Ljava/lang/Object;)V");
                    break;
                case Opcodes.LRETURN:
                    super.visitInsn(Opcodes.DUP2);
                    hook("endCount", "(J)V");
                    break;
                case Opcodes.IRETURN:
                    super.visitInsn(Opcodes.DUP);
                    if (returned == Type.BOOLEAN_TYPE) {
                        hook("endFlag", "(Z)V");
                    } else {
                        super.visitInsn(Opcodes.I2L);
                        hook("endCount", "(J)V");
                    }
                    break;
                default:
            }
            super.visitInsn(opcode);
        }

        private void hook(String name, String descriptor) {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, JDBC, name, descriptor, false);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            // The handler knows no locals, so its frame is right wherever the exception comes from.
            Label end = new Label();
            super.visitLabel(end);
            super.visitTryCatchBlock(start, end, end, "java/lang/Throwable");
            super.visitFrame(Opcodes.F_FULL, 0, new Object[0], 1, new Object[] {"java/lang/Throwable"});
            super.visitInsn(Opcodes.DUP);
            hook("failed", "(Ljava/lang/Throwable;)V");
            super.visitInsn(Opcodes.ATHROW);
            super.visitMaxs(stack, locals);
        }
    }
}
