package isobath.agent.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import isobath.agent.Recordings;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

class WeaverTest {
    @BeforeEach
    void clear() {
        Recordings.fresh();
    }

    private static byte[] bytes(Class<?> type) throws Exception {
        try (InputStream in = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    /** Loads woven classes in place of the plain ones. */
    private static final class Loader extends ClassLoader {
        int next;

        Loader() {
            super(WeaverTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(Torture.class.getName())) {
                return super.loadClass(name, resolve);
            }
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            try {
                Woven woven = Weaver.weave(bytes(Class.forName(name)), next);
                assertEquals(Weaver.plan(bytes(Class.forName(name)), next).targets.toString(), woven.targets.toString());
                next += woven.targets.size();
                // The JVM itself verifies what this loader defines.
                return defineClass(name, woven.bytes, 0, woven.bytes.length);
            } catch (Exception problem) {
                throw new ClassNotFoundException(name, problem);
            }
        }
    }

    @Test
    void wovenCodeDoesWhatPlainCodeDoes() throws Exception {
        Class<?> woven = new Loader().loadClass(Torture.class.getName());
        int methods = 0;
        for (Method plain : Torture.class.getDeclaredMethods()) {
            if (plain.isSynthetic() || plain.getParameterCount() != 1 || plain.getParameterTypes()[0] != int.class) {
                continue;
            }
            Method other = woven.getDeclaredMethod(plain.getName(), int.class);
            for (int input = -3; input < 12; input++) {
                assertEquals(outcome(plain, input), outcome(other, input), plain.getName() + "(" + input + ")");
            }
            methods++;
        }
        assertTrue(methods > 10);
        assertTrue(Recordings.count() > 100);
    }

    @Test
    void referencesToReplacedMethodsHaveTargets() throws Exception {
        String all = Weaver.plan(bytes(Torture.class), 0).targets.toString();
        for (String reference : new String[] {"Integer::parseInt", "String::equals", "String::startsWith", "List::contains", "Map::get"}) {
            assertTrue(all.contains(reference), reference);
        }
    }

    private static String outcome(Method method, int input) throws Exception {
        try {
            method.setAccessible(true);
            return String.valueOf(method.invoke(null, input));
        } catch (InvocationTargetException thrown) {
            return thrown.getCause().getClass().getName();
        }
    }

    @Test
    void aMethodThatWouldBecomeTooLongIsLeftAsItIs() throws Exception {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        writer.visit(Opcodes.V1_8, Opcodes.ACC_PUBLIC, "Long", null, "java/lang/Object", null);
        MethodVisitor method = writer.visitMethod(Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC, "f", "(I)I", null, null);
        method.visitCode();
        for (int line = 1; line < 13_000; line++) {
            org.objectweb.asm.Label label = new org.objectweb.asm.Label();
            method.visitLabel(label);
            method.visitLineNumber(line, label);
            method.visitIincInsn(0, 1);
        }
        method.visitVarInsn(Opcodes.ILOAD, 0);
        method.visitInsn(Opcodes.IRETURN);
        method.visitMaxs(0, 0);
        method.visitEnd();
        writer.visitEnd();
        Woven woven = Weaver.weave(writer.toByteArray(), 0);
        assertEquals(1, woven.plain.size());
        assertTrue(woven.plain.get(0).startsWith("f: "), woven.plain.toString());
        Class<?> loaded =
                new ClassLoader() {
                    Class<?> define() {
                        return defineClass("Long", woven.bytes, 0, woven.bytes.length);
                    }
                }.define();
        assertEquals(12_999, loaded.getMethod("f", int.class).invoke(null, 0));
    }

    @Test
    void librariesGetReplacementsOnlyWhereThereIsSomethingToReplace() throws Exception {
        assertNotNull(LibraryWeaver.weave(bytes(Torture.class)));
        assertEquals(null, LibraryWeaver.weave(bytes(Plain.class)));
    }

    static final class Plain {
        int twice(int n) {
            return 2 * n;
        }
    }
}
