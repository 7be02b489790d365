package isobath.agent.service;

import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** What a type that a JSON body is read into allows, as its fields say. */
final class BodyTypes {
    /** Deeper than this, anything is allowed; so types that hold themselves have an end. */
    private static final int DEPTH = 5;
    /** A longer schema is not worth its way. */
    private static final int LONGEST = 8_000;

    private static final String ANYTHING = "{}";
    /** Types that are one value in JSON. */
    private static final Map<String, String> VALUES = new HashMap<>();

    static {
        String integer = "{\"type\":\"integer\",\"format\":\"int32\"}";
        String number = "{\"type\":\"number\"}";
        String small = "{\"type\":\"integer\",\"minimum\":%d,\"maximum\":%d}";
        value(String.format(small, Byte.MIN_VALUE, Byte.MAX_VALUE), byte.class, Byte.class);
        value(String.format(small, Short.MIN_VALUE, Short.MAX_VALUE), short.class, Short.class);
        value(integer, int.class, Integer.class);
        value("{\"type\":\"integer\",\"format\":\"int64\"}", long.class, Long.class);
        value("{\"type\":\"integer\"}", BigInteger.class);
        value(number, float.class, Float.class, double.class, Double.class, BigDecimal.class, Number.class);
        value("{\"type\":\"boolean\"}", boolean.class, Boolean.class);
        value("{\"type\":\"string\"}", String.class, CharSequence.class, java.time.LocalDateTime.class, java.time.LocalTime.class);
        value("{\"type\":\"string\",\"minLength\":1,\"maxLength\":1}", char.class, Character.class);
        value(formatted("uuid"), java.util.UUID.class);
        value(formatted("uri"), java.net.URI.class, java.net.URL.class);
        value(formatted("date"), java.time.LocalDate.class);
        value(
                formatted("date-time"),
                java.time.Instant.class, java.time.OffsetDateTime.class, java.time.ZonedDateTime.class, java.util.Date.class);
    }

    private BodyTypes() {}

    private static void value(String schema, Class<?>... types) {
        for (Class<?> type : types) {
            VALUES.put(type.getName(), schema);
        }
    }

    private static String formatted(String format) {
        return "{\"type\":\"string\",\"format\":\"" + format + "\"}";
    }

    /** A type of Jackson's as one of the platform; any other as it is. */
    static Type plain(Type type) throws ReflectiveOperationException {
        if (type == null || !type.getClass().getName().startsWith("com.fasterxml.jackson.databind.")) {
            return type;
        }
        Class<?> raw = (Class<?>) type.getClass().getMethod("getRawClass").invoke(type);
        Type[] arguments = new Type[(Integer) type.getClass().getMethod("containedTypeCount").invoke(type)];
        Method argument = type.getClass().getMethod("containedType", int.class);
        for (int at = 0; at < arguments.length; at++) {
            arguments[at] = plain((Type) argument.invoke(type, at));
        }
        return arguments.length == 0 ? raw : new Generic(raw, arguments);
    }

    private static final class Generic implements ParameterizedType {
        private final Class<?> raw;
        private final Type[] arguments;

        Generic(Class<?> raw, Type[] arguments) {
            this.raw = raw;
            this.arguments = arguments;
        }

        @Override
        public Type[] getActualTypeArguments() {
            return arguments;
        }

        @Override
        public Type getRawType() {
            return raw;
        }

        @Override
        public Type getOwnerType() {
            return null;
        }
    }

    /** The names that an object of a type may have in JSON; none where that is not known. */
    static Set<String> fields(Type type) {
        return type instanceof Class && isOurs((Class<?>) type) ? named((Class<?>) type).keySet() : Collections.emptySet();
    }

    /** The JSON Schema of a type; null where it says nothing, or too much. */
    static String schema(Type type) {
        StringBuilder out = new StringBuilder();
        write(type, DEPTH, out);
        return out.length() > LONGEST || out.toString().equals(ANYTHING) ? null : out.toString();
    }

    private static void write(Type type, int depth, StringBuilder out) {
        if (out.length() > LONGEST) {
            return;
        }
        if (type instanceof ParameterizedType) {
            ParameterizedType generic = (ParameterizedType) type;
            writeClass((Class<?>) generic.getRawType(), generic.getActualTypeArguments(), depth, out);
        } else if (type instanceof GenericArrayType) {
            writeArray(((GenericArrayType) type).getGenericComponentType(), depth, out);
        } else if (type instanceof WildcardType) {
            write(((WildcardType) type).getUpperBounds()[0], depth, out);
        } else if (type instanceof Class) {
            writeClass((Class<?>) type, new Type[0], depth, out);
        } else {
            out.append(ANYTHING);
        }
    }

    private static void writeClass(Class<?> type, Type[] arguments, int depth, StringBuilder out) {
        String value = VALUES.get(type.getName());
        Type last = arguments.length == 0 ? Object.class : arguments[arguments.length - 1];
        if (value != null) {
            out.append(value);
        } else if (depth == 0) {
            out.append(ANYTHING);
        } else if (type.isArray()) {
            writeArray(type.getComponentType(), depth, out);
        } else if (Collection.class.isAssignableFrom(type)) {
            writeArray(last, depth, out);
        } else if (Map.class.isAssignableFrom(type)) {
            out.append("{\"type\":\"object\",\"additionalProperties\":");
            write(last, depth - 1, out);
            out.append('}');
        } else if (type.getName().equals("java.util.Optional")) {
            write(last, depth, out);
        } else if (type.isEnum()) {
            writeEnum(type, out);
        } else if (isOurs(type)) {
            writeObject(type, depth, out);
        } else {
            out.append(ANYTHING);
        }
    }

    private static void writeArray(Type item, int depth, StringBuilder out) {
        out.append("{\"type\":\"array\",\"items\":");
        write(item, depth - 1, out);
        out.append('}');
    }

    private static void writeEnum(Class<?> type, StringBuilder out) {
        out.append("{\"type\":\"string\",\"enum\":[");
        String separator = "";
        for (Object constant : type.getEnumConstants()) {
            out.append(separator);
            quote(JsonNames.of((Enum<?>) constant), out);
            separator = ",";
        }
        out.append("]}");
    }

    private static void writeObject(Class<?> type, int depth, StringBuilder out) {
        out.append("{\"type\":\"object\",\"properties\":{");
        String separator = "";
        for (Map.Entry<String, Field> field : named(type).entrySet()) {
            out.append(separator);
            quote(field.getKey(), out);
            out.append(':');
            int start = out.length();
            String format = JsonNames.format(field.getValue());
            if (format == null) {
                write(field.getValue().getGenericType(), depth - 1, out);
            } else {
                out.append("{\"type\":\"string\",\"pattern\":");
                quote(format, out);
                out.append('}');
            }
            String more = Constraints.of(field.getValue(), out.substring(start));
            if (!more.isEmpty() && out.length() - start > ANYTHING.length()) {
                out.insert(out.length() - 1, more);
            }
            separator = ",";
        }
        out.append('}');
        String required = "";
        for (Map.Entry<String, Field> field : named(type).entrySet()) {
            if (Constraints.isRequired(field.getValue())) {
                out.append(required.isEmpty() ? ",\"required\":[" : ",");
                quote(field.getKey(), out);
                required = "]";
            }
        }
        out.append(required).append('}');
    }

    /** Whether a type has fields that JSON shows: those of the platform have their own ways. */
    private static boolean isOurs(Class<?> type) {
        String name = type.getName();
        return !type.isInterface() && !type.isPrimitive() && !name.startsWith("java.") && !name.startsWith("kotlin.");
    }

    /** The fields of a type by their names in JSON, those of its own before inherited ones. */
    private static Map<String, Field> named(Class<?> type) {
        Map<String, Field> all = new LinkedHashMap<>();
        for (Class<?> level = type; level != null && isOurs(level); level = level.getSuperclass()) {
            JsonNames names = new JsonNames(level);
            for (Field field : level.getDeclaredFields()) {
                int modifiers = field.getModifiers();
                boolean isData = !Modifier.isStatic(modifiers) && !Modifier.isTransient(modifiers) && !field.isSynthetic();
                String name = isData ? names.of(field) : null;
                if (name != null) {
                    all.putIfAbsent(name, field);
                }
            }
        }
        return all;
    }

    static void quote(String text, StringBuilder out) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
