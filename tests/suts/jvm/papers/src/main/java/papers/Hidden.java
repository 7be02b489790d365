package papers;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.validation.Validator;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;
import java.util.List;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Parts of a request that no document names: a header, and fields of a body that Jackson reads from the raw stream. */
@RestController
public class Hidden {
    private final Validator validator;

    Hidden(Validator validator) {
        this.validator = validator;
    }

    @PostMapping(path = "/api/hidden", consumes = MediaType.APPLICATION_JSON_VALUE)
    public String post(HttpServletRequest request) throws Exception {
        if (!"night".equals(request.getHeader("X-Shift"))) {
            return "DAY";
        }
        Body body = new ObjectMapper().readValue(request.getInputStream(), Body.class);
        if (!validator.validate(body).isEmpty()) {
            return "INVALID";
        }
        if (body.amount > 100 && "crate".equals(body.kind)) {
            return "BIG";
        }
        return "SMALL";
    }

    static class Body {
        public int amount;

        @NotNull
        @Size(min = 7, max = 9)
        public List<Label> labels;

        @JsonProperty("type")
        public String kind;
    }

    static class Label {
        public boolean isLarge;
    }
}
