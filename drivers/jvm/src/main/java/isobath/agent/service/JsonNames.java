package isobath.agent.service;

import isobath.agent.replace.Formats;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The names and forms of fields in JSON, by the annotations of Jackson and Gson, asked by name: the agent knows no library. */
final class JsonNames {
    private final Class<?> type;
    /** Annotations beside those of a field: of its accessors, and of the parameter of the constructor that sets it. */
    private final Map<String, List<Annotation>> others = new HashMap<>();
    /** The simple name of Jackson's naming strategy; empty where there is none. */
    private final String strategy;

    JsonNames(Class<?> type) {
        this.type = type;
        Object naming = value(type, "JsonNaming");
        strategy = naming instanceof Class ? ((Class<?>) naming).getSimpleName() : "";
        for (Method method : type.getDeclaredMethods()) {
            String field = property(method);
            if (field != null) {
                add(field, method.getAnnotations());
            }
        }
        readConstructors();
    }

    /** Of classes like those of Kotlin and records, whose constructors set the fields in order. */
    private void readConstructors() {
        List<Field> fields = new ArrayList<>();
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                fields.add(field);
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            Class<?>[] parameters = constructor.getParameterTypes();
            Annotation[][] annotations = constructor.getParameterAnnotations();
            boolean fits = parameters.length == fields.size() && annotations.length == parameters.length;
            for (int at = 0; fits && at < parameters.length; at++) {
                fits = parameters[at] == fields.get(at).getType();
            }
            for (int at = 0; fits && at < parameters.length; at++) {
                add(fields.get(at).getName(), annotations[at]);
            }
        }
    }

    private void add(String field, Annotation[] annotations) {
        for (Annotation annotation : annotations) {
            List<Annotation> known = others.get(field);
            if (known == null) {
                known = new ArrayList<>();
                others.put(field, known);
            }
            known.add(annotation);
        }
    }

    /** The field that a getter or setter is of; null for other methods. */
    private static String property(Method method) {
        String name = method.getName();
        int prefix = name.startsWith("is") ? 2 : name.startsWith("get") || name.startsWith("set") ? 3 : 0;
        if (prefix == 0 || name.length() == prefix) {
            return null;
        }
        return name.substring(prefix, prefix + 1).toLowerCase(Locale.ROOT) + name.substring(prefix + 1);
    }

    /** The name of a field in JSON; null when it has none. */
    String of(Field field) {
        List<Annotation> all = new ArrayList<>();
        for (Annotation annotation : field.getAnnotations()) {
            all.add(annotation);
        }
        List<Annotation> more = others.get(field.getName());
        if (more != null) {
            all.addAll(more);
        }
        String name = null;
        for (Annotation annotation : all) {
            String kind = annotation.annotationType().getSimpleName();
            if (kind.equals("JsonIgnore") && !Boolean.FALSE.equals(value(annotation))) {
                return null;
            }
            boolean isName = kind.equals("JsonProperty") || kind.equals("SerializedName");
            Object value = isName ? value(annotation) : null;
            if (name == null && value instanceof String && !((String) value).isEmpty()) {
                name = (String) value;
            }
        }
        return name != null ? name : named(field.getName());
    }

    private String named(String name) {
        if (strategy.startsWith("SnakeCase") || strategy.equals("LowerCaseWithUnderscoresStrategy")) {
            return name.replaceAll("([a-z0-9])([A-Z])", "$1_$2").toLowerCase(Locale.ROOT);
        }
        if (strategy.startsWith("KebabCase")) {
            return name.replaceAll("([a-z0-9])([A-Z])", "$1-$2").toLowerCase(Locale.ROOT);
        }
        if (strategy.startsWith("UpperCamelCase") || strategy.equals("PascalCaseStrategy")) {
            return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
        }
        return strategy.startsWith("LowerCase") ? name.toLowerCase(Locale.ROOT) : name;
    }

    /** A constant of an enum in JSON. */
    static String of(Enum<?> constant) {
        try {
            for (Method method : constant.getDeclaringClass().getDeclaredMethods()) {
                boolean isValue = has(method, "JsonValue") && method.getParameterTypes().length == 0;
                if (isValue && method.getReturnType() == String.class) {
                    method.setAccessible(true);
                    return String.valueOf(method.invoke(constant));
                }
            }
            Field field = constant.getDeclaringClass().getField(constant.name());
            for (String kind : new String[] {"JsonProperty", "SerializedName"}) {
                Object name = value(field, kind);
                if (name instanceof String && !((String) name).isEmpty()) {
                    return (String) name;
                }
            }
        } catch (ReflectiveOperationException | RuntimeException unnamed) {
            // Then it has the name that the code gives it.
        }
        return constant.name();
    }

    /** The expression of the texts of a date or time with {@code @JsonFormat}; null where there is none, or nothing is known. */
    static String format(Field field) {
        for (Annotation annotation : field.getAnnotations()) {
            if (annotation.annotationType().getSimpleName().equals("JsonFormat")) {
                Object pattern = call(annotation, "pattern");
                return pattern instanceof String && !((String) pattern).isEmpty() ? Formats.expression((String) pattern) : null;
            }
        }
        return null;
    }

    private static boolean has(AnnotatedElement element, String kind) {
        return find(element, kind) != null;
    }

    private static Object value(AnnotatedElement element, String kind) {
        Annotation found = find(element, kind);
        return found == null ? null : value(found);
    }

    private static Annotation find(AnnotatedElement element, String kind) {
        for (Annotation annotation : element.getAnnotations()) {
            if (annotation.annotationType().getSimpleName().equals(kind)) {
                return annotation;
            }
        }
        return null;
    }

    private static Object value(Annotation annotation) {
        return call(annotation, "value");
    }

    /** A member of an annotation; null where it has none of this name. */
    private static Object call(Annotation annotation, String member) {
        try {
            return annotation.annotationType().getMethod(member).invoke(annotation);
        } catch (ReflectiveOperationException | RuntimeException other) {
            return null;
        }
    }
}
