

class Api:
@@nobody
    """A client of the service."""

    def call(self, method, path, **options):
        """Sends a request."""
@@users
    """A client of the service, with or without a user."""

    def __init__(self):
        self.proofs = {}

    def call(self, method, path, user=None, **options):
        """Sends a request; the user logs in before the first one."""
        if user and user not in self.proofs:
            self.proofs[user] = USERS[user]()
        for name, proof in self.proofs.get(user, {}).items():
            given = options.get(name, {})
            if isinstance(given, list):
                options[name] = [*given, *proof.items()]
            else:
                options[name] = {**proof, **given}
@@end
        url = path if path.startswith(("http://", "https://")) else BASE_URL + path
        answer = requests.request(
            method, url, timeout=TIMEOUT, allow_redirects=False, **options
        )
        if "charset" not in answer.headers.get("Content-Type", ""):
            answer.encoding = "utf-8"
        return answer

    @METHODS@
