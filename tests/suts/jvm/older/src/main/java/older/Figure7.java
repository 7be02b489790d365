package older;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.WebRequest;

/** Figure 7: a query parameter that no document names. */
@RestController
public class Figure7 {
    @GetMapping("/api/param")
    public String get(WebRequest request) {
        String param = request.getParameter("param");
        if (param.equals("FOO")) {
            return "OK";
        }
        return null;
    }
}
