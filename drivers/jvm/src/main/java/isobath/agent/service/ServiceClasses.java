package isobath.agent.service;

import isobath.agent.Settings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarInputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.objectweb.asm.ClassReader;

/**
 * The classes that belong to the service, found before any of them is loaded.
 *
 * <p>All of these do: folders on the class path; the classes that a fat jar or a war keeps apart from its libraries; the
 * jars in the folder {@code app} of a Quarkus service; and a jar with the main class whose libraries are in jars of their
 * own. Of all other jars those classes do whose package begins like that of the main class
 * or of the classes above, or that the user names.
 */
public final class ServiceClasses {
    private static final String[] INNER = {"BOOT-INF/", "WEB-INF/"};
    /** Web applications that come with a server. */
    private static final Set<String> OF_SERVERS =
            new TreeSet<>(Arrays.asList("docs", "examples", "manager", "host-manager"));
    /** Where Ktor finds the functions that make up the service. */
    private static final Pattern MODULES = Pattern.compile("modules\\s*[=:]\\s*\\[?\\s*\"?([\\w.]+)");

    private final Settings settings;
    private final TreeMap<String, byte[]> classes = new TreeMap<>();
    private final Packages packages = new Packages();
    /** The class path, with what the manifests of its jars add. */
    private final Set<String> entries = new LinkedHashSet<>();
    /** The jars that have no class of others in them. */
    private final List<File> own = new ArrayList<>();
    /** The main class, with slashes; empty when it only starts services. */
    private String main = "";

    private ServiceClasses(Settings settings) {
        this.settings = settings;
    }

    /**
     * Finds them, by the properties of this JVM. The keys are names with slashes.
     *
     * @param bases folders whose {@code webapps} a server runs; null for those that are not set
     */
    public static TreeMap<String, byte[]> find(
            Settings settings, String command, String classPath, String modulePath, String... bases) {
        ServiceClasses found = new ServiceClasses(settings);
        for (String path : new String[] {classPath, modulePath}) {
            for (String entry : path == null ? new String[0] : path.split(File.pathSeparator)) {
                if (!entry.isEmpty()) {
                    found.expand(entry);
                }
            }
        }
        found.locate(command == null ? "" : command, bases);
        found.scan();
        return found.classes;
    }

    /** Finds the main class, and the places that hold nothing but the service. */
    private void locate(String command, String[] bases) {
        String started = started(command);
        Set<File> webapps = new LinkedHashSet<>();
        if (isArchive(started)) {
            File folder = new File(started).getAbsoluteFile().getParentFile();
            webapps.add(new File(folder, "webapps"));
            entries.add(started);
            main = mainOf(new File(started));
            if (new File(folder, "quarkus").isDirectory()) {
                own.addAll(jars(new File(folder, "app")));
                for (File library : jars(new File(folder, "lib/main"))) {
                    entries.add(library.getPath());
                }
                main = own.isEmpty() ? main : "";
            }
        } else {
            // A module is named before the class: shop/shop.Main.
            main = started.substring(started.indexOf('/') + 1).replace('.', '/');
        }
        for (String word : command.substring(started.length()).trim().split(" ")) {
            if (word.endsWith(".war") || new File(word, "WEB-INF").isDirectory()) {
                entries.add(word);
            }
        }
        for (String base : bases) {
            if (base != null) {
                webapps.add(new File(base, "webapps"));
            }
        }
        for (File folder : webapps) {
            File[] applications = folder.listFiles();
            for (File application : applications == null ? new File[0] : applications) {
                if (!OF_SERVERS.contains(application.getName())) {
                    entries.add(application.getPath());
                }
            }
        }
        for (String entry : new ArrayList<>(entries)) {
            if (Packages.isLauncher(main) && new File(entry, "META-INF/MANIFEST.MF").isFile()) {
                main = mainOf(new File(entry));
            }
        }
        main = Packages.isLauncher(main) ? "" : main;
    }

    /** The jar or class that the command begins with; the path of a jar may have spaces in it. */
    private static String started(String command) {
        for (int end = command.indexOf(' '); end >= 0; end = command.indexOf(' ', end + 1)) {
            String prefix = command.substring(0, end);
            if (isArchive(prefix)) {
                return prefix;
            }
        }
        return isArchive(command) ? command : command.split(" ")[0];
    }

    private static boolean isArchive(String path) {
        return (path.endsWith(".jar") || path.endsWith(".war")) && new File(path).isFile();
    }

    private void expand(String entry) {
        if (entry.endsWith("*")) {
            for (File jar : jars(new File(entry.substring(0, entry.length() - 1)))) {
                entries.add(jar.getPath());
            }
            return;
        }
        // The JVM puts agents on the class path.
        boolean isAgent = entry.endsWith(".jar") && !attribute(new File(entry), "Premain-Class").isEmpty();
        if (isAgent || !entries.add(entry) || !entry.endsWith(".jar")) {
            return;
        }
        String more = attribute(new File(entry), Attributes.Name.CLASS_PATH.toString());
        for (String word : more.trim().split("\\s+")) {
            if (!word.isEmpty() && !word.contains("://")) {
                expand(new File(new File(entry).getAbsoluteFile().getParentFile(), word).getPath());
            }
        }
    }

    /** The jars in a folder, in the order of their names. */
    private static List<File> jars(File folder) {
        File[] files = folder.listFiles((parent, name) -> name.endsWith(".jar"));
        List<File> jars = new ArrayList<>(Arrays.asList(files == null ? new File[0] : files));
        jars.sort(null);
        return jars;
    }

    /** The class that a jar, or the folder of an unpacked one, starts, with slashes. */
    private static String mainOf(File jar) {
        for (String name : new String[] {"Start-Class", "Main-Verticle", "Main-Class"}) {
            String value = attribute(jar, name).trim();
            if (!value.isEmpty()) {
                return value.replace('.', '/');
            }
        }
        return "";
    }

    /** A line of a manifest, or nothing. */
    private static String attribute(File jar, String name) {
        try {
            Manifest manifest;
            if (jar.isDirectory()) {
                try (InputStream in = Files.newInputStream(jar.toPath().resolve("META-INF/MANIFEST.MF"))) {
                    manifest = new Manifest(in);
                }
            } else {
                try (JarFile file = new JarFile(jar)) {
                    manifest = file.getManifest();
                }
            }
            String value = manifest == null ? null : manifest.getMainAttributes().getValue(name);
            return value == null ? "" : value;
        } catch (IOException unreadable) {
            // The service will complain about it itself, if it matters.
            return "";
        }
    }

    private interface Reading {
        void of(File file) throws IOException;
    }

    private void each(Iterable<File> files, Reading reading) {
        for (File file : files) {
            try {
                reading.of(file);
            } catch (IOException | RuntimeException unreadable) {
                // As above.
            }
        }
    }

    private void scan() {
        List<File> all = new ArrayList<>();
        for (String entry : entries) {
            all.add(new File(entry));
        }
        each(own, file -> jar(file, true));
        each(all, this::ownOf);
        if (!classes.isEmpty()) {
            packages.addCommon(classes.keySet());
        }
        if (!main.isEmpty()) {
            packages.addLike(main);
            each(all, this::startedByMain);
        }
        if (packages.isEmpty()) {
            each(all, this::modules);
        }
        boolean isKnown = !packages.isEmpty() || !settings.include.isEmpty();
        each(all, file -> librariesOf(file, isKnown));
        for (File jar : own) {
            // Quarkus keeps classes that it changed when the service was built apart, and loads them first.
            File changed = new File(jar.getParentFile().getParentFile(), "quarkus/transformed-bytecode.jar");
            if (changed.isFile()) {
                each(Arrays.asList(changed), this::instead);
                break;
            }
        }
    }

    /** Adds what can only be the service's own. */
    private void ownOf(File file) throws IOException {
        if (file.isDirectory()) {
            boolean isUnpacked = false;
            for (String inner : INNER) {
                isUnpacked |= new File(file, inner).isDirectory();
                folder(new File(file, inner + "classes"));
            }
            if (!isUnpacked) {
                folder(file);
            }
        } else if (isArchive(file.getPath())) {
            jar(file, isThin(file));
        }
    }

    private void folder(File folder) throws IOException {
        if (!folder.isDirectory()) {
            return;
        }
        Path path = folder.toPath();
        List<Path> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(path)) {
            all.filter(file -> file.toString().endsWith(".class")).forEach(files::add);
        }
        for (Path file : files) {
            String name = path.relativize(file).toString().replace(File.separatorChar, '/');
            add(name, true, Files.readAllBytes(file));
        }
    }

    /** Adds the classes that a jar keeps apart, or all when they are the service's own. */
    private void jar(File file, boolean isOwn) throws IOException {
        try (JarFile jar = new JarFile(file)) {
            Enumeration<JarEntry> all = jar.entries();
            while (all.hasMoreElements()) {
                JarEntry entry = all.nextElement();
                String name = entry.getName();
                String inner = inner(name);
                boolean isKept = inner != null && name.startsWith(inner + "classes/");
                if (name.endsWith(".class") && (isKept || (isOwn && inner == null))) {
                    String plain = isKept ? name.substring(inner.length() + "classes/".length()) : name;
                    add(plain, true, read(jar.getInputStream(entry)));
                }
            }
        }
    }

    private static String inner(String name) {
        for (String inner : INNER) {
            if (name.startsWith(inner)) {
                return inner;
            }
        }
        return null;
    }

    /** Whether a jar has the main class in it and its libraries elsewhere. */
    private boolean isThin(File file) throws IOException {
        if (main.isEmpty() || entries.size() < 2) {
            return false;
        }
        try (JarFile jar = new JarFile(file)) {
            if (jar.getEntry(main + ".class") == null) {
                return false;
            }
            int projects = 0;
            Enumeration<JarEntry> all = jar.entries();
            while (all.hasMoreElements()) {
                String name = all.nextElement().getName();
                projects += name.startsWith("META-INF/maven/") && name.endsWith("/pom.properties") ? 1 : 0;
                if (name.endsWith(".class") && Packages.isLibrary(name)) {
                    return false;
                }
            }
            return projects < 2;
        }
    }

    /** A main class that is alone in its package starts classes of other packages: those belong to the service, too. */
    private void startedByMain(File file) throws IOException {
        if (!isArchive(file.getPath())) {
            return;
        }
        try (JarFile jar = new JarFile(file)) {
            JarEntry entry = jar.getJarEntry(main + ".class");
            String folder = main.substring(0, main.lastIndexOf('/') + 1);
            if (entry == null || folder.isEmpty()) {
                return;
            }
            Enumeration<JarEntry> all = jar.entries();
            while (all.hasMoreElements()) {
                String name = all.nextElement().getName();
                boolean isNeighbor = name.startsWith(folder) && name.indexOf('/', folder.length()) < 0;
                if (isNeighbor && name.endsWith(".class") && !name.startsWith(main)) {
                    return;
                }
            }
            for (String name : classesIn(read(jar.getInputStream(entry)))) {
                boolean isLocal = !Packages.isLibrary(name) && jar.getEntry(name + ".class") != null;
                if (isLocal && !name.startsWith(folder)) {
                    packages.addLike(name);
                }
            }
        }
    }

    /** The classes that a class names. */
    private static List<String> classesIn(byte[] bytes) {
        List<String> names = new ArrayList<>();
        ClassReader reader = new ClassReader(bytes);
        char[] buffer = new char[reader.getMaxStringLength()];
        for (int item = 1; item < reader.getItemCount(); item++) {
            int offset = reader.getItem(item);
            // 7 is the tag of a class; wide constants leave an item without an offset.
            if (offset > 0 && reader.readByte(offset - 1) == 7) {
                names.add(reader.readUTF8(offset, buffer));
            }
        }
        return names;
    }

    /** Looks for the functions that Ktor starts; they are all that tells a jar of everything what is its own. */
    private void modules(File file) throws IOException {
        if (!isArchive(file.getPath())) {
            return;
        }
        try (JarFile jar = new JarFile(file)) {
            for (String name : new String[] {"application.conf", "application.yaml", "application.yml"}) {
                JarEntry entry = jar.getJarEntry(name);
                if (entry != null) {
                    String text = new String(read(jar.getInputStream(entry)), StandardCharsets.UTF_8);
                    Matcher matcher = MODULES.matcher(text.replaceAll("\\n\\s*-\\s*", " "));
                    if (matcher.find() && matcher.group(1).contains(".")) {
                        String type = matcher.group(1).substring(0, matcher.group(1).lastIndexOf('.'));
                        packages.addLike(type.replace('.', '/'));
                    }
                }
            }
        }
    }

    /** Adds the classes of libraries whose packages belong to the service; where none are known, all but known libraries. */
    private void librariesOf(File file, boolean isKnown) throws IOException {
        if (file.isDirectory()) {
            for (String inner : INNER) {
                for (File jar : jars(new File(file, inner + "lib"))) {
                    librariesOf(jar, isKnown);
                }
            }
            return;
        }
        if (!isArchive(file.getPath())) {
            return;
        }
        try (JarFile jar = new JarFile(file)) {
            Enumeration<JarEntry> all = jar.entries();
            while (all.hasMoreElements()) {
                JarEntry entry = all.nextElement();
                String name = entry.getName();
                String inner = inner(name);
                if (inner == null && name.endsWith(".class")) {
                    if (isKnown ? mayBelong(name) : !Packages.isLibrary(name)) {
                        add(name, !isKnown, read(jar.getInputStream(entry)));
                    }
                } else if (inner != null && name.startsWith(inner + "lib/") && name.endsWith(".jar")) {
                    nested(read(jar.getInputStream(entry)));
                }
            }
        }
    }

    /** A library within a fat jar is unpacked only if the list of its files has a class that may belong. */
    private void nested(byte[] bytes) throws IOException {
        boolean isLikely = false;
        for (String name : names(bytes)) {
            isLikely |= name.endsWith(".class") && mayBelong(name);
        }
        if (!isLikely) {
            return;
        }
        try (JarInputStream in = new JarInputStream(new ByteArrayInputStream(bytes))) {
            for (JarEntry inner = in.getNextJarEntry(); inner != null; inner = in.getNextJarEntry()) {
                if (inner.getName().endsWith(".class") && mayBelong(inner.getName())) {
                    add(inner.getName(), false, drain(in));
                }
            }
        }
    }

    /** The names of the files in a jar, from the directory at its end. */
    private static List<String> names(byte[] jar) {
        List<String> names = new ArrayList<>();
        int end = jar.length - 22;
        while (end >= 0 && number(jar, end, 4) != 0x06054b50) {
            end--;
        }
        int at = end < 0 ? jar.length : number(jar, end + 16, 4);
        while (at >= 0 && at + 46 <= jar.length && number(jar, at, 4) == 0x02014b50) {
            int length = number(jar, at + 28, 2);
            if (at + 46 + length <= jar.length) {
                names.add(new String(jar, at + 46, length, StandardCharsets.UTF_8));
            }
            at += 46 + length + number(jar, at + 30, 2) + number(jar, at + 32, 2);
        }
        return names;
    }

    private static int number(byte[] from, int at, int size) {
        int number = 0;
        for (int place = 0; place < size; place++) {
            number |= (from[at + place] & 0xFF) << 8 * place;
        }
        return number;
    }

    /** Takes the classes of a jar in place of those of the same name. */
    private void instead(File file) throws IOException {
        try (JarFile jar = new JarFile(file)) {
            Enumeration<JarEntry> all = jar.entries();
            while (all.hasMoreElements()) {
                JarEntry entry = all.nextElement();
                if (entry.getName().endsWith(".class")) {
                    classes.replace(name(entry.getName()), read(jar.getInputStream(entry)));
                }
            }
        }
    }

    private boolean mayBelong(String file) {
        String name = name(file);
        return settings.includes(name.replace('/', '.')) || packages.contain(name);
    }

    private void add(String file, boolean own, byte[] bytes) {
        String name = name(file);
        String dotted = name.replace('/', '.');
        boolean wanted = settings.include.isEmpty() ? own || mayBelong(file) : settings.includes(dotted);
        boolean special = name.endsWith("module-info") || name.endsWith("package-info") || name.startsWith("META-INF/");
        if (wanted && !special && !settings.excludes(dotted)) {
            classes.putIfAbsent(name, bytes);
        }
    }

    private static String name(String file) {
        return file.substring(0, file.length() - ".class".length());
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
