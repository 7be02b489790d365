

class Api:
    """A client of the service."""

    def call(self, method, path, **options):
        """Sends a request."""
        url = path if path.startswith(("http://", "https://")) else BASE_URL + path
        answer = requests.request(
            method, url, timeout=TIMEOUT, allow_redirects=False, **options
        )
        if "charset" not in answer.headers.get("Content-Type", ""):
            answer.encoding = "utf-8"
        return answer
