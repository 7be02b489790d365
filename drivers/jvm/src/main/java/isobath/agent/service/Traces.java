package isobath.agent.service;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Keeps frames of the agent out of stack traces: a replaced method that throws has some.
 *
 * <p>Traces are filtered where {@code Throwable} hands them out, so that the service, its logs and we see those of the
 * plain service. That costs nothing where an exception is thrown and its trace never read.
 */
public final class Traces {
    private static final String AGENT = "isobath.agent.";
    /** Methods that the agent adds to classes of the service begin so. */
    private static final String ADDED = "isobath$";

    private Traces() {}

    /** Filters all traces from now on; where the JVM refuses, only those that we report. */
    public static void hide(Instrumentation instrumentation) {
        ClassFileTransformer filter =
                new ClassFileTransformer() {
                    @Override
                    public byte[] transform(
                            ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] bytes) {
                        return "java/lang/Throwable".equals(name) ? weave(bytes) : null;
                    }
                };
        // It stays: when another agent retransforms the class, the filter is put in again.
        instrumentation.addTransformer(filter, true);
        try {
            instrumentation.retransformClasses(Throwable.class);
        } catch (Throwable refused) {
            instrumentation.removeTransformer(filter);
        }
    }

    /** {@code java.lang.Throwable} with the filter; null when it has not the method that we know. */
    static byte[] weave(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, 0);
        boolean[] isFound = new boolean[1];
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
                        boolean isOurs =
                                name.equals("getOurStackTrace") && descriptor.equals("()[Ljava/lang/StackTraceElement;");
                        isFound[0] |= isOurs;
                        return isOurs ? new Filtered(to) : to;
                    }
                },
                0);
        return isFound[0] ? writer.toByteArray() : null;
    }

    private static final class Filtered extends MethodVisitor {
        Filtered(MethodVisitor to) {
            super(Opcodes.ASM9, to);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.ARETURN) {
                String descriptor = "([Ljava/lang/StackTraceElement;)[Ljava/lang/StackTraceElement;";
                super.visitMethodInsn(
                        Opcodes.INVOKESTATIC, "isobath/agent/service/Traces", "without", descriptor, false);
            }
            super.visitInsn(opcode);
        }
    }

    /** A trace without frames of the agent. */
    public static StackTraceElement[] without(StackTraceElement[] trace) {
        if (trace == null) {
            return null;
        }
        int kept = 0;
        for (StackTraceElement element : trace) {
            kept += isOurs(element) ? 0 : 1;
        }
        // Of a trace that is all ours, such as that of a fault of the agent itself, nothing would be left.
        if (kept == trace.length || kept == 0) {
            return trace;
        }
        StackTraceElement[] rest = new StackTraceElement[kept];
        int at = 0;
        for (StackTraceElement element : trace) {
            if (!isOurs(element)) {
                rest[at++] = element;
            }
        }
        return rest;
    }

    /** A printed trace without frames of the agent. */
    static String without(String printed) {
        if (!printed.contains(AGENT) && !printed.contains(ADDED)) {
            return printed;
        }
        StringBuilder rest = new StringBuilder();
        for (String line : printed.split("(?<=\n)")) {
            String frame = line.trim();
            boolean isOurs = frame.startsWith("at ") && (frame.contains(" " + AGENT) || frame.contains("." + ADDED) || frame.contains("/" + AGENT));
            rest.append(isOurs ? "" : line);
        }
        return rest.toString();
    }

    /** Whether a frame is the agent's. */
    static boolean isOurs(StackTraceElement element) {
        return element != null
                && (element.getClassName().startsWith(AGENT) || element.getMethodName().startsWith(ADDED));
    }
}
