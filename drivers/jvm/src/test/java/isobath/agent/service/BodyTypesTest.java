package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import jakarta.validation.constraints.Email;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.Size;
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

    enum Extent {
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
        Extent size;
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

    static class Checked {
        @NotNull @Size(min = 2, max = 4) List<Integer> few;
        @Size(max = 9) Map<String, Integer> map;
        @NotBlank @Pattern(regexp = "a|\"b\"") String text;
        @Email String address;
        @Min(3) @Max(7) int small;
        @Positive double share;
        @Positive byte tiny;
        @Size(min = 1) Object unknown;
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
    void constraintsOfValidationAreKept() {
        assertEquals(
                "{'type':'object','properties':{"
                        + "'few':{'type':'array','items':{'type':'integer','format':'int32'},'minItems':2,'maxItems':4},"
                        + "'map':{'type':'object','additionalProperties':{'type':'integer','format':'int32'},'maxProperties':9},"
                        + "'text':{'type':'string','minLength':1,'pattern':'^(?:a|\\'b\\')$'},"
                        + "'address':{'type':'string','format':'email'},"
                        + "'small':{'type':'integer','format':'int32','minimum':3,'maximum':7},"
                        + "'share':{'type':'number','exclusiveMinimum':0},"
                        + "'tiny':{'type':'integer','minimum':-128,'maximum':127},"
                        + "'unknown':{}},"
                        + "'required':['few','text']}",
                schema(Checked.class));
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
