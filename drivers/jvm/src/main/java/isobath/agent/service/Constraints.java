package isobath.agent.service;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.math.BigDecimal;

/** What the annotations of validation demand of a field, in the words of JSON Schema. */
final class Constraints {
    private Constraints() {}

    /** Whether something must be there. */
    static boolean isRequired(Field field) {
        for (Annotation annotation : field.getAnnotations()) {
            switch (name(annotation)) {
                case "NotNull":
                case "NotEmpty":
                case "NotBlank":
                    return true;
                default:
                    break;
            }
        }
        return false;
    }

    /** What is demanded of a field whose type has this schema, to be added to it. */
    static String of(Field field, String schema) {
        StringBuilder out = new StringBuilder();
        for (Annotation annotation : field.getAnnotations()) {
            String numbers = isText(schema) ? withCheckDigit(annotation.annotationType().getSimpleName()) : null;
            if (numbers != null && !name(annotation).isEmpty()) {
                // No other constraint is as hard to meet by chance.
                return ",\"enum\":[" + numbers + "]";
            }
            try {
                add(annotation, schema, out);
            } catch (ReflectiveOperationException | RuntimeException other) {
                // One of the same name that is made otherwise demands something that we don't know.
            }
        }
        return out.toString();
    }

    private static void add(Annotation annotation, String schema, StringBuilder out) throws ReflectiveOperationException {
        boolean isInteger = schema.startsWith("{\"type\":\"integer\"");
        switch (name(annotation)) {
            case "Size":
            case "Length":
                length(schema, ((Number) value(annotation, "min")).longValue(), ((Number) value(annotation, "max")).longValue(), out);
                break;
            case "NotEmpty":
            case "NotBlank":
                length(schema, 1, Integer.MAX_VALUE, out);
                break;
            case "Min":
                bound("minimum", value(annotation, "value"), schema, out);
                break;
            case "Max":
                bound("maximum", value(annotation, "value"), schema, out);
                break;
            case "DecimalMin":
                bound("minimum", new BigDecimal((String) value(annotation, "value")), schema, out);
                break;
            case "DecimalMax":
                bound("maximum", new BigDecimal((String) value(annotation, "value")), schema, out);
                break;
            case "Range":
                bound("minimum", value(annotation, "min"), schema, out);
                bound("maximum", value(annotation, "max"), schema, out);
                break;
            case "Positive":
                bound(isInteger ? "minimum" : "exclusiveMinimum", isInteger ? 1 : 0, schema, out);
                break;
            case "PositiveOrZero":
                bound("minimum", 0, schema, out);
                break;
            case "Negative":
                bound(isInteger ? "maximum" : "exclusiveMaximum", isInteger ? -1 : 0, schema, out);
                break;
            case "NegativeOrZero":
                bound("maximum", 0, schema, out);
                break;
            case "Pattern":
                if (isText(schema)) {
                    // The whole text must match, and not a part of it.
                    out.append(",\"pattern\":");
                    BodyTypes.quote("^(?:" + value(annotation, "regexp") + ")$", out);
                }
                break;
            case "Email":
                if (isText(schema)) {
                    out.append(",\"format\":\"email\"");
                }
                break;
            default:
                break;
        }
    }

    /** Numbers whose last digit is right, as card issuers and shops publish them for tests. */
    private static String withCheckDigit(String constraint) {
        switch (constraint) {
            case "CreditCardNumber":
            case "LuhnCheck":
                return "\"4111111111111111\",\"5555555555554444\",\"378282246310005\"";
            case "EAN":
                return "\"4006381333931\",\"5901234123457\"";
            case "ISBN":
                return "\"9780306406157\",\"9783161484100\"";
            default:
                return null;
        }
    }

    private static boolean isText(String schema) {
        return schema.equals("{\"type\":\"string\"}");
    }

    private static void length(String schema, long least, long most, StringBuilder out) {
        String what = isText(schema) ? "Length" : schema.startsWith("{\"type\":\"array\"") ? "Items" : schema.contains("additionalProperties") ? "Properties" : null;
        if (what == null) {
            return;
        }
        if (least > 0) {
            out.append(",\"min").append(what).append("\":").append(least);
        }
        if (most < Integer.MAX_VALUE) {
            out.append(",\"max").append(what).append("\":").append(most);
        }
    }

    private static void bound(String what, Object number, String schema, StringBuilder out) {
        // The smallest types have bounds of their own.
        boolean isNumber = schema.startsWith("{\"type\":\"integer\"") || schema.startsWith("{\"type\":\"number\"");
        if (isNumber && !schema.contains("minimum")) {
            out.append(",\"").append(what).append("\":").append(number);
        }
    }

    private static Object value(Annotation annotation, String name) throws ReflectiveOperationException {
        return annotation.annotationType().getMethod(name).invoke(annotation);
    }

    /** The name of a constraint; empty for other annotations, which are asked by name since the agent knows no library. */
    private static String name(Annotation annotation) {
        String name = annotation.annotationType().getName();
        boolean isConstraint = name.startsWith("javax.validation.") || name.startsWith("jakarta.validation.") || name.startsWith("org.hibernate.validator.");
        return isConstraint ? annotation.annotationType().getSimpleName() : "";
    }
}
