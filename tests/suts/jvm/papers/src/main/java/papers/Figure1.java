package papers;

import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Figure 1: a date, a number and a word that must be just right. */
@RestController
public class Figure1 {
    @GetMapping("/api/testability/{date:\\d{4}-\\d{1,2}-\\d{1,2}}/{number}/{setting}")
    public String get(
            @PathVariable("date") String date,
            @PathVariable("number") String number,
            @PathVariable("setting") String setting) {
        LocalDate d = LocalDate.parse(date);
        int n = Integer.parseInt(number);
        List<String> list = Arrays.asList("Foo", "Bar");
        if (d.getYear() == 2019 && n == 42 && list.contains(setting)) {
            return "OK";
        } else {
            return "ERROR";
        }
    }
}
