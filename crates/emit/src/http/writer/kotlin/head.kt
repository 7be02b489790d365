@HEADER@
//
// Run with: mvn test. Environment:
//
@ENVIRONMENT@

package @PACKAGE@

@IMPORTS@

@@free_url
private val PORT = freePort()
@@free_agent
private val AGENT_PORT = freePort().toString() + "/" + UUID.randomUUID()
@@end
private val BASE_URL = environment(@BASE_URL_VARIABLE@, @BASE_URL@).trimEnd('/')
private const val TIMEOUT = @TIMEOUT@
@SECRETS@
private val proofs = HashMap<String, Proof>()
@@started
private var service: Process? = null
@@end

@DisplayName(@TITLE@)
class @CLASS@ {
    companion object {
        @BeforeAll
        @JvmStatic
        fun up() {
@@external
            @EXTERNAL_SERVICES@
@@running
            anonymous().get("/")
        }
@@started
            if (System.getenv(@BASE_URL_VARIABLE@) != null) {
                return
            }
            val command = @START@
@@free_url
                .replace(@PORT_PLACEHOLDER@, PORT.toString())
@@free_agent
                .replace(@AGENT_PORT_PLACEHOLDER@, AGENT_PORT)
@@started
            val started = ProcessBuilder("sh", "-c", "exec $command").inheritIO().start()
            service = started
            for (tries in 0..600) {
                assertTrue(started.isAlive, "the service exited during startup")
                try {
                    anonymous().get("/")
                    return
                } catch (error: Exception) {
                    assertTrue(tries < 600, "the service did not become ready")
                    Thread.sleep(100)
                }
            }
        }

        @AfterAll
        @JvmStatic
        fun down() {
            service?.descendants()?.forEach { it.destroy() }
            service?.destroy()
        }
@@external

        @AfterAll
        @JvmStatic
        fun stopMockServers() {
            mockServers.forEach { it.stop(0) }
        }
@@end
    }

    @BeforeEach
    fun reset() {
        proofs.clear()
@@external
        synchronized(stubs) { stubs.clear() }
@@end
        @RESET@
    }
