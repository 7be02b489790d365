
/** A stub of an external service. */
private class Stub(
    val service: String,
    val method: String,
    val path: String,
    val status: Int,
    val mediaType: String,
    val body: String,
) {
    var used = false
}

private val stubs = ArrayList<Stub>()
private val mockServers = ArrayList<HttpServer>()

/** Adds a stub; with status 0, the connection is closed instead. */
private fun mockResponse(
    service: String,
    method: String,
    path: String,
    status: Int,
    mediaType: String,
    body: String,
) {
    synchronized(stubs) { stubs.add(Stub(service, method, path, status, mediaType, body)) }
}

/** Listens where the service expects the external services. */
private fun listen(name: String, port: Int) {
    val server = HttpServer.create(InetSocketAddress("127.0.0.1", port), 0)
    server.createContext("/") { exchange -> reply(name, exchange) }
    server.start()
    mockServers.add(server)
}

/** Sends the first matching stub that is unused, or the last one again. */
private fun reply(name: String, exchange: HttpExchange) {
    exchange.requestBody.readBytes()
    val url = exchange.requestURI
    val host = url.host ?: exchange.requestHeaders.getFirst("Host") ?: ""
    val service = name.ifEmpty { host.substringBefore(':') }
    val stub =
        synchronized(stubs) {
            val matching =
                stubs.filter {
                    it.service == service &&
                        it.method == exchange.requestMethod &&
                        pathMatches(it.path, url.rawPath)
                }
            val found = matching.firstOrNull { !it.used } ?: matching.lastOrNull()
            found?.also { it.used = true }
        }
    val status = stub?.status ?: 200
    if (status != 0) {
        val bytes = (stub?.body ?: "{}").toByteArray()
        exchange.responseHeaders.set("Content-Type", stub?.mediaType ?: "application/json")
        exchange.responseHeaders.set("Connection", "close")
        val isEmpty = bytes.isEmpty() || status == 204
        exchange.sendResponseHeaders(status, if (isEmpty) -1 else bytes.size.toLong())
        if (!isEmpty) {
            exchange.responseBody.write(bytes)
        }
    }
    exchange.close()
}

private fun pathMatches(pattern: String, path: String): Boolean {
    val wanted = pattern.split("/")
    val found = path.split("/")
    return wanted.size == found.size && wanted.zip(found).all { (a, b) -> a == "*" || a == b }
}
