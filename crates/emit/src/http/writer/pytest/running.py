

@pytest.fixture(scope="session")
def service():
    """Checks that the service is running."""
    requests.get(BASE_URL, timeout=TIMEOUT, allow_redirects=False)
