package rows;

import java.util.List;
import org.springframework.data.repository.CrudRepository;

/** Rows by their columns. */
public interface FooRepository extends CrudRepository<FooEntity, Long> {
    List<FooEntity> findByXIsAndYIs(Integer x, Integer y);
}
