package isobath.agent.service;

import isobath.agent.jdbc.Weak;
import isobath.agent.track.Role;
import isobath.agent.track.Track;
import java.lang.annotation.Annotation;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Validators of {@code @Size} and {@code @Length} for texts ({@code javax} and {@code jakarta}), whoever wrote them: a
 * tracked input should be as long as they say. Those of {@code @Pattern} are followed by the expression that they use.
 */
public final class Validators {
    private static final String HERE = "isobath/agent/service/Validators";
    private static final String CHECK = "(Ljava/lang/CharSequence;L";
    /** Texts that are longer than wanted by more than this need not be tried. */
    private static final int MOST_SPARE = 40;

    private static final Weak<String> SHAPES = new Weak<>();

    private Validators() {}

    /** The class, changed; null when it does not look at sizes. */
    public static byte[] weave(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        boolean isValidator = false;
        for (String type : reader.getInterfaces()) {
            isValidator |=
                    type.equals("javax/validation/ConstraintValidator")
                            || type.equals("jakarta/validation/ConstraintValidator");
        }
        if (!isValidator) {
            return null;
        }
        ClassWriter writer = new ClassWriter(reader, 0);
        boolean[] looks = new boolean[1];
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
                        boolean isBridge = (access & Opcodes.ACC_BRIDGE) != 0;
                        if (!isBridge && name.equals("initialize") && isOfSize(descriptor)) {
                            looks[0] = true;
                            return new Hook(to, "wanted", "(Ljava/lang/Object;Ljava/lang/annotation/Annotation;)V");
                        }
                        if (!isBridge && name.equals("isValid") && descriptor.startsWith(CHECK)) {
                            return new Hook(to, "checked", "(Ljava/lang/Object;Ljava/lang/CharSequence;)V");
                        }
                        return to;
                    }
                },
                0);
        return looks[0] ? writer.toByteArray() : null;
    }

    private static boolean isOfSize(String descriptor) {
        Type[] arguments = Type.getArgumentTypes(descriptor);
        String type = arguments.length == 1 ? arguments[0].getClassName() : "";
        return type.endsWith(".validation.constraints.Size") || type.endsWith(".validator.constraints.Length");
    }

    /** A validator learns what it is for. */
    public static void wanted(Object validator, Annotation size) {
        try {
            Class<?> type = size.annotationType();
            int min = (Integer) type.getMethod("min").invoke(size);
            int max = (Integer) type.getMethod("max").invoke(size);
            String shape = shape(min, max);
            if (shape != null) {
                SHAPES.put(validator, shape);
            }
        } catch (ReflectiveOperationException | RuntimeException unknown) {
            // Then its texts are not followed.
        }
    }

    /** What a validator wants of texts; null when nothing is known. */
    static String shapeOf(Object validator) {
        return SHAPES.get(validator);
    }

    /** The expression of texts of a size; null when any will do. */
    static String shape(int min, int max) {
        if (min < 0 || max < min || (min == 0 && max == Integer.MAX_VALUE)) {
            return null;
        }
        return "^.{" + min + "," + (int) Math.min(max, (long) min + MOST_SPARE) + "}$";
    }

    /** A validator looks at a text. */
    public static void checked(Object validator, CharSequence text) {
        if (text instanceof String && Track.tracked((String) text)) {
            String shape = shapeOf(validator);
            if (shape != null) {
                Track.used((String) text, Role.PATTERN, shape, -1);
            }
        }
    }

    /** Tells of the object and the first argument of a method that begins. */
    private static final class Hook extends MethodVisitor {
        private final String name;
        private final String descriptor;

        Hook(MethodVisitor to, String name, String descriptor) {
            super(Opcodes.ASM9, to);
            this.name = name;
            this.descriptor = descriptor;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitVarInsn(Opcodes.ALOAD, 0);
            super.visitVarInsn(Opcodes.ALOAD, 1);
            super.visitMethodInsn(Opcodes.INVOKESTATIC, HERE, name, descriptor, false);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            super.visitMaxs(Math.max(2, stack), locals);
        }
    }
}
