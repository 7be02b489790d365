package rows;

import java.util.List;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** One row can be made, and all be looked for. */
@RestController
@RequestMapping("/api/foo")
public class FooRest {
    private final FooRepository repository;

    public FooRest(FooRepository repository) {
        this.repository = repository;
    }

    @PostMapping
    public void post() {
        FooEntity entity = new FooEntity();
        entity.setX(42);
        entity.setY(77);
        repository.save(entity);
    }

    @GetMapping("/{x}/{y}")
    public ResponseEntity<Void> get(@PathVariable("x") int x, @PathVariable("y") int y) {
        List<FooEntity> list = repository.findByXIsAndYIs(x, y);
        if (list.isEmpty()) {
            return ResponseEntity.status(400).build();
        } else {
            return ResponseEntity.status(200).build();
        }
    }
}
