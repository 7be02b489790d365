

@pytest.fixture(scope="session")
def service():
    """Starts the service unless its URL is set, and waits until it is ready."""
    if @VARIABLE@ in os.environ:
        requests.get(BASE_URL, timeout=TIMEOUT, allow_redirects=False)
        yield
        return
    process = subprocess.Popen(@START@, shell=True, start_new_session=True)
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
