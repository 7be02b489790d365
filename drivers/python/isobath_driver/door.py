"""Lets a test suite bring rows to a database in the memory of the service, which nobody else can reach.

Statements are posted by HTTP to a port of this host; rows come back as lines. The path of the URL is a token that only the suite
knows. Others get no further than 403.
"""

import _socket
import _thread
import hmac
import os
import sys

LONGEST = 16 << 20
PATIENCE = 10.0


_opened_by = None


def open_once(settings):
    """Opens it in the process that has the database, once; one caller at a time is served."""
    global _opened_by
    if settings.door and _opened_by != os.getpid():
        _opened_by = os.getpid()
        _open(settings.door, settings.door_token)


def _open(port, token):
    if not token:
        sys.stderr.write("isobath: ISOBATH_DOOR has no token and should be PORT/TOKEN\n")
        return
    import socket

    listener = socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(16)
    except OSError as problem:
        sys.stderr.write("isobath: tests cannot bring rows at port %d: %s\n" % (port, problem))
        listener.close()
        return
    _thread.start_new_thread(_serve, (listener, ("/" + token).encode()))


def _serve(listener, path):
    while True:
        try:
            caller, _ = listener.accept()
        except OSError:
            return
        with caller:
            try:
                caller.settimeout(PATIENCE)
                status, text = _handle(caller.makefile("rb"), caller, path)
                body = text.encode("utf-8", "replace")
                head = "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                caller.sendall((head % (status, len(body))).encode() + body)
            except (OSError, ValueError):
                # The next one may have more luck.
                pass


def _handle(reader, caller, path):
    request = reader.readline(8192).split()
    length, is_browser, headers = 0, False, 0
    while True:
        line = reader.readline(8192)
        if line in (b"\r\n", b"\n", b""):
            break
        name, _, value = line.partition(b":")
        name = name.strip().lower()
        # A page in somebody's browser has no business here.
        is_browser |= name == b"origin"
        if name == b"content-length":
            length = int(value) if value.strip().isdigit() else -1
        if name == b"expect":
            caller.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        headers += 1
        if headers > 100:
            return "400 Bad Request", "too many headers\n"
    if len(request) < 2 or request[0] != b"POST" or is_browser or not 0 <= length <= LONGEST:
        return "400 Bad Request", "statements are posted here, by tests\n"
    if not hmac.compare_digest(path, request[1]):
        return "403 Forbidden", "the path of the URL is not the token of this run\n"
    from .patch import memory

    try:
        rows = memory.run(reader.read(length).decode("utf-8"))
    except Exception as refusal:
        return "422 Unprocessable Entity", "%s\n" % refusal
    return "200 OK", "".join("|".join("" if one is None else one for one in row) + "\n" for row in rows)
