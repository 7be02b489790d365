package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import isobath.agent.Settings;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;

/** The ways in which services are packed and started. Only names matter here, so classes have one byte. */
class ServiceClassesTest {
    @TempDir Path folder;

    private static byte[] archive(String manifest, Object... files) throws IOException {
        Manifest lines = new Manifest();
        lines.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        for (String line : manifest.isEmpty() ? new String[0] : manifest.split("; ")) {
            lines.getMainAttributes().put(new Attributes.Name(line.split(": ")[0]), line.split(": ")[1]);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream jar = new JarOutputStream(bytes, lines)) {
            for (int at = 0; at < files.length; at++) {
                String name = (String) files[at];
                byte[] content = {1};
                if (at + 1 < files.length && files[at + 1] instanceof byte[]) {
                    content = (byte[]) files[++at];
                } else {
                    name += ".class";
                }
                jar.putNextEntry(new JarEntry(name));
                jar.write(content);
            }
        }
        return bytes.toByteArray();
    }

    private String write(String path, byte[] bytes) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
        return file.toString();
    }

    private static TreeMap<String, byte[]> classes(String command, String classPath, String... bases) {
        Settings settings = Settings.of(Collections.emptyMap(), null);
        return ServiceClasses.find(settings, command, classPath, null, bases);
    }

    private static String found(String command, String classPath, String... bases) {
        return classes(command, classPath, bases).keySet().toString();
    }

    @Test
    void quarkusKeepsTheServiceInAppAndModulesOfItInLib() throws IOException {
        String boot = "io/quarkus/bootstrap/runner/QuarkusEntryPoint";
        String run = write("q/quarkus-run.jar", archive("Main-Class: " + boot.replace('/', '.') + "; Class-Path: lib/boot/b.jar", boot));
        write("q/lib/boot/b.jar", archive("", "io/quarkus/bootstrap/Other"));
        write("q/app/shop.jar", archive("", "com/acme/shop/Main", "com/acme/shop/web/Cart"));
        write("q/lib/main/com.acme.shop-model.jar", archive("", "com/acme/shop/model/Item"));
        write("q/lib/main/other.jar", archive("", "com/other/Tool"));
        write("q/quarkus/transformed-bytecode.jar", archive("", "com/acme/shop/model/Item.class", new byte[] {2}, "org/hibernate/X"));
        write("q/quarkus/generated-bytecode.jar", archive("", "com/acme/shop/Main_Bean"));
        TreeMap<String, byte[]> classes = classes(run, run);
        assertEquals("[com/acme/shop/Main, com/acme/shop/model/Item, com/acme/shop/web/Cart]", classes.keySet().toString());
        assertArrayEquals(new byte[] {2}, classes.get("com/acme/shop/model/Item"), "what is loaded first");
    }

    @Test
    void aFolderCalledAppBesideAnotherJarIsNotLookedAt() throws IOException {
        String jar = write("s/shop.jar", archive("Main-Class: shop.Main", "shop/Main"));
        write("s/app/other.jar", archive("", "other/Thing"));
        assertEquals("[shop/Main]", found(jar, jar));
    }

    @Test
    void springBootKeepsClassesApartAndModulesAmongItsLibraries() throws IOException {
        byte[] module = archive("", "com/acme/ab/Model");
        byte[] library = archive("", "com/other/Tool");
        Object[] files = {
            "org/springframework/boot/loader/JarLauncher", "BOOT-INF/classes/com/acme/ab/App", "BOOT-INF/lib/x.jar", module,
            "BOOT-INF/lib/y.jar", library,
        };
        String manifest = "Main-Class: org.springframework.boot.loader.JarLauncher; Start-Class: com.acme.ab.App";
        String jar = write("b/my app.jar", archive(manifest, files));
        assertEquals("[com/acme/ab/App, com/acme/ab/Model]", found(jar + " --server.port=1", jar));
        // The same, unpacked.
        write("u/META-INF/MANIFEST.MF", ("Manifest-Version: 1.0\n" + manifest.replace("; ", "\n") + "\n").getBytes(StandardCharsets.UTF_8));
        write("u/org/springframework/boot/loader/JarLauncher.class", new byte[] {1});
        write("u/BOOT-INF/classes/com/acme/ab/App.class", new byte[] {1});
        write("u/BOOT-INF/lib/x.jar", module);
        write("u/BOOT-INF/lib/y.jar", library);
        String unpacked = folder.resolve("u").toString();
        assertEquals("[com/acme/ab/App, com/acme/ab/Model]", found("org.springframework.boot.loader.JarLauncher", unpacked));
    }

    @Test
    void aClassPathOfJarsAndFoldersHasTheServiceInItsFolders() throws IOException {
        write("j/classes/shop/Main.class", new byte[] {1});
        write("j/classes/store/Thing.class", new byte[] {1});
        write("j/lib/shop-core.jar", archive("", "shop/core/Price"));
        write("j/lib/other.jar", archive("", "other/Tool"));
        String path = folder.resolve("j/lib") + "/*" + File.pathSeparator + folder.resolve("j/classes");
        assertEquals("[shop/Main, shop/core/Price, store/Thing]", found("shop.Main 80", path));
    }

    @Test
    void aThinJarIsAllTheServicesOwnAndOthersByTheirPackages() throws IOException {
        write("t/lib/core.jar", archive("", "com/acme/shop/core/Price"));
        write("t/lib/other.jar", archive("", "com/other/Tool"));
        String jar = write("t/shop.jar", archive("Main-Class: com.acme.shop.Main; Class-Path: lib/core.jar lib/other.jar", "com/acme/shop/Main", "store/Thing"));
        assertEquals("[com/acme/shop/Main, com/acme/shop/core/Price, store/Thing]", found(jar, jar));
    }

    @Test
    void aJarOfEverythingHasThePackageOfItsMainClass() throws IOException {
        String jar = write("f/fat.jar", archive("Main-Class: com.acme.shop.Main", "com/acme/shop/Main", "com/acme/shop/web/Cart", "com/other/Tool", "io/dropwizard/Application"));
        String agent = write("f/agent.jar", archive("Premain-Class: some.Agent", "some/Agent"));
        assertEquals("[com/acme/shop/Main, com/acme/shop/web/Cart]", found(jar + " server x.yml", jar + File.pathSeparator + agent));
        // A first part alone, such as `com`, is no package of anybody.
        jar = write("f/short.jar", archive("Main-Class: com.Main", "com/Main", "com/other/Tool"));
        assertEquals("[com/Main]", found(jar, jar));
    }

    @Test
    void aJarOfEverythingThatAFrameworkStartsSaysElsewhereWhatItsOwnIs() throws IOException {
        String jar = write("v/vertx.jar", archive("Main-Class: io.vertx.core.Launcher; Main-Verticle: com.acme.shop.Verticle", "io/vertx/core/Launcher", "com/acme/shop/Verticle", "com/other/Tool"));
        assertEquals("[com/acme/shop/Verticle]", found(jar, jar));
        byte[] settings = "ktor { application { modules = [ com.acme.shop.MainKt.module ] } }".getBytes(StandardCharsets.UTF_8);
        jar = write("v/ktor.jar", archive("Main-Class: io.ktor.server.netty.EngineMain", "io/ktor/server/netty/EngineMain", "application.conf", settings, "com/acme/shop/MainKt", "com/other/Tool"));
        assertEquals("[com/acme/shop/MainKt]", found(jar, jar));
        jar = write("v/unknown.jar", archive("Main-Class: io.quarkus.runner.GeneratedMain", "io/quarkus/runner/GeneratedMain", "org/apache/Tool", "com/acme/shop/Main"));
        assertEquals("[com/acme/shop/Main]", found(jar, jar));
    }

    @Test
    void aMainClassThatOnlyStartsOthersNamesTheServiceAndRelocatedLibrariesAreNone() throws IOException {
        ClassWriter writer = new ClassWriter(0);
        writer.visit(Opcodes.V1_8, Opcodes.ACC_PUBLIC, "run/Main", null, "com/acme/shop/Server", null);
        writer.visitField(0, "unused", "Lcom/other/Tool;", null, null);
        writer.visitEnd();
        String jar =
                write(
                        "m/shaded.jar",
                        archive("Main-Class: run.Main", "run/Main.class", writer.toByteArray(), "com/acme/shop/Server",
                                "com/acme/shop/shaded/com/google/Gson", "run/org/apache/Http", "com/other/Tool"));
        assertEquals("[com/acme/shop/Server, run/Main]", found(jar, jar));
    }

    @Test
    void warsAreFoundWhicheverServerRunsThem() throws IOException {
        byte[] war = archive("Main-Class: shop.Main", "shop/Main", "WEB-INF/classes/com/acme/shop/Servlet", "WEB-INF/lib/m.jar", archive("", "com/acme/shop/Model", "other/Tool"));
        String path = write("w/shop.war", war);
        String wanted = "[com/acme/shop/Model, com/acme/shop/Servlet]";
        String runner = write("w/runner.jar", archive("Main-Class: org.eclipse.jetty.runner.Runner", "org/eclipse/jetty/runner/Runner"));
        assertEquals(wanted, found(runner + " --port 1 " + path, runner));
        write("tomcat/webapps/shop.war", war);
        write("tomcat/webapps/manager/WEB-INF/classes/org/apache/Manager.class", new byte[] {1});
        String bootstrap = write("tomcat/bin/bootstrap.jar", archive("", "org/apache/catalina/startup/Bootstrap"));
        String base = folder.resolve("tomcat").toString();
        assertEquals(wanted, found("org.apache.catalina.startup.Bootstrap start", bootstrap, base, null));
        // One that starts itself.
        String manifest = "Main-Class: org.springframework.boot.loader.WarLauncher; Start-Class: com.acme.shop.Servlet";
        String own = write("w/own.war", archive(manifest, "org/springframework/boot/loader/WarLauncher", "WEB-INF/classes/com/acme/shop/Servlet"));
        assertEquals("[com/acme/shop/Servlet]", found(own, own));
    }
}
