package isobath.agent.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import isobath.agent.Recordings;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jacoco.core.data.ExecutionDataStore;
import org.jacoco.core.data.SessionInfoStore;
import org.jacoco.core.instr.Instrumenter;
import org.jacoco.core.runtime.LoggerRuntime;
import org.jacoco.core.runtime.RuntimeData;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodNode;

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
        private final Change change;
        int next;
        final List<String> plain = new ArrayList<>();

        Loader(Change change) {
            super(WeaverTest.class.getClassLoader());
            this.change = change;
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
                byte[] file = bytes(Class.forName(name));
                Woven woven = Weaver.weave(file, change.of(file, name), next);
                assertEquals(Weaver.plan(file, next).targets.toString(), woven.targets.toString());
                next += woven.targets.size();
                plain.addAll(woven.plain);
                // The JVM itself verifies what this loader defines.
                return defineClass(name, woven.bytes, 0, woven.bytes.length);
            } catch (Exception problem) {
                throw new ClassNotFoundException(name, problem);
            }
        }
    }

    /** What another agent does to a class before us. */
    private interface Change {
        byte[] of(byte[] file, String name) throws Exception;
    }

    @Test
    void wovenCodeDoesWhatPlainCodeDoes() throws Exception {
        doesWhatPlainCodeDoes(new Loader((file, name) -> file));
    }

    @Test
    void codeThatAnotherAgentChangedBeforeGetsTheSameProbesAndTheSameScores() throws Exception {
        doesWhatPlainCodeDoes(new Loader((file, name) -> file));
        String alone = Recordings.all();
        Recordings.fresh();
        LoggerRuntime runtime = new LoggerRuntime();
        RuntimeData coverage = new RuntimeData();
        runtime.startup(coverage);
        Instrumenter other = new Instrumenter(runtime);
        Loader loader = new Loader((file, name) -> other.instrument(file, name));
        doesWhatPlainCodeDoes(loader);
        assertEquals(Collections.emptyList(), loader.plain);
        assertEquals(alone, Recordings.all());
        ExecutionDataStore found = new ExecutionDataStore();
        coverage.collect(found, new SessionInfoStore(), false);
        assertTrue(found.contains(Torture.class.getName().replace('.', '/')), "the other agent works as well");
    }

    @Test
    void codeThatAnotherAgentTookAwayIsNamedAndAllElseIsWatched() throws Exception {
        byte[] file = bytes(Torture.class);
        ClassNode type = new ClassNode();
        new ClassReader(file).accept(type, 0);
        String[] without = new String[1];
        for (MethodNode method : type.methods) {
            for (AbstractInsnNode node : method.instructions.toArray()) {
                if (without[0] == null && node instanceof LineNumberNode && method.desc.equals("(I)I")) {
                    method.instructions.remove(node);
                    without[0] = method.name;
                }
            }
        }
        ClassWriter writer = new ClassWriter(0);
        type.accept(writer);
        Woven woven = Weaver.weave(file, writer.toByteArray(), 0);
        assertEquals(1, woven.plain.size(), woven.plain.toString());
        assertTrue(woven.plain.get(0).startsWith(without[0] + ": "), woven.plain.toString());
    }

    private static void doesWhatPlainCodeDoes(Loader loader) throws Exception {
        Class<?> woven = loader.loadClass(Torture.class.getName());
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
