

class Outside(BaseHTTPRequestHandler):
    """Stands for the services that the service calls."""

    answers = []

    def reply(self):
        """Gives the first fitting answer that was not given, or the last one again."""
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        url = urlsplit(self.path)
        called = (self.server.service or url.hostname, self.command)
        fitting = [
            answer
            for answer in Outside.answers
            if answer["called"] == called and fits(answer["path"], url.path)
        ]
        fresh = [answer for answer in fitting if not answer["given"]]
        answer = (fresh[:1] or fitting[-1:] or [{"status": 200, "body": b"{}"}])[0]
        answer["given"] = True
        if not answer["status"]:
            return
        self.send_response(answer["status"])
        if answer["body"] and answer["status"] != 204:
            self.send_header("Content-Type", answer.get("type", "application/json"))
            self.send_header("Content-Length", str(len(answer["body"])))
            self.end_headers()
            self.wfile.write(answer["body"])
        else:
            self.send_header("Content-Length", "0")
            self.end_headers()

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.reply
        raise AttributeError(name)

    def log_message(self, *_):
        """Says nothing."""


def fits(pattern, path):
    """Whether a path is one of a pattern, in which * stands for a segment."""
    wanted, found = pattern.split("/"), path.split("/")
    pairs = zip(wanted, found)
    return len(wanted) == len(found) and all(a in ("*", b) for a, b in pairs)


def stand_in(service, method, path, status=0, body=None, content_type=None):
    """Prepares an answer; without a status, the connection is closed instead."""
    text = body if content_type else json.dumps(body)
    Outside.answers.append(
        {
            "called": (service, method),
            "path": path,
            "status": status,
            "type": content_type or "application/json",
            "body": text.encode(),
            "given": False,
        }
    )


@pytest.fixture(scope="module")
def outside():
    """Listens where the service looks for others."""
    servers = []
    for name, port in OUTSIDE:
        server = ThreadingHTTPServer(("127.0.0.1", port), Outside)
        server.service = name
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
    yield
    for server in servers:
        server.shutdown()
        server.server_close()
