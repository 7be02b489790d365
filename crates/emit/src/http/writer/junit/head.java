@HEADER@
//
// Run with: mvn test. Environment:
//
@ENVIRONMENT@

@IMPORTS@

@DisplayName(@TITLE@)
class @CLASS@ {
@@free_url
  private static final int PORT = freePort();
@@free_agent
  private static final String AGENT_PORT =
      freePort() + "/" + java.util.UUID.randomUUID();
@@end
  private static final String BASE_URL =
      environment(@BASE_URL_VARIABLE@, @BASE_URL@).replaceAll("/+$", "");
  private static final int TIMEOUT = @TIMEOUT@;
@SECRETS@
