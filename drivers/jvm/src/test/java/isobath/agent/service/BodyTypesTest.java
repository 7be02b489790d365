package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import jakarta.validation.constraints.DecimalMin;
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
import org.hibernate.validator.constraints.CreditCardNumber;
import org.junit.jupiter.api.Test;

/** What types allow a body to be. */
class BodyTypesTest {
    @Retention(RetentionPolicy.RUNTIME)
    @interface SerializedName {
        String value();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface JsonIgnore {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface JsonProperty {
        String value();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface JsonFormat {
        String pattern();
    }

    @Retention(RetentionPolicy.RUNTIME)
    @interface JsonValue {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface JsonNaming {
        Class<?> value();
    }

    static class SnakeCaseStrategy {}

    enum Extent {
        SMALL,
        LARGE
    }

    enum Named {
        @JsonProperty("first")
        ONE,
        TWO
    }

    enum Valued {
        ONE;

        @JsonValue
        String told() {
            return "1st";
        }
    }

    @JsonNaming(SnakeCaseStrategy.class)
    static class Annotated {
        LocalDate firstDay;
        @JsonFormat(pattern = "dd-MM-yyyy'T'HH:mm") LocalDate lastDay;
        @JsonFormat(pattern = "MMMM") LocalDate month;
        Named named;
        Valued valued;
        String secret;
        String shown;

        @JsonIgnore
        public String getSecret() {
            return secret;
        }

        @JsonProperty("seen")
        public void setShown(String shown) {
            this.shown = shown;
        }
    }

    /** As Kotlin makes a data class: annotations are at the parameters. */
    static class Data {
        private final String text;
        private final int number;

        Data(@JsonProperty("a-text") String text, int number) {
            this.text = text;
            this.number = number;
        }
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
        @NotBlank @CreditCardNumber @Size(max = 20) String card;
        @DecimalMin("0.5") double least;
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
                        + "'unknown':{},"
                        + "'card':{'type':'string','enum':['4111111111111111','5555555555554444','378282246310005']},"
                        + "'least':{'type':'number','minimum':0.5}},"
                        + "'required':['few','text','card']}",
                schema(Checked.class));
    }

    @Test
    void annotationsOfLibrariesNameAndShapeFields() {
        assertEquals(
                "{'type':'object','properties':{"
                        + "'first_day':{'type':'string','format':'date'},"
                        + "'last_day':{'type':'string','pattern':'^(0[1-9]|1[0-9]|2[0-8])\\\\-(0[1-9]|1[0-2])\\\\-(19|20)[0-9]{2}T([01][0-9]|2[0-3])\\\\:[0-5][0-9]$'},"
                        + "'month':{'type':'string','format':'date'},"
                        + "'named':{'type':'string','enum':['first','TWO']},"
                        + "'valued':{'type':'string','enum':['1st']},"
                        + "'seen':{'type':'string'}}}",
                schema(Annotated.class));
        assertEquals(new HashSet<>(Arrays.asList("a-text", "number")), BodyTypes.fields(Data.class));
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
