

@pytest.fixture
def api(service):
@@unchanged
    """A client of the service, for one test."""
    return Api()
@@reset
    """A client of the reset service, for one test."""
    api = Api()
@@external
    MockServer.stubs = []
@@reset
    @RESET@
    return api
@@end
