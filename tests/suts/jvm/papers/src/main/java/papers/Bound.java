package papers;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import java.time.LocalDate;
import java.util.List;
import org.hibernate.validator.constraints.CreditCardNumber;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** A body whose document says less than the class that it is bound to. */
@RestController
public class Bound {
    /** How it is sent. */
    public enum Speed {
        @JsonProperty("by-land")
        LAND,
        @JsonProperty("by-air")
        AIR
    }

    /** One line of a payment. */
    public record Line(@NotNull @Pattern(regexp = "[A-Z]{3}[0-9]{4}") String article, @NotNull Speed speed) {}

    /** A payment. */
    public record Payment(
            @NotNull @CreditCardNumber String card,
            @NotNull @JsonFormat(pattern = "dd.MM.yyyy") LocalDate due,
            @NotNull List<@Valid Line> lines) {}

    @PostMapping("/api/payments")
    public String pay(@Valid @RequestBody Payment payment) {
        if (payment.lines().isEmpty()) {
            return "NOTHING";
        }
        return payment.lines().get(0).speed() == Speed.AIR ? "FAST" : "SLOW";
    }
}
