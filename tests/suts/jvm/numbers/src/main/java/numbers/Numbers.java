package numbers;

import java.util.Map;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The functions, one operation each. */
@RestController
public class Numbers {
    @GetMapping("/triangle/{a}/{b}/{c}")
    public Map<String, Object> triangle(@PathVariable int a, @PathVariable int b, @PathVariable int c) {
        return Map.of("is", Functions.triangle(a, b, c));
    }

    @GetMapping("/remainder/{a}/{b}")
    public ResponseEntity<Map<String, Object>> remainder(@PathVariable int a, @PathVariable int b) {
        int most = 10_000;
        if (a > most || a < -most || b > most || b < -most) {
            return ResponseEntity.badRequest().build();
        }
        return ResponseEntity.ok(Map.of("is", Functions.remainder(a, b)));
    }

    @GetMapping("/bessel/{order}/{x}")
    public Map<String, Object> bessel(@PathVariable int order, @PathVariable double x) {
        return Map.of("is", Functions.bessel(order, x));
    }

    @GetMapping("/gamma/{a}/{x}")
    public Map<String, Object> gamma(@PathVariable double a, @PathVariable double x) {
        return Map.of("is", Functions.gamma(a, x));
    }

    @GetMapping("/chart/{latitude}/{longitude}/{depth}")
    public Map<String, Object> chart(
            @PathVariable long latitude, @PathVariable long longitude, @PathVariable float depth) {
        return Map.of("is", Functions.chart(latitude, longitude, depth));
    }

    @GetMapping("/named/{number}")
    public Map<String, Object> named(@PathVariable int number) {
        return Map.of("is", Functions.named(number));
    }

    @ExceptionHandler({IllegalArgumentException.class, ArithmeticException.class})
    public ResponseEntity<String> refuse(Exception problem) {
        return ResponseEntity.badRequest().body(problem.getMessage());
    }
}
