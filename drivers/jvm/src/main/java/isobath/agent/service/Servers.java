package isobath.agent.service;

import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Small changes to web servers: connections stay open (seed 002, section 7), and exceptions that end there are
 * told of.
 */
public final class Servers {
    private static final Map<String, String> HOOKS = new HashMap<>();

    static {
        // After so many requests, or after an answer of these kinds, Tomcat would close the connection.
        HOOKS.put("org/apache/tomcat/util/net/AbstractEndpoint.getMaxKeepAliveRequests()I", "unlimited");
        HOOKS.put("org/apache/coyote/http11/Http11Processor.statusDropsConnection(I)Z", "never");
        HOOKS.put("org/apache/coyote/http11/AbstractHttp11Processor.statusDropsConnection(I)Z", "never");
        for (String servlet : new String[] {"javax", "jakarta"}) {
            HOOKS.put(
                    "org/apache/catalina/core/StandardWrapperValve.exception(Lorg/apache/catalina/connector/Request;"
                            + "Lorg/apache/catalina/connector/Response;Ljava/lang/Throwable;)V",
                    "failure");
            HOOKS.put(
                    "org/eclipse/jetty/servlet/ServletHandler.handleException(Ljava/lang/Throwable;L" + servlet
                            + "/servlet/http/HttpServletRequest;)V",
                    "failure");
        }
        HOOKS.put("org/eclipse/jetty/server/HttpChannel.handleException(Ljava/lang/Throwable;)V", "failure");
        HOOKS.put(
                "org/apache/catalina/core/StandardWrapperValve.exception(Lorg/apache/catalina/connector/Request;"
                        + "Lorg/apache/catalina/connector/Response;Ljava/lang/Throwable;I)V",
                "failure");
        HOOKS.put(
                "org/springframework/web/server/adapter/HttpWebHandlerAdapter.handleUnresolvedError("
                        + "Lorg/springframework/web/server/ServerWebExchange;"
                        + "Lorg/springframework/http/server/reactive/ServerHttpRequest;"
                        + "Lorg/springframework/http/server/reactive/ServerHttpResponse;"
                        + "Ljava/lang/Throwable;)Lreactor/core/publisher/Mono;",
                "failure");
    }

    private Servers() {}

    /**
     * Lets the JDK's own server send at once. By default it waits for the acknowledgement of what it sent last, which
     * takes 40 ms of every call whose answer has a body.
     */
    public static void hurry() {
        String name = "sun.net.httpserver.nodelay";
        if (System.getProperty(name) == null) {
            System.setProperty(name, "true");
        }
    }

    /** Whether a class is changed. */
    public static boolean concerns(String className) {
        for (String hook : HOOKS.keySet()) {
            if (hook.startsWith(className + ".")) {
                return true;
            }
        }
        return false;
    }

    /** The class, changed. */
    public static byte[] weave(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        String owner = reader.getClassName();
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int access, String name, String descriptor, String signature, String[] exceptions) {
                        MethodVisitor to = super.visitMethod(access, name, descriptor, signature, exceptions);
                        String hook = HOOKS.get(owner + "." + name + descriptor);
                        return hook == null ? to : new Hook(to, hook, access, descriptor);
                    }
                },
                0);
        return writer.toByteArray();
    }

    private static final class Hook extends MethodVisitor {
        private final String hook;
        private final int failure;

        Hook(MethodVisitor to, String hook, int access, String descriptor) {
            super(Opcodes.ASM9, to);
            this.hook = hook;
            int local = (access & Opcodes.ACC_STATIC) == 0 ? 1 : 0;
            int found = -1;
            for (Type type : Type.getArgumentTypes(descriptor)) {
                if (type.getDescriptor().equals("Ljava/lang/Throwable;")) {
                    found = local;
                }
                local += type.getSize();
            }
            failure = found;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            if (hook.equals("failure") && failure >= 0) {
                super.visitVarInsn(Opcodes.ALOAD, failure);
                String owner = "isobath/agent/service/Failures";
                super.visitMethodInsn(Opcodes.INVOKESTATIC, owner, "seen", "(Ljava/lang/Throwable;)V", false);
            }
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.IRETURN && !hook.equals("failure")) {
                super.visitInsn(Opcodes.POP);
                super.visitInsn(hook.equals("unlimited") ? Opcodes.ICONST_M1 : Opcodes.ICONST_0);
            }
            super.visitInsn(opcode);
        }

        @Override
        public void visitMaxs(int stack, int locals) {
            super.visitMaxs(stack + 1, locals);
        }
    }
}
