
  /** What proves that a user calls. */
  private static Proof logIn(String user) {
@@users
    Proof proof = new Proof();
    switch (user) {
      @USERS@
      default -> throw new IllegalArgumentException(user);
    }
    return proof;
@@nobody
    throw new IllegalArgumentException(user);
@@end
  }

  private static final Map<String, Proof> proofs = new HashMap<>();

  private static final class Proof {
    final Map<String, String> headers = new HashMap<>();
    final Map<String, String> query = new HashMap<>();
    final Map<String, String> cookies = new HashMap<>();
  }

  private static String environment(String name, String otherwise) {
    String value = System.getenv().getOrDefault(name, otherwise);
    assertTrue(value != null, "set " + name);
    return value;
  }

  /** An anonymous request. */
  private static RequestSpecification anonymous() {
    RestAssuredConfig config =
        RestAssuredConfig.config()
            .encoderConfig(
                EncoderConfig.encoderConfig()
                    .defaultContentCharset("UTF-8")
                    .appendDefaultContentCharsetToContentTypeIfUndefined(false))
            .httpClient(
                HttpClientConfig.httpClientConfig()
                    .setParam("http.connection.timeout", TIMEOUT)
                    .setParam("http.socket.timeout", TIMEOUT));
    return RestAssured.given().baseUri(BASE_URL).config(config).redirects().follow(false);
  }

  /** A request by a user, who logs in before the first one. */
  private static RequestSpecification as(String user) {
    Proof proof = proofs.get(user);
    if (proof == null) {
      proof = logIn(user);
      proofs.put(user, proof);
    }
    RequestSpecification request = anonymous().headers(proof.headers).cookies(proof.cookies);
    return request.queryParams(proof.query);
  }

  private static String mediaType(Response answer) {
    return answer.contentType().split(";")[0].trim().toLowerCase();
  }

  /** The value at a path in the JSON of a response. */
  private static Object at(Response answer, Object... keys) {
    Object value = json(answer.asString());
    for (Object key : keys) {
      if (key instanceof Integer index) {
        value = ((List<?>) value).get(index);
      } else {
        assertTrue(((Map<?, ?>) value).containsKey(key), "no " + key + " in " + value);
        value = ((Map<?, ?>) value).get(key);
      }
    }
    return value;
  }

  private static Object json(String text) {
    return new JsonSlurper().parseText(text);
  }

  private static String toJson(Object value) {
    return JsonOutput.toJson(value);
  }

  private static boolean isInteger(Object value) {
    return value instanceof Integer || value instanceof Long || value instanceof BigInteger;
  }

  private static void assertDropped(Executable call) {
    IOException error = assertThrows(IOException.class, call);
    assertFalse(error instanceof SocketTimeoutException, "no response before the timeout");
  }

  private static void assertTimedOut(Executable call) {
    assertThrows(SocketTimeoutException.class, call);
  }
