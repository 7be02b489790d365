package isobath.agent.service;

import isobath.agent.Settings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarInputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;

/**
 * The classes that belong to the service, found before any of them is loaded.
 *
 * <p>Folders on the class path and the classes that a fat jar keeps apart from its libraries all belong to it. Of
 * other jars those classes do whose package begins as that of the main class, or that the user names.
 */
public final class ServiceClasses {
    private final Settings settings;
    private final TreeMap<String, byte[]> classes = new TreeMap<>();
    private String root;

    private ServiceClasses(Settings settings) {
        this.settings = settings;
    }

    /** Finds them, by the properties of this JVM. The keys are names with slashes. */
    public static TreeMap<String, byte[]> find(Settings settings, String command, String classPath, String modulePath) {
        ServiceClasses found = new ServiceClasses(settings);
        String main = command == null ? "" : command.split(" ")[0];
        // A module is named before the class: shop/shop.Main.
        if (!main.endsWith(".jar") && main.contains("/")) {
            main = main.substring(main.indexOf('/') + 1);
        }
        Set<String> entries = new LinkedHashSet<>();
        for (String path : new String[] {classPath, modulePath}) {
            if (path != null && !path.isEmpty()) {
                for (String entry : path.split(File.pathSeparator)) {
                    found.expand(entry, entries);
                }
            }
        }
        if (main.endsWith(".jar") && new File(main).isFile()) {
            main = found.mainOf(main);
        }
        found.root = root(main);
        for (String entry : entries) {
            try {
                found.scan(Paths.get(entry));
            } catch (IOException | RuntimeException unreadable) {
                // The service will complain about it itself, if it matters.
            }
        }
        return found.classes;
    }

    /** The package whose classes belong to the service: at most the first three parts of that of the main class. */
    static String root(String main) {
        int end = main.lastIndexOf('.');
        if (end < 0) {
            return "";
        }
        String[] parts = main.substring(0, end).split("\\.");
        StringBuilder root = new StringBuilder();
        for (int at = 0; at < parts.length && at < 3; at++) {
            root.append(parts[at]).append('/');
        }
        return root.toString();
    }

    private void expand(String entry, Set<String> into) {
        if (entry.endsWith("*")) {
            File[] jars = new File(entry.substring(0, entry.length() - 1)).listFiles();
            for (File jar : jars == null ? new File[0] : jars) {
                if (jar.getName().endsWith(".jar")) {
                    into.add(jar.getPath());
                }
            }
            return;
        }
        if (!into.add(entry) || !entry.endsWith(".jar")) {
            return;
        }
        try (JarFile jar = new JarFile(entry)) {
            Manifest manifest = jar.getManifest();
            String more = manifest == null ? null : manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH);
            for (String word : more == null ? new String[0] : more.trim().split("\\s+")) {
                if (!word.isEmpty() && !word.contains("://")) {
                    expand(new File(new File(entry).getAbsoluteFile().getParentFile(), word).getPath(), into);
                }
            }
        } catch (IOException unreadable) {
            // As above.
        }
    }

    private String mainOf(String path) {
        try (JarFile jar = new JarFile(path)) {
            Attributes attributes = jar.getManifest() == null ? new Attributes() : jar.getManifest().getMainAttributes();
            for (String name : new String[] {"Start-Class", "Main-Class"}) {
                if (attributes.getValue(name) != null) {
                    return attributes.getValue(name).trim();
                }
            }
        } catch (IOException unreadable) {
            return "";
        }
        return "";
    }

    private void scan(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            List<Path> files = new ArrayList<>();
            try (Stream<Path> all = Files.walk(path)) {
                all.filter(file -> file.toString().endsWith(".class")).forEach(files::add);
            }
            for (Path file : files) {
                String name = path.relativize(file).toString().replace(File.separatorChar, '/');
                add(name, true, Files.readAllBytes(file));
            }
        } else if (path.toString().endsWith(".jar") && Files.isRegularFile(path)) {
            jar(path);
        }
    }

    private void jar(Path path) throws IOException {
        try (JarFile jar = new JarFile(path.toFile())) {
            Enumeration<JarEntry> entries = jar.entries();
            while (entries.hasMoreElements()) {
                JarEntry entry = entries.nextElement();
                String name = entry.getName();
                for (String folder : new String[] {"BOOT-INF/classes/", "WEB-INF/classes/"}) {
                    if (name.startsWith(folder) && name.endsWith(".class")) {
                        add(name.substring(folder.length()), true, read(jar.getInputStream(entry)));
                    }
                }
                boolean inside = name.startsWith("BOOT-INF/lib/") || name.startsWith("WEB-INF/lib/");
                if (inside && name.endsWith(".jar")) {
                    nested(name, jar, entry);
                } else if (name.endsWith(".class") && !name.startsWith("BOOT-INF/") && !name.startsWith("WEB-INF/")) {
                    if (mayBelong(name)) {
                        add(name, false, read(jar.getInputStream(entry)));
                    }
                }
            }
        }
    }

    /** A library of a fat jar is looked into only if its name has a part of the root in it: most are others'. */
    private void nested(String name, JarFile jar, JarEntry entry) throws IOException {
        String file = name.substring(name.lastIndexOf('/') + 1);
        boolean likely = !settings.include.isEmpty();
        for (String part : root.split("/")) {
            likely |= part.length() > 3 && file.contains(part);
        }
        if (!likely) {
            return;
        }
        try (JarInputStream in = new JarInputStream(new ByteArrayInputStream(read(jar.getInputStream(entry))))) {
            for (JarEntry inner = in.getNextJarEntry(); inner != null; inner = in.getNextJarEntry()) {
                if (inner.getName().endsWith(".class") && mayBelong(inner.getName())) {
                    add(inner.getName(), false, drain(in));
                }
            }
        }
    }

    private boolean mayBelong(String file) {
        String name = file.substring(0, file.length() - 6);
        if (settings.includes(name.replace('/', '.'))) {
            return true;
        }
        return root.isEmpty() ? name.indexOf('/') < 0 : name.startsWith(root);
    }

    private void add(String file, boolean own, byte[] bytes) {
        String name = file.substring(0, file.length() - 6);
        String dotted = name.replace('/', '.');
        boolean wanted = settings.include.isEmpty() ? own || mayBelong(file) : settings.includes(dotted);
        boolean special = name.endsWith("module-info") || name.endsWith("package-info") || name.startsWith("META-INF/");
        if (wanted && !special && !settings.excludes(dotted)) {
            classes.putIfAbsent(name, bytes);
        }
    }

    private static byte[] read(InputStream from) throws IOException {
        try (InputStream in = from) {
            return drain(in);
        }
    }

    private static byte[] drain(InputStream in) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
            out.write(buffer, 0, count);
        }
        return out.toByteArray();
    }
}
