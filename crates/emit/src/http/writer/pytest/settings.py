@@free_url
PORT = free_port()
@@free_agent
AGENT_PORT = free_port() + "/" + secrets.token_hex(16)
@@end
BASE_URL = os.environ.get(@BASE_URL_VARIABLE@, @BASE_URL@).rstrip("/")
TIMEOUT = @TIMEOUT@
