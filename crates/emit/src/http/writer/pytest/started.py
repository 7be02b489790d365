

@@alone
@pytest.fixture(scope="session")
def service():
@@external
@pytest.fixture(scope="module")
def service(mock_servers):
@@end
    """Starts the service unless its URL is set, and waits until it is ready."""
    if @BASE_URL_VARIABLE@ in os.environ:
        requests.get(BASE_URL, timeout=TIMEOUT, allow_redirects=False)
        yield
        return
    command = @START@
@@free_url
    command = command.replace(@PORT_PLACEHOLDER@, PORT)
@@free_agent
    command = command.replace(@AGENT_PORT_PLACEHOLDER@, AGENT_PORT)
@@end
    process = subprocess.Popen(command, shell=True, start_new_session=True)
    try:
        for _ in range(600):
            assert process.poll() is None, "the service exited during startup"
            try:
                requests.get(BASE_URL, timeout=TIMEOUT, allow_redirects=False)
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        else:
            pytest.fail("the service did not become ready")
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
