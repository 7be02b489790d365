package isobath.agent.service;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/** Which packages belong to a service, by the classes that are known to. Names are written with slashes. */
final class Packages {
    /** So many parts of a package tell one program from another. */
    private static final int PARTS = 3;
    /** More packages without a common beginning say nothing. */
    private static final int MOST = 8;

    /** First parts that many programs have in common. */
    private static final Set<String> SHARED =
            new HashSet<>(
                    Arrays.asList(
                            "com", "org", "net", "io", "dev", "app", "me", "eu", "de", "uk", "fr", "es", "it", "nl", "no", "se", "ch",
                            "at", "pl", "br", "cn", "jp", "in", "ru", "au", "ca", "us", "edu", "gov", "info", "biz", "tech", "cloud"));

    /** First parts of packages that are inner parts only of libraries that were moved. */
    private static final Set<String> MOVED = new HashSet<>(Arrays.asList("com", "org", "net", "io", "javax", "jakarta"));

    /** Programs that run services of others: their main class is not that of the service. */
    private static final String[] LAUNCHERS = {
        "io/quarkus/", "org/springframework/boot/loader/", "io/vertx/core/", "io/vertx/launcher/", "io/ktor/server/",
        "io/micronaut/", "io/helidon/", "org/eclipse/jetty/", "org/mortbay/", "org/apache/catalina/", "org/apache/tomcat/",
        "org/apache/tomee/", "org/apache/karaf/", "org/jboss/", "org/wildfly/", "fish/payara/", "com/sun/enterprise/",
        "play/core/", "winstone/", "webapp/runner/", "com/ibm/ws/", "io/openliberty/",
    };

    /** Packages of libraries that jars with everything in them have. */
    private static final String[] LIBRARIES = {
        "java/", "javax/", "jakarta/", "sun/", "jdk/", "com/sun/", "kotlin/", "kotlinx/", "scala/", "groovy/", "clojure/",
        "org/apache/", "org/eclipse/", "org/springframework/", "org/hibernate/", "org/jboss/", "org/wildfly/", "org/slf4j/",
        "org/glassfish/", "org/codehaus/", "org/objectweb/", "org/yaml/", "org/joda/", "org/json/", "org/h2/", "org/hsqldb/",
        "org/postgresql/", "org/mariadb/", "org/antlr/", "org/aspectj/", "org/intellij/", "org/jetbrains/", "org/reactivestreams/",
        "org/checkerframework/", "org/aopalliance/", "org/jctools/", "org/javassist/", "org/fusesource/", "org/xerial/",
        "org/flywaydb/", "org/mvel2/", "org/jvnet/", "org/hamcrest/", "org/mockito/", "org/bouncycastle/", "org/osgi/",
        "ch/qos/", "antlr/", "javassist/", "reactor/", "rx/", "okhttp3/", "okio/", "retrofit2/", "liquibase/", "aj/",
        "com/fasterxml/", "com/google/", "com/mysql/", "com/zaxxer/", "com/typesafe/", "com/squareup/", "com/codahale/",
        "com/github/benmanes/", "com/jayway/", "com/oracle/", "com/amazonaws/", "com/microsoft/", "com/esotericsoftware/",
        "io/netty/", "io/vertx/", "io/quarkus/", "io/smallrye/", "io/micronaut/", "io/ktor/", "io/micrometer/", "io/dropwizard/",
        "io/opentelemetry/", "io/opentracing/", "io/reactivex/", "io/swagger/", "io/grpc/", "io/helidon/", "io/prometheus/",
        "io/jsonwebtoken/", "io/github/classgraph/", "io/undertow/", "io/agroal/", "net/bytebuddy/", "net/sf/", "akka/", "play/",
        "software/amazon/", "META-INF/", "org/jacoco/", "isobath/agent/",
    };

    private final Set<String> roots = new TreeSet<>();

    /** Whether a class only starts services of others. */
    static boolean isLauncher(String name) {
        return begins(name, LAUNCHERS);
    }

    /** Whether a class is of a library that many programs use. */
    static boolean isLibrary(String name) {
        return begins(name, LIBRARIES);
    }

    private static boolean begins(String name, String[] prefixes) {
        for (String prefix : prefixes) {
            if (name.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    /** The packages that begin like that of a class belong to the service. */
    void addLike(String name) {
        int end = name.lastIndexOf('/');
        String[] parts = end < 0 ? new String[0] : name.substring(0, end).split("/");
        int count = Math.min(parts.length, PARTS);
        roots.add(count == 0 ? "" : String.join("/", Arrays.copyOf(parts, count)) + "/");
    }

    /** What all these classes have in common is the beginning of the packages of the service. */
    void addCommon(Set<String> names) {
        Packages several = new Packages();
        String[] common = null;
        for (String name : names) {
            int end = name.lastIndexOf('/');
            // A service may have a changed class of a library among its own.
            if (end < 0 || isLibrary(name)) {
                continue;
            }
            several.addLike(name);
            String[] parts = name.substring(0, end).split("/");
            common = common == null ? Arrays.copyOf(parts, Math.min(parts.length, PARTS)) : common(common, parts);
        }
        if (common != null && common.length > 1) {
            roots.add(String.join("/", common) + "/");
        } else if (several.roots.size() <= MOST) {
            roots.addAll(several.roots);
        }
    }

    private static String[] common(String[] some, String[] others) {
        int length = 0;
        while (length < some.length && length < others.length && some[length].equals(others[length])) {
            length++;
        }
        return Arrays.copyOf(some, length);
    }

    boolean isEmpty() {
        return roots.isEmpty();
    }

    /** Whether a class belongs to one of them. */
    boolean contain(String name) {
        for (String root : roots) {
            boolean isExact = root.isEmpty() || SHARED.contains(root.substring(0, root.length() - 1));
            if (name.startsWith(root) && (!isExact || name.indexOf('/', root.length()) < 0)) {
                return !isRelocated(name.substring(root.length()));
            }
        }
        return false;
    }

    /** Whether a library was moved into a package of the service, as in {@code shop/shaded/com/google/}. */
    private static boolean isRelocated(String rest) {
        int slash = rest.indexOf('/');
        if (slash > 0 && MOVED.contains(rest.substring(0, slash))) {
            return true;
        }
        for (String library : LIBRARIES) {
            boolean isLong = library.indexOf('/') < library.length() - 1;
            if (isLong && (rest.startsWith(library) || rest.contains("/" + library))) {
                return true;
            }
        }
        return false;
    }
}
