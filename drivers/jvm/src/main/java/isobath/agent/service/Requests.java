package isobath.agent.service;

import isobath.agent.jdbc.Weak;
import isobath.agent.track.Place;
import isobath.agent.track.Track;
import java.lang.reflect.Type;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;

/** Parts of a request that the service looks for by name, whatever its document says (seed 002, section 6). */
public final class Requests {
    private static final String STRING = "(Ljava/lang/String;)";
    /** How parsers are told the type of a body. */
    private static final String[] TYPES = {
        "Ljava/lang/Class", "Ljava/lang/reflect/Type", "Lcom/fasterxml/jackson/core/type/TypeReference",
        "Lcom/google/gson/reflect/TypeToken",
    };

    /** What is known of the types of bodies, which are few and come with every request. */
    private static final Weak<Described> DESCRIBED = new Weak<>();

    private Requests() {}

    private static final class Described {
        private final Set<String> fields;
        private final String schema;

        Described(Object asked) throws ReflectiveOperationException {
            Object type = asked;
            if (!(type instanceof Type)) {
                // A TypeReference of Jackson's or a TypeToken of Gson's.
                type = type.getClass().getMethod("getType").invoke(type);
            }
            Type plain = BodyTypes.plain((Type) type);
            fields = BodyTypes.fields(plain);
            schema = BodyTypes.schema(plain);
        }
    }

    /** A call that names a part of a request by its last argument. */
    public static final class Name {
        private final int place;
        private final boolean isType;

        Name(int place, boolean isType) {
            this.place = place;
            this.isType = isType;
        }

        /** What tells of it, before the call. */
        public InsnList probe() {
            InsnList probe = new InsnList();
            if (isType) {
                probe.add(new InsnNode(Opcodes.DUP));
                call(probe, "isobath/agent/service/Requests", "body", "(Ljava/lang/Object;)V");
            } else if (place == 0) {
                call(probe, "isobath/agent/service/Requests", "anyBody", "()V");
            } else {
                probe.add(new InsnNode(Opcodes.DUP));
                probe.add(new IntInsnNode(Opcodes.BIPUSH, place));
                call(probe, "isobath/agent/track/Track", "named", "(Ljava/lang/String;I)V");
            }
            return probe;
        }

        private static void call(InsnList probe, String owner, String name, String descriptor) {
            probe.add(new MethodInsnNode(Opcodes.INVOKESTATIC, owner, name, descriptor, false));
        }
    }

    /** What a call asks of a request; null when it does not. */
    public static Name of(String owner, String name, String descriptor) {
        if (isServlet(owner)) {
            if (name.equals("getInputStream") || name.equals("getReader")) {
                return new Name(0, false);
            }
            return descriptor.startsWith(STRING) ? named(name) : null;
        }
        if (owner.startsWith("org/springframework/web/context/request/") && owner.endsWith("WebRequest")) {
            return descriptor.startsWith(STRING) ? named(name) : null;
        }
        boolean readsJson =
                (owner.startsWith("com/fasterxml/jackson/databind/Object") && name.equals("readValue"))
                        || (owner.equals("com/google/gson/Gson") && name.equals("fromJson"));
        if (readsJson) {
            for (String type : TYPES) {
                if (descriptor.contains(type + ";)")) {
                    return new Name(Place.FIELD, true);
                }
            }
        }
        if (!descriptor.startsWith(STRING)) {
            return null;
        }
        switch (owner) {
            case "org/springframework/http/HttpHeaders":
                return isOneOf(name, "getFirst", "getOrEmpty", "getValuesAsList") ? new Name(Place.HEADER, false) : null;
            case "javax/ws/rs/core/HttpHeaders":
            case "jakarta/ws/rs/core/HttpHeaders":
                return isOneOf(name, "getHeaderString", "getRequestHeader") ? new Name(Place.HEADER, false) : null;
            case "com/fasterxml/jackson/databind/JsonNode":
            case "com/fasterxml/jackson/databind/node/ObjectNode":
                return isOneOf(name, "get", "path", "has", "hasNonNull", "required") ? new Name(Place.FIELD, false) : null;
            case "com/google/gson/JsonObject":
            case "org/json/JSONObject":
                boolean reads = name.startsWith("get") || name.startsWith("opt") || name.equals("has");
                return reads ? new Name(Place.FIELD, false) : null;
            default:
                return null;
        }
    }

    private static boolean isServlet(String owner) {
        boolean isServlet = owner.startsWith("javax/servlet/") || owner.startsWith("jakarta/servlet/");
        return isServlet && owner.contains("ServletRequest");
    }

    private static Name named(String name) {
        if (isOneOf(name, "getParameter", "getParameterValues")) {
            return new Name(Place.QUERY, false);
        }
        boolean isHeader = isOneOf(name, "getHeader", "getHeaders", "getHeaderValues", "getIntHeader", "getDateHeader");
        return isHeader ? new Name(Place.HEADER, false) : null;
    }

    private static boolean isOneOf(String name, String... names) {
        for (String other : names) {
            if (name.equals(other)) {
                return true;
            }
        }
        return false;
    }

    /** The body is read as bytes: that something should be sent at all. */
    public static void anyBody() {
        Track.named("", Place.FIELD);
    }

    /** A body is read as JSON into this type. */
    public static void body(Object asked) {
        if (asked == null || !Track.isListening()) {
            return;
        }
        try {
            Described described = DESCRIBED.get(asked);
            if (described == null) {
                described = new Described(asked);
                DESCRIBED.put(asked, described);
            }
            for (String field : described.fields) {
                Track.named(field, Place.FIELD);
            }
            if (described.schema != null) {
                Track.body(described.schema);
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError secret) {
            // A type that does not let itself be looked at teaches nothing.
        }
    }
}
