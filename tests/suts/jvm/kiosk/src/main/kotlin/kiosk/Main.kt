package kiosk

import com.sun.net.httpserver.HttpServer
import java.net.InetAddress
import java.net.InetSocketAddress
import kotlinx.coroutines.runBlocking

fun main() {
    val port = System.getenv("SERVER_PORT")?.toInt() ?: 8080
    val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0)
    server.createContext("/") { exchange ->
        val parts = exchange.requestURI.path.split("/").drop(1)
        val said = runBlocking { answer(parts) }
        val bytes = said.orEmpty().toByteArray()
        exchange.responseHeaders.add("Content-Type", "text/plain")
        exchange.sendResponseHeaders(if (said == null) 404 else 200, if (bytes.isEmpty()) -1L else bytes.size.toLong())
        exchange.responseBody.use { it.write(bytes) }
    }
    server.start()
}
