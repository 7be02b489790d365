package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import java.io.InputStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldNode;

class EntitiesTest {
    enum State {
        OPEN,
        CLOSED
    }

    static class Kept {
        long version;
    }

    static class Buyer {
        long id;
    }

    static class PlacedOrder extends Kept {
        Buyer payer;
        int deliveryCost;
        Integer discount;
        Integer rebate = null;
        Boolean valid = true;
        @Min(1) @Max(96) Double strength;
        @NotEmpty String label;
        @NotNull String buyer;
        State byName;
        State byNumber;
        List<String> lines;
    }

    private final Map<String, byte[]> classes = new HashMap<>();

    /** Adds a class as if it had annotations of persistence: that of the class, then one for each field it names. */
    private void add(Class<?> type, String annotation, String... ofFields) throws Exception {
        String name = type.getName().replace('.', '/');
        ClassNode node = new ClassNode();
        try (InputStream in = type.getResourceAsStream("/" + name + ".class")) {
            new ClassReader(in.readAllBytes()).accept(node, 0);
        }
        if (annotation != null) {
            node.visitAnnotation("Ljakarta/persistence/" + annotation + ";", true);
        }
        if (type == PlacedOrder.class) {
            AnnotationVisitor table = node.visitAnnotation("Ljakarta/persistence/Table;", true);
            table.visit("name", "customer_order");
        }
        for (FieldNode field : node.fields) {
            for (int at = 0; at < ofFields.length; at += 2) {
                if (field.name.equals(ofFields[at])) {
                    AnnotationNode added = (AnnotationNode) field.visitAnnotation("Ljakarta/persistence/" + ofFields[at + 1] + ";", true);
                    if (ofFields[at + 1].equals("Enumerated")) {
                        added.visitEnum("value", "Ljakarta/persistence/EnumType;", "STRING");
                    }
                }
            }
        }
        ClassWriter writer = new ClassWriter(0);
        node.accept(writer);
        classes.put(name, writer.toByteArray());
    }

    @Test
    void columnsHoldWhatTheFieldsOfAnEntityCanHold() throws Exception {
        add(State.class, null);
        add(Kept.class, "MappedSuperclass");
        add(Buyer.class, "Entity", "id", "Id");
        add(PlacedOrder.class, "Entity", "byName", "Enumerated", "lines", "ElementCollection", "payer", "ManyToOne");
        Entities.read(classes);
        assertTrue(Entities.isRequired("CUSTOMER_ORDER", "DELIVERY_COST"), "a primitive field cannot be null");
        assertTrue(Entities.isRequired("customer_order", "version"), "neither can one of a mapped superclass");
        assertTrue(Entities.isRequired("customer_order", "buyer"), "nor one that is validated");
        assertTrue(Entities.isRequired("customer_order", "valid"), "nor one that has a value from the start");
        assertFalse(Entities.isRequired("customer_order", "discount"));
        assertFalse(Entities.isRequired("customer_order", "rebate"));
        assertFalse(Entities.isRequired("customer_order", "lines"));
        assertFalse(Entities.isRequired("other", "delivery_cost"));
        assertEquals("\"s\" IN ('OPEN', 'CLOSED')", Entities.check("customer_order", "by_name", "\"s\"", true));
        assertEquals("\"n\" BETWEEN 0 AND 1", Entities.check("customer_order", "by_number", "\"n\"", false));
        assertNull(Entities.check("customer_order", "by_number", "\"n\"", true), "an ordinal is no text");
        assertNull(Entities.check("customer_order", "buyer", "\"b\"", true));
        assertEquals("\"s\" >= 1 AND \"s\" <= 96", Entities.check("customer_order", "strength", "\"s\"", false));
        assertEquals("\"l\" <> ''", Entities.check("customer_order", "label", "\"l\"", true));
        assertTrue(Entities.isRequired("customer_order", "payer_id"), "relations lead to a row");
        assertArrayEquals(new String[] {"buyer", "id"}, Entities.reference("CUSTOMER_ORDER", "PAYER_ID"));
        assertNull(Entities.reference("customer_order", "discount"));
        assertTrue(Entities.isId("BUYER", "ID"));
        assertFalse(Entities.isId("customer_order", "version"));
    }

    @Test
    void tablesOfTwoEntitiesAndBrokenClassFilesDemandNothing() throws Exception {
        add(PlacedOrder.class, "Entity");
        byte[] order = classes.get(PlacedOrder.class.getName().replace('.', '/'));
        classes.put("other/PlacedOrder", order);
        classes.put("broken", new byte[] {1, 2, 3});
        Entities.read(classes);
        assertFalse(Entities.isRequired("customer_order", "delivery_cost"));
    }
}
