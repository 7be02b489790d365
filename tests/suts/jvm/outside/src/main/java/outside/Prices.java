package outside;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** Prices by the rate of the day, asked of the service of rates, whose base URL is a setting. */
@RestController
public class Prices {
    private final HttpClient client = HttpClient.newHttpClient();
    private final ObjectMapper mapper = new ObjectMapper();
    private final String rates;

    public Prices(@Value("${rates.url:http://rates.invalid/v1}") String rates) {
        this.rates = rates;
    }

    /** A rate, as the other service has it. */
    public static class Rate {
        public String currency;
        public double value;
    }

    @GetMapping("/prices/{item}")
    public ResponseEntity<String> price(@PathVariable("item") int item) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(rates + "/latest/" + item)).build();
        Rate rate;
        try {
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() == 404) {
                return ResponseEntity.notFound().build();
            }
            rate = mapper.readValue(answer.body(), Rate.class);
        } catch (IOException error) {
            return ResponseEntity.status(502).body("no rate");
        }
        if ("EUR".equals(rate.currency) && rate.value > 100.0) {
            return ResponseEntity.ok("dear");
        }
        return ResponseEntity.ok("cheap");
    }
}
