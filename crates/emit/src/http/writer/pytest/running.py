

@@alone
@pytest.fixture(scope="session")
def service():
@@external
@pytest.fixture(scope="module")
def service(mock_servers):
@@end
    """Checks that the service is running."""
    requests.get(BASE_URL, timeout=TIMEOUT, allow_redirects=False)
