package isobath.agent.service;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** Jackson's readers, by which Spring, JAX-RS and others bind bodies to classes: they tell the type that is asked for. */
public final class JsonReaders {
    private static final String MAPPER = "com/fasterxml/jackson/databind/ObjectMapper";
    private static final String READER = "com/fasterxml/jackson/databind/ObjectReader";
    private static final String TYPE = "Lcom/fasterxml/jackson/databind/JavaType;";

    private JsonReaders() {}

    /** Whether a class is one of them. */
    public static boolean concerns(String name) {
        return name.equals(MAPPER) || name.equals(READER);
    }

    /** The class, changed. */
    public static byte[] weave(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
                        return (access & (Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT)) == 0 && asks(name, descriptor)
                                ? new Hook(to, lastLocal(descriptor))
                                : to;
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static boolean asks(String name, String descriptor) {
        boolean reads = name.equals("_readMapAndClose") || name.equals("_readValue") || name.equals("forType");
        return reads && descriptor.contains(TYPE + ")");
    }

    private static int lastLocal(String descriptor) {
        int local = 1;
        Type[] arguments = Type.getArgumentTypes(descriptor);
        for (int at = 0; at < arguments.length - 1; at++) {
            local += arguments[at].getSize();
        }
        return local;
    }

    private static final class Hook extends MethodVisitor {
        private final int local;

        Hook(MethodVisitor to, int local) {
            super(Opcodes.ASM9, to);
            this.local = local;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitVarInsn(Opcodes.ALOAD, local);
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC, "isobath/agent/service/Requests", "body", "(Ljava/lang/Object;)V", false);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            super.visitMaxs(Math.max(1, stack), locals);
        }
    }
}
