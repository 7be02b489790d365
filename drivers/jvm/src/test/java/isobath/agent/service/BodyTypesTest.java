package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Type;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What types allow a body to be. */
class BodyTypesTest {
    @Retention(RetentionPolicy.RUNTIME)
    @interface SerializedName {
        String value();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface JsonIgnore {}

    enum Size {
        SMALL,
        LARGE
    }

    static class Thing {
        long id;
    }

    static class Order extends Thing {
        static int count;
        transient int cached;
        @JsonIgnore String secret;
        int amount;
        @SerializedName("type") String kind;
        Size size;
        boolean[] flags;
        List<Line> lines;
        Map<String, Double> prices;
        Optional<LocalDate> due;
        Object other;
    }

    static class Line {
        char code;
        List<? extends Thing> things;
    }

    static class Endless {
        Endless next;
    }

    List<Line> many;

    @Test
    void fieldsHaveTheirNamesAndTypes() {
        assertEquals(
                "{'type':'object','properties':{"
                        + "'amount':{'type':'integer','format':'int32'},"
                        + "'type':{'type':'string'},"
                        + "'size':{'type':'string','enum':['SMALL','LARGE']},"
                        + "'flags':{'type':'array','items':{'type':'boolean'}},"
                        + "'lines':{'type':'array','items':{'type':'object','properties':{"
                        + "'code':{'type':'string','minLength':1,'maxLength':1},"
                        + "'things':{'type':'array','items':{'type':'object','properties':{'id':{'type':'integer','format':'int64'}}}}}}},"
                        + "'prices':{'type':'object','additionalProperties':{'type':'number'}},"
                        + "'due':{'type':'string','format':'date'},"
                        + "'other':{},"
                        + "'id':{'type':'integer','format':'int64'}}}",
                schema(Order.class));
        assertEquals(
                new HashSet<>(Arrays.asList("amount", "type", "size", "flags", "lines", "prices", "due", "other", "id")),
                BodyTypes.fields(Order.class));
    }

    @Test
    void aListOfThingsIsAnArray() throws Exception {
        Type many = BodyTypesTest.class.getDeclaredField("many").getGenericType();
        assertEquals("{'type':'array','items':{'type':'object',", schema(many).substring(0, 41));
        assertEquals(0, BodyTypes.fields(many).size());
    }

    @Test
    void whatHoldsItselfHasAnEndAndWhatSaysNothingIsNotTold() {
        int depth = schema(Endless.class).split("next", -1).length - 1;
        assertEquals(5, depth);
        assertNull(BodyTypes.schema(Object.class));
    }

    private static String schema(Type type) {
        return BodyTypes.schema(type).replace('"', '\'');
    }
}
