package older;

import com.google.gson.Gson;
import javax.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import org.springframework.http.MediaType;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Figure 9: a body that the service reads by itself. */
@RestController
public class Figure9 {
    @PostMapping(path = "/api/body", consumes = MediaType.APPLICATION_JSON_VALUE)
    public String post(HttpServletRequest request) throws Exception {
        String json = StreamUtils.copyToString(request.getInputStream(), StandardCharsets.UTF_8);
        Body body = new Gson().fromJson(json, Body.class);
        if (body.x > 0) {
            return "OK";
        } else {
            return null;
        }
    }

    static class Body {
        public Integer x;
    }
}
