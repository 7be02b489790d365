"""The connection to the core.

A process connects when it handles its first request, so supervisors, reloaders and masters never do. After a fork the child
connects anew. Without a core the service goes on alone.
"""

import _socket
import _thread
import os
import socket
import sys

from . import NAME, VERSION, frame
from .cells import Cells
from .queue import Queue

PATIENCE = 30.0
AT_ONCE = 10_000
#: The tag of the message that names inputs to track.
TRACK = 2

#: The one connection of this process, or none.
current = None

_lock = _thread.RLock()
_start_thread = _thread.start_new_thread  # before anybody patches it
#: Whether this process tried to connect.
_tried = False


class Link:
    """A connection whose greeting is done."""

    def __init__(self, stream, queue, cells, path=None):
        self.stream = stream
        self.queue = queue
        self.cells = cells
        self.words = cells.words
        #: The file of the map.
        self.path = path
        #: Held by whoever takes a message off the stream, and until the inputs that it names are tracked.
        self._taking = _thread.RLock()

    def catch_up(self, state):
        """Tracks the inputs that the core named before it called: the thread that listens may not have had its turn yet."""
        with self._taking:
            while self._next() == TRACK:
                state.track(frame.command(receive(self.stream))[1][0])

    def take(self, state):
        """Waits for a message; gives its tag and fields, or none when it is done."""
        if not self.stream.recv(1, _socket.MSG_PEEK):
            raise EOFError("the core is gone")
        with self._taking:
            if self._next() is None:
                return None, ()
            tag, fields = frame.command(receive(self.stream))
            if tag == TRACK:
                state.track(fields[0])
                return None, ()
            return tag, fields

    def _next(self):
        """The tag of the message that waits, if any."""
        try:
            head = self.stream.recv(5, _socket.MSG_PEEK | _socket.MSG_DONTWAIT)
        except OSError:  # nothing waits, or the core is gone
            return None
        return head[4] if len(head) == 5 else 0

    def candidate(self):
        return self.cells.candidate

    def action(self):
        return self.cells.action


class Refused(Exception):
    """The core cannot be used."""


def ensure(state):
    """Connects this process, unless it tried before. `state` has settings, targets and services."""
    global current, _tried
    if _tried:
        return current
    with _lock:
        if _tried:
            return current
        _tried = True
        try:
            current = _open(state.settings, state.targets(), state.cells())
        except (OSError, ValueError, Refused) as problem:
            sys.stderr.write("isobath: no connection to the core: %s\n" % (problem,))
            return None
        state.connected(current)
        _serve(current, state)
        return current


def adopt(link, state):
    """Goes on with a connection that another process handed over."""
    global current, _tried
    current = link
    _tried = True
    state.connected(link)
    _serve(link, state)


def forked():
    """In a process that was just forked: the connection is the parent's. Whether there was one."""
    global current, _tried
    before, current = current, None
    _tried = False
    if before is not None:
        _forget(before)
    return before is not None


def alone(cells, stream=None):
    """A connection to nobody, for tests."""
    global current, _tried
    near, far = socket.socketpair() if stream is None else (stream, None)
    current = Link(near, Queue(near), cells)
    _tried = True
    return current, far


def _forget(link):
    """Closes the descriptor that was inherited; the connection of the parent stays open."""
    try:
        os.close(link.stream.detach())
    except OSError:
        pass


def _connect(settings):
    if settings.socket:
        stream = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        stream.settimeout(PATIENCE)
        stream.connect(settings.socket)
        return stream
    host, _, port = settings.address.rpartition(":")
    if not (host == "localhost" or host.startswith("127.") or host in ("::1", "[::1]")):
        raise Refused("the core must be on this host, not at %s" % host)
    family = _socket.AF_INET6 if ":" in host else _socket.AF_INET
    stream = _socket.socket(family, _socket.SOCK_STREAM)
    stream.settimeout(PATIENCE)
    stream.connect((host.strip("[]"), int(port)))
    stream.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    stream.sendall((settings.token + "\n").encode("ascii"))
    return stream


def _open(settings, targets, cells):
    stream = _connect(settings)
    try:
        stream.sendall(frame.hello(VERSION, "python", NAME, os.getpid()))
        for start in range(0, len(targets), AT_ONCE):
            stream.sendall(frame.targets(targets[start : start + AT_ONCE]))
        stream.sendall(frame.ready(cells))
        tag, fields = frame.command(receive(stream))
        if tag != 1:
            raise Refused("the core did not send Welcome")
        version, path = fields
        if version != VERSION:
            raise Refused("the core speaks version %d, this driver %d" % (version, VERSION))
        stream.settimeout(None)
        return Link(stream, Queue(stream), Cells.open(path, VERSION), path)
    except BaseException:
        stream.close()
        raise


def receive(stream):
    """The bytes of the next message."""
    length = int.from_bytes(_exactly(stream, 4), "little")
    if not 0 < length <= frame.LONGEST:
        raise EOFError("no message has %d bytes" % length)
    return _exactly(stream, length)


def _exactly(stream, count):
    data = bytearray()
    while len(data) < count:
        more = stream.recv(min(count - len(data), 1 << 20))
        if not more:
            raise EOFError("the core is gone")
        data += more
    return bytes(data)


def _serve(link, state):
    _start_thread(_obey, (link, state))


def _obey(link, state):
    global current
    try:
        while True:
            tag, fields = link.take(state)
            if tag == 3:
                state.settle()
                link.queue.flush(frame.synced(fields[0]))
            elif tag == 4:
                if state.hand_over(link, fields[0]):
                    return
                _answer(link, fields[0], state.reset)
            elif tag == 5:
                _answer(link, fields[0], state.run_sql, fields[1])
            elif tag == 6:
                _answer(link, fields[0], state.describe)
    except (OSError, EOFError, ValueError, ImportError):
        # Without a core the service goes on alone.
        link.queue.is_closed = True
        if current is link:
            state.disconnected()
            current = None


def _answer(link, request, work, *arguments):
    try:
        answer = frame.answer(request, None, work(*arguments) or [])
    except Exception as problem:
        answer = frame.answer(request, str(problem) or repr(problem), [])
    if not frame.fits(answer):
        answer = frame.answer(request, "more rows than a message can hold", [])
    link.queue.flush(answer)
