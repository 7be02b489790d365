@EXTERNAL_SERVICES@


class MockServer(BaseHTTPRequestHandler):
    """Mocks the external services that the service calls."""

    stubs = []

    def reply(self):
        """Sends the first matching stub that is unused, or the last one again."""
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        url = urlsplit(self.path)
        called = (self.server.service or url.hostname, self.command)
        matching = [
            stub
            for stub in MockServer.stubs
            if stub["called"] == called and path_matches(stub["path"], url.path)
        ]
        unused = [stub for stub in matching if not stub["used"]]
        stub = (unused[:1] or matching[-1:] or [{"status": 200, "body": b"{}"}])[0]
        stub["used"] = True
        if not stub["status"]:
            return
        self.send_response(stub["status"])
        if stub["body"] and stub["status"] != 204:
            self.send_header("Content-Type", stub.get("type", "application/json"))
            self.send_header("Content-Length", str(len(stub["body"])))
            self.end_headers()
            self.wfile.write(stub["body"])
        else:
            self.send_header("Content-Length", "0")
            self.end_headers()

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.reply
        raise AttributeError(name)

    def log_message(self, *_):
        """Logs nothing."""


def path_matches(pattern, path):
    """Whether a path matches a pattern, in which * stands for one segment."""
    wanted, found = pattern.split("/"), path.split("/")
    pairs = zip(wanted, found)
    return len(wanted) == len(found) and all(a in ("*", b) for a, b in pairs)


def mock_response(service, method, path, status=0, body=None, content_type=None):
    """Adds a stub; without a status, the connection is closed instead."""
    text = body if content_type else json.dumps(body)
    MockServer.stubs.append(
        {
            "called": (service, method),
            "path": path,
            "status": status,
            "type": content_type or "application/json",
            "body": text.encode(),
            "used": False,
        }
    )


@pytest.fixture(scope="module")
def mock_servers():
    """Listens where the service expects the external services."""
    servers = []
    for name, port in EXTERNAL_SERVICES:
        server = ThreadingHTTPServer(("127.0.0.1", port), MockServer)
        server.service = name
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
    yield
    for server in servers:
        server.shutdown()
        server.server_close()
