package isobath.agent;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as the files of drivers/conformance need. */
public final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The folder of the files that every driver must reproduce. */
    public static Path folder() {
        return Paths.get("..", "conformance");
    }

    /** Reads a file of that folder. */
    public static Object read(Path path) throws Exception {
        return new Json(new String(Files.readAllBytes(path), StandardCharsets.UTF_8)).value();
    }

    private char next() {
        while (Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        return text.charAt(at);
    }

    private Object value() {
        char c = next();
        if (c == '{') {
            Map<String, Object> object = new LinkedHashMap<>();
            for (at++; next() != '}'; skip(',')) {
                String name = string();
                skip(':');
                object.put(name, value());
            }
            at++;
            return object;
        }
        if (c == '[') {
            List<Object> list = new ArrayList<>();
            for (at++; next() != ']'; skip(',')) {
                list.add(value());
            }
            at++;
            return list;
        }
        if (c == '"') {
            return string();
        }
        int end = at;
        while (end < text.length() && ",]} \n".indexOf(text.charAt(end)) < 0) {
            end++;
        }
        String word = text.substring(at, end);
        at = end;
        return word.equals("true") ? Boolean.TRUE : word.equals("false") ? (Object) Boolean.FALSE : Double.valueOf(word);
    }

    private void skip(char c) {
        if (next() == c) {
            at++;
        }
    }

    private String string() {
        next();
        StringBuilder string = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            char c = text.charAt(at);
            if (c == '\\') {
                c = text.charAt(++at);
                if (c == 'u') {
                    c = (char) Integer.parseInt(text.substring(at + 1, at + 5), 16);
                    at += 4;
                } else if (c == 'n') {
                    c = '\n';
                }
            }
            string.append(c);
        }
        at++;
        return string.toString();
    }
}
