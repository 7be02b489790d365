package isobath.agent.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import isobath.agent.track.Place;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;

/** Which calls ask for a part of a request, and for which one. */
class RequestsTest {
    @ParameterizedTest
    @CsvSource({
        "javax/servlet/http/HttpServletRequest, getParameter, (Ljava/lang/String;)Ljava/lang/String;, query",
        "jakarta/servlet/http/HttpServletRequest, getParameter, (Ljava/lang/String;)Ljava/lang/String;, query",
        "jakarta/servlet/ServletRequest, getParameterValues, (Ljava/lang/String;)[Ljava/lang/String;, query",
        "javax/servlet/http/HttpServletRequest, getHeader, (Ljava/lang/String;)Ljava/lang/String;, header",
        "jakarta/servlet/http/HttpServletRequest, getIntHeader, (Ljava/lang/String;)I, header",
        "jakarta/servlet/http/HttpServletRequestWrapper, getHeaders, (Ljava/lang/String;)Ljava/util/Enumeration;, header",
        "javax/servlet/ServletRequest, getInputStream, ()Ljavax/servlet/ServletInputStream;, any body",
        "jakarta/servlet/http/HttpServletRequest, getReader, ()Ljava/io/BufferedReader;, any body",
        "org/springframework/web/context/request/WebRequest, getParameter, (Ljava/lang/String;)Ljava/lang/String;, query",
        "org/springframework/web/context/request/WebRequest, getHeader, (Ljava/lang/String;)Ljava/lang/String;, header",
        "org/springframework/web/context/request/NativeWebRequest, getHeaderValues, (Ljava/lang/String;)[Ljava/lang/String;, header",
        "org/springframework/http/HttpHeaders, getFirst, (Ljava/lang/String;)Ljava/lang/String;, header",
        "jakarta/ws/rs/core/HttpHeaders, getHeaderString, (Ljava/lang/String;)Ljava/lang/String;, header",
        "com/fasterxml/jackson/databind/JsonNode, get, (Ljava/lang/String;)Lcom/fasterxml/jackson/databind/JsonNode;, field",
        "com/google/gson/JsonObject, get, (Ljava/lang/String;)Lcom/google/gson/JsonElement;, field",
        "com/fasterxml/jackson/databind/ObjectMapper, readValue, (Ljava/io/InputStream;Ljava/lang/Class;)Ljava/lang/Object;, class",
        "com/fasterxml/jackson/databind/ObjectMapper, readValue, (Ljava/lang/String;Lcom/fasterxml/jackson/core/type/TypeReference;)Ljava/lang/Object;, class",
        "com/google/gson/Gson, fromJson, (Ljava/io/Reader;Ljava/lang/Class;)Ljava/lang/Object;, class",
        "com/google/gson/Gson, fromJson, (Ljava/lang/String;Ljava/lang/reflect/Type;)Ljava/lang/Object;, class",
        "com/google/gson/Gson, toJson, (Ljava/lang/Object;)Ljava/lang/String;, nothing",
        "jakarta/servlet/http/HttpServletRequest, getAttribute, (Ljava/lang/String;)Ljava/lang/Object;, nothing",
        "java/util/Map, get, (Ljava/lang/Object;)Ljava/lang/Object;, nothing",
    })
    void callsThatNameAPartOfARequestAreKnown(String owner, String name, String descriptor, String wanted) {
        assertEquals(wanted, asked(Requests.of(owner, name, descriptor)));
    }

    private static String asked(Requests.Name name) {
        if (name == null) {
            return "nothing";
        }
        int place = 0;
        String told = "";
        for (AbstractInsnNode node : name.probe()) {
            place = node instanceof IntInsnNode ? ((IntInsnNode) node).operand : place;
            told = node instanceof MethodInsnNode ? ((MethodInsnNode) node).name : told;
        }
        if (told.equals("anyBody")) {
            return "any body";
        }
        if (told.equals("body")) {
            return "class";
        }
        return place == Place.QUERY ? "query" : place == Place.HEADER ? "header" : place == Place.FIELD ? "field" : "?";
    }
}
