package outside;

import java.util.Map;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClientException;
import org.springframework.web.client.RestTemplate;

/** Mails, sent by a service at a fixed address that no setting changes. */
@RestController
public class Mails {
    private final RestTemplate client = new RestTemplate();

    @PostMapping("/mails/{to}")
    public ResponseEntity<String> send(@PathVariable("to") int to) {
        Map<?, ?> answer;
        try {
            answer = client.postForObject("http://mail.invalid/send/" + to, Map.of("to", to), Map.class);
        } catch (RestClientException error) {
            return ResponseEntity.status(502).body("not sent");
        }
        Object state = answer == null ? null : answer.get("state");
        if ("queued".equals(state)) {
            return ResponseEntity.accepted().body("queued");
        }
        return ResponseEntity.ok("sent");
    }
}
