@@free_url
const PORT = await freePort();
@@free_agent
const AGENT_PORT = `${await freePort()}/${randomUUID()}`;
@@end
const BASE_URL = (
  @GIVEN@ ?? @BASE_URL@
).replace(/\/+$/, "");
const TIMEOUT = @TIMEOUT@;
@@ts
vi.setConfig({ testTimeout: 20 * TIMEOUT, hookTimeout: 20 * TIMEOUT });
@@end
@SECRETS@
