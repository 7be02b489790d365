"""Events that wait for the core to ask.

Threads of the service only ever append here. A core that does not read cannot stop the service: what the socket does not take at
once is kept, and only the thread that answers the core waits.
"""

import _thread
from select import select as _select  # before anybody patches it
from time import sleep as _sleep

from . import frame

MOST = 5000
MOST_BYTES = 4 << 20


class Queue:
    """Frames to send, within bounds."""

    def __init__(self, stream):
        self._stream = stream
        self._lock = _thread.RLock()
        self._sending = bytearray()
        self._frames = []
        self._bytes = 0
        self._dropped = 0
        self._said = set()
        self._candidate = -1
        self.is_closed = False

    def add(self, data):
        """Keeps an event until the core asks."""
        with self._lock:
            if frame.fits(data):
                self._add(data, len(data))
            else:
                self._dropped += 1

    def _add(self, event, size):
        if len(self._frames) >= MOST or len(self._sending) + self._bytes + size > MOST_BYTES:
            self._dropped += 1
        else:
            self._frames.append(event)
            self._bytes += size

    def add_once(self, size, candidate, *event):
        """As `add`, once per candidate; whether it is news. The event is what makes its bytes, and what that needs: they are made
        when the core asks, so that the service need not wait for it. `size` is about how many they are."""
        with self._lock:
            if candidate != self._candidate:
                self._candidate = candidate
                self._said.clear()
            if event in self._said:
                return False
            if len(self._said) < MOST:
                self._said.add(event)
            self._add(event, size)
            return True

    def add_urgent(self, data):
        """Keeps an event that should not wait, and sends what the socket takes at once."""
        with self._lock:
            self.add(data)
            self._stage()
            self._send_now()

    def flush(self, last):
        """Sends what waits, then this; waits until the core took it."""
        with self._lock:
            self._stage()
            self._sending += last
        pause = 0.0001
        while True:
            with self._lock:
                if self._send_now() or self.is_closed:
                    return
            try:
                _select([], [self._stream], [], 0.05)
            except (OSError, ValueError):
                _sleep(pause)
                pause = min(0.02, 2 * pause)

    def _stage(self):
        if self._dropped:
            self._sending += frame.dropped(self._dropped)
            self._dropped = 0
        self._sending += b"".join([one if type(one) is bytes else _bytes_of(*one) for one in self._frames])
        self._frames = []
        self._bytes = 0

    def _send_now(self):
        """Whether all is sent; nothing is sent to a core that is gone."""
        try:
            while self._sending:
                count = self._stream.send(self._sending, _DONTWAIT)
                del self._sending[:count]
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            self.is_closed = True
            del self._sending[:]
        return True


def _bytes_of(make, *fields):
    data = make(*fields)
    return data if frame.fits(data) else b""


def _flags():
    import _socket

    return getattr(_socket, "MSG_DONTWAIT", 0) | getattr(_socket, "MSG_NOSIGNAL", 0)


_DONTWAIT = _flags()
