}

/** What proves that a user calls. */
private class Proof {
    val headers = HashMap<String, String>()
    val query = HashMap<String, String>()
    val cookies = HashMap<String, String>()
}
@@users

private fun logIn(user: String): Proof {
    val proof = Proof()
    when (user) {
        @USERS@
        else -> throw IllegalArgumentException(user)
    }
    return proof
}

/** A request by a user, who logs in before the first one. */
private fun by(user: String): RequestSpecification {
    val proof = proofs.getOrPut(user) { logIn(user) }
    return anonymous().headers(proof.headers).cookies(proof.cookies).queryParams(proof.query)
}
@@free_ports

private fun freePort(): Int =
    ServerSocket(0, 1, InetAddress.getLoopbackAddress()).use { it.localPort }
@@end

private fun environment(name: String, otherwise: String?): String {
    val value = System.getenv(name) ?: otherwise
    return requireNotNull(value) { "set $name" }
}

/** An anonymous request. */
private fun anonymous(): RequestSpecification {
    val config =
        RestAssuredConfig.config()
            .encoderConfig(
                EncoderConfig.encoderConfig()
                    .defaultContentCharset("UTF-8")
                    .appendDefaultContentCharsetToContentTypeIfUndefined(false),
            )
            .httpClient(
                HttpClientConfig.httpClientConfig()
                    .setParam("http.connection.timeout", TIMEOUT)
                    .setParam("http.socket.timeout", TIMEOUT),
            )
    return RestAssured.given().baseUri(BASE_URL).config(config).redirects().follow(false)
}

private fun mediaType(answer: Response): String =
    answer.contentType().substringBefore(';').trim().lowercase()

/** The value at a path in the JSON of a response. */
private fun at(answer: Response, vararg keys: Any): Any? {
    var value = json(answer.asString())
    for (key in keys) {
        value =
            if (key is Int) {
                (value as List<*>)[key]
            } else {
                assertTrue((value as Map<*, *>).containsKey(key), "no $key in $value")
                value[key]
            }
    }
    return value
}

private fun json(text: String): Any? = JsonSlurper().parseText(text)

private fun toJson(value: Any?): String = JsonOutput.toJson(value)

private fun isInteger(value: Any?) = value is Int || value is Long || value is BigInteger

private fun assertDropped(call: () -> Unit) {
    val error = assertThrows(IOException::class.java) { call() }
    assertFalse(error is SocketTimeoutException, "no response before the timeout")
}

private fun assertTimedOut(call: () -> Unit) {
    assertThrows(SocketTimeoutException::class.java) { call() }
}
