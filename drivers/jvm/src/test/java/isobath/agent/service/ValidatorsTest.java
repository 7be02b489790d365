package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jakarta.validation.ConstraintValidator;
import jakarta.validation.ConstraintValidatorContext;
import jakarta.validation.constraints.Size;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

class ValidatorsTest {
    @Size(min = 3, max = 8)
    static final String NAME = "";

    /** As validators of libraries look. */
    public static final class OfSize implements ConstraintValidator<Size, CharSequence> {
        private int min;
        private int max;

        @Override
        public void initialize(Size size) {
            min = size.min();
            max = size.max();
        }

        @Override
        public boolean isValid(CharSequence text, ConstraintValidatorContext context) {
            return text == null || (text.length() >= min && text.length() <= max);
        }
    }

    private static byte[] bytes(Class<?> type) throws Exception {
        try (InputStream in = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    @Test
    @SuppressWarnings("unchecked")
    void aValidatorOfSizesTellsWhichTextsItWants() throws Exception {
        byte[] woven = Validators.weave(bytes(OfSize.class));
        Class<?> type =
                new ClassLoader(ValidatorsTest.class.getClassLoader()) {
                    Class<?> define() {
                        return defineClass(OfSize.class.getName(), woven, 0, woven.length);
                    }
                }.define();
        Object made = type.getConstructor().newInstance();
        ConstraintValidator<Size, CharSequence> validator = (ConstraintValidator<Size, CharSequence>) made;
        validator.initialize(ValidatorsTest.class.getDeclaredField("NAME").getAnnotation(Size.class));
        assertEquals("^.{3,8}$", Validators.shapeOf(validator));
        assertTrue(validator.isValid("four", null));
        assertFalse(validator.isValid("_isobath_7_input", null));
        assertTrue(validator.isValid(null, null));
    }

    @Test
    void otherClassesAreLeftAlone() throws Exception {
        assertNull(Validators.weave(bytes(ValidatorsTest.class)));
    }

    @Test
    void onlySizesThatLeaveSomethingOutMakeAShape() {
        assertEquals("^.{2,42}$", Validators.shape(2, Integer.MAX_VALUE));
        assertEquals("^.{0,5}$", Validators.shape(0, 5));
        assertNull(Validators.shape(0, Integer.MAX_VALUE));
        assertNull(Validators.shape(5, 2));
    }
}
