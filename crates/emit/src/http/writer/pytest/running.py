

@pytest.fixture(scope="session")
def service():
    """Makes sure that the service is up."""
    requests.get(BASE_URL, timeout=TIMEOUT, allow_redirects=False)
