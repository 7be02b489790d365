package papers;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.util.UUID;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Checks that are made in libraries, before any code of the service runs. */
@RestController
public class Checked {
    /** A size of shirt. */
    public enum Size4 {
        SMALL,
        LARGE
    }

    /** What is ordered. */
    public record Order(
            @Pattern(regexp = "[A-Z]{2}-[0-9]{3}(/[a-f]+)?") String code, @Size(min = 3, max = 8) String name) {}

    @PostMapping("/api/orders/{id}/{size}")
    public String order(@PathVariable UUID id, @PathVariable Size4 size, @Valid @RequestBody Order order) {
        if (order.name() == null || order.code() == null) {
            return "INCOMPLETE";
        }
        return switch (size) {
            case SMALL -> "S " + id;
            case LARGE -> "L " + order.code().toLowerCase();
        };
    }
}
