import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Builds the agent with a JDK alone: {@code java Build.java FOLDER JAR} compiles the sources in FOLDER and writes the agent
 * to JAR, and what it needs on the way to a folder beside it.
 *
 * <p>Users whose program was built by cargo have the sources of the agent in it, and need not have Maven. The one library
 * comes from the local Maven repository, or from Maven Central or the mirror that {@code ISOBATH_MAVEN_REPOSITORY} names;
 * its checksum is known here. As in pom.xml, its packages are renamed, because services have their own release of it.
 */
final class Build {
    private static final String ASM = "9.8";
    /** Name and SHA-256 of each jar of ASM. */
    private static final String[][] LIBRARIES = {
        {"asm", "876eab6a83daecad5ca67eb9fcabb063c97b5aeb8cf1fca7a989ecde17522051"},
        {"asm-tree", "14b7880cb7c85eed101e2710432fc3ffb83275532a6a894dc4c4095d49ad59f1"},
    };
    private static final String MANIFEST = String.join("\r\n",
        "Manifest-Version: 1.0",
        "Premain-Class: isobath.agent.Premain",
        "Launcher-Agent-Class: isobath.agent.Premain",
        "Can-Redefine-Classes: false",
        "Can-Retransform-Classes: true",
        "", "");
    private static final int PATIENCE_MS = 30_000;

    private Build() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]), jar = Path.of(arguments[1]);
        Path scratch = Files.createDirectories(jar.resolveSibling("build"));
        List<Path> libraries = new ArrayList<>();
        // Sorted, so that the same sources give the same bytes.
        Map<String, byte[]> classes = new TreeMap<>();
        try {
            for (String[] library : LIBRARIES) {
                byte[] bytes = library(library[0], library[1]);
                libraries.add(Files.write(scratch.resolve(library[0] + ".jar"), bytes));
                addLibrary(classes, bytes);
            }
            Path compiled = Files.createDirectories(scratch.resolve("classes"));
            compile(folder, compiled, libraries);
            for (Path file : filesBelow(compiled, ".class")) {
                classes.put(compiled.relativize(file).toString(), relocate(Files.readAllBytes(file)));
            }
            Files.write(jar, pack(classes));
        } catch (IOException | IllegalStateException problem) {
            System.err.println(problem.getMessage());
            System.exit(1);
        }
    }

    /** A jar of ASM, if it is the one that is known here. */
    private static byte[] library(String name, String sha256) throws Exception {
        String path = "org/ow2/asm/" + name + "/" + ASM + "/" + name + "-" + ASM + ".jar";
        Path local = Path.of(System.getProperty("user.home"), ".m2", "repository").resolve(path);
        if (Files.isReadable(local)) {
            byte[] bytes = Files.readAllBytes(local);
            if (sha256.equals(sha256(bytes))) {
                return bytes;
            }
        }
        String repository = System.getenv("ISOBATH_MAVEN_REPOSITORY");
        if (repository == null || repository.isEmpty()) {
            repository = "https://repo1.maven.org/maven2";
        }
        String url = repository.replaceAll("/+$", "") + "/" + path;
        byte[] bytes;
        try {
            URLConnection connection = URI.create(url).toURL().openConnection();
            connection.setConnectTimeout(PATIENCE_MS);
            connection.setReadTimeout(PATIENCE_MS);
            try (InputStream body = connection.getInputStream()) {
                bytes = body.readAllBytes();
            }
        } catch (IOException | IllegalArgumentException problem) {
            throw new IllegalStateException("cannot download " + url + ": " + problem
                + "; ISOBATH_MAVEN_REPOSITORY names a mirror");
        }
        if (!sha256.equals(sha256(bytes))) {
            throw new IllegalStateException("the checksum of " + url + " is wrong: expected " + sha256 + ", found "
                + sha256(bytes));
        }
        return bytes;
    }

    private static String sha256(byte[] bytes) throws Exception {
        StringBuilder text = new StringBuilder();
        for (byte one : MessageDigest.getInstance("SHA-256").digest(bytes)) {
            text.append(String.format("%02x", one));
        }
        return text.toString();
    }

    private static void compile(Path folder, Path out, List<Path> libraries) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new IllegalStateException("this Java has no compiler");
        }
        String path = libraries.stream().map(Path::toString).collect(Collectors.joining(System.getProperty("path.separator")));
        // Without names of variables: the message of a null receiver would name ours.
        List<String> options = new ArrayList<>(List.of("--release", "8", "-encoding", "UTF-8", "-g:source,lines", "-nowarn",
            "-Xlint:-options", "-proc:none", "-cp", path, "-d", out.toString()));
        filesBelow(folder, ".java").forEach(file -> options.add(file.toString()));
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        if (compiler.run(null, said, said, options.toArray(new String[0])) != 0) {
            throw new IllegalStateException(said.toString());
        }
    }

    private static List<Path> filesBelow(Path folder, String end) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(end)).sorted().collect(Collectors.toList());
        }
    }

    private static void addLibrary(Map<String, byte[]> classes, byte[] jar) throws IOException {
        try (ZipInputStream entries = new ZipInputStream(new ByteArrayInputStream(jar))) {
            for (ZipEntry entry = entries.getNextEntry(); entry != null; entry = entries.getNextEntry()) {
                if (entry.getName().startsWith("org/objectweb/asm/") && entry.getName().endsWith(".class")) {
                    classes.put(relocate(entry.getName()), relocate(entries.readAllBytes()));
                }
            }
        }
    }

    private static String relocate(String text) {
        return text.replace("org/objectweb/asm", "isobath/agent/asm").replace("org.objectweb.asm", "isobath.agent.asm");
    }

    /** A class with the packages renamed: names, descriptors and texts are all in its constant pool. */
    private static byte[] relocate(byte[] bytes) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
        ByteArrayOutputStream written = new ByteArrayOutputStream(bytes.length);
        DataOutputStream out = new DataOutputStream(written);
        // The magic number and the version.
        out.writeLong(in.readLong());
        int count = in.readUnsignedShort();
        out.writeShort(count);
        for (int i = 1; i < count; i++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            switch (tag) {
                case 1: // Utf8
                    out.writeUTF(relocate(in.readUTF()));
                    break;
                case 5: // Long
                case 6: // Double; both take two places
                    out.write(in.readNBytes(8));
                    i++;
                    break;
                case 7: // Class
                case 8: // String
                case 16: // MethodType
                case 19: // Module
                case 20: // Package
                    out.write(in.readNBytes(2));
                    break;
                case 15: // MethodHandle
                    out.write(in.readNBytes(3));
                    break;
                default:
                    out.write(in.readNBytes(4));
            }
        }
        out.write(in.readAllBytes());
        return written.toByteArray();
    }

    private static byte[] pack(Map<String, byte[]> classes) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream out = new ZipOutputStream(bytes)) {
            add(out, "META-INF/MANIFEST.MF", MANIFEST.getBytes("UTF-8"));
            for (Map.Entry<String, byte[]> one : classes.entrySet()) {
                add(out, one.getKey(), one.getValue());
            }
        }
        return bytes.toByteArray();
    }

    private static void add(ZipOutputStream out, String name, byte[] bytes) throws IOException {
        ZipEntry entry = new ZipEntry(name);
        entry.setTime(0);
        out.putNextEntry(entry);
        out.write(bytes);
        out.closeEntry();
    }
}
