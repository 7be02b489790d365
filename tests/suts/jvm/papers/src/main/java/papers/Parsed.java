package papers;

import java.time.LocalDate;
import java.util.Map;
import java.util.UUID;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Texts that become numbers, dates and identifiers before they are compared. */
@RestController
public class Parsed {
    private static final UUID KNOWN = UUID.fromString("7d9f3c58-1b7e-4a52-9a63-0c4f2f1e8b6d");

    @GetMapping("/api/parsed/query")
    public String query(@RequestParam("n") String n) {
        if (Integer.parseInt(n) == 48151623) {
            return "FOUND";
        }
        return "OTHER";
    }

    @GetMapping("/api/parsed/path/{n}")
    public String path(@PathVariable("n") String n) {
        if (Long.parseLong(n) == 7_031_959_273L) {
            return "FOUND";
        }
        return "OTHER";
    }

    @GetMapping("/api/parsed/header")
    public String header(@RequestHeader("X-Limit") String limit) {
        if (Double.parseDouble(limit) == 93.75) {
            return "FOUND";
        }
        return "OTHER";
    }

    @PostMapping(path = "/api/parsed/form", consumes = MediaType.APPLICATION_FORM_URLENCODED_VALUE)
    public String form(@RequestParam("code") String code) {
        int number = Integer.parseInt(code);
        if (number > 815_000 && number < 815_003) {
            return "FOUND";
        }
        return "OTHER";
    }

    @PostMapping("/api/parsed/json")
    public String json(@RequestBody Map<String, String> body) {
        if (Integer.parseInt(body.get("size")) == -90_210) {
            return "FOUND";
        }
        return "OTHER";
    }

    @GetMapping("/api/parsed/date")
    public String date(@RequestParam("day") String day) {
        if (LocalDate.parse(day).isEqual(LocalDate.of(2041, 7, 19))) {
            return "FOUND";
        }
        return "OTHER";
    }

    @GetMapping("/api/parsed/uuid")
    public String uuid(@RequestParam("id") String id) {
        if (UUID.fromString(id).equals(KNOWN)) {
            return "FOUND";
        }
        return "OTHER";
    }
}
