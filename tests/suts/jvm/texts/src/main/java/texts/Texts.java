package texts;

import java.util.List;
import java.util.Map;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The functions, one operation each. */
@RestController
public class Texts {
    /** Who chooses which password. */
    public record Choice(String name, String password) {}

    @GetMapping("/calculate/{operator}/{first}/{second}")
    public Map<String, Object> calculate(
            @PathVariable String operator, @PathVariable double first, @PathVariable double second) {
        return Map.of("is", Functions.calculate(operator, first, second));
    }

    @GetMapping("/suffix/{folder}/{file}")
    public Map<String, Object> suffix(@PathVariable String folder, @PathVariable String file) {
        return Map.of("is", Functions.suffix(folder, file));
    }

    @GetMapping("/cookie/{name}/{value}/{site}")
    public Map<String, Object> cookie(
            @PathVariable String name, @PathVariable String value, @PathVariable String site) {
        return Map.of("is", Functions.cookie(name, value, site));
    }

    @GetMapping("/date")
    public Map<String, Object> date(@RequestParam String text) {
        return Map.of("is", Functions.date(text));
    }

    @PostMapping("/password")
    public ResponseEntity<List<String>> password(@RequestBody Choice choice) {
        if (choice.name() == null || choice.password() == null) {
            return ResponseEntity.badRequest().build();
        }
        return ResponseEntity.ok(Functions.password(choice.name(), choice.password()));
    }

    @GetMapping("/ordered")
    public Map<String, Object> ordered(@RequestParam String a, @RequestParam String b, @RequestParam String c) {
        return Map.of("is", Functions.ordered(a, b, c));
    }

    @GetMapping("/sum")
    public Map<String, Object> sum(@RequestParam String text) {
        return Map.of("is", Functions.sum(text));
    }

    @ExceptionHandler(IllegalArgumentException.class)
    public ResponseEntity<String> refuse(IllegalArgumentException problem) {
        return ResponseEntity.badRequest().body(problem.getMessage());
    }
}
