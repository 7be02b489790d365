"""The process that imported the application and forks the one that serves."""

import _socket
import _thread
import array
import gc
import os
import signal
import socket
import struct
import sys

from . import frame, link
from .cells import Cells
from .queue import Queue


class Zygote:
    """Forks a process that serves, and another one for each reset."""

    def __init__(self, driver, serve, listener):
        self.driver = driver
        self.serve = serve
        self.listener = listener
        self.child = None

    def run(self):
        """Until the serving process ends by itself, or we are told to. Returns the exit code."""
        # Callers that come while no process serves are kept waiting instead of being refused.
        self.listener.listen(128)
        # What was imported is not looked at again, so its pages stay shared.
        gc.freeze()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        inherited = None
        while True:
            near, far = socket.socketpair()
            self.child = os.fork()
            if self.child == 0:
                near.close()
                self._serve(far, inherited)
            far.close()
            if inherited is not None:
                inherited[0].close()
            inherited = _receive(near)
            near.close()
            _, status = os.waitpid(self.child, 0)
            self.child = None
            if inherited is None:
                return self._die(status)

    def _end(self, number, _):
        if self.child:
            try:
                os.kill(self.child, signal.SIGTERM)
                os.waitpid(self.child, 0)
            except (OSError, ChildProcessError):
                pass
        os._exit(0)

    @staticmethod
    def _die(status):
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
            os.kill(os.getpid(), number)
        return os.WEXITSTATUS(status)

    def _serve(self, far, inherited):
        """In the serving process; does not return."""
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            self.driver.hand_over_to = lambda connection, request: self._hand_over(far, connection, request)
            _thread.start_new_thread(_end_with_zygote, (far,))

            def ready():
                if inherited is not None:
                    stream, path, request = inherited
                    connection = link.Link(stream, Queue(stream), Cells.open(path, 1), path)
                    link.adopt(connection, self.driver)
                    connection.queue.flush(frame.answer(request, None, []))

            code = self.serve(ready)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            try:
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code or 0)

    def _hand_over(self, far, connection, request):
        """In the serving process: gives the connection to the zygote and ends."""
        self.driver.settle()
        connection.queue.flush(b"")
        path = connection.path.encode()
        head = struct.pack("<II", request, len(path)) + path
        descriptors = array.array("i", [connection.stream.fileno()])
        far.sendmsg([head], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, descriptors)])
        os._exit(0)


def _end_with_zygote(far):
    """Nobody could end a serving process whose zygote is gone."""
    try:
        far.recv(1)
    except OSError:
        pass
    os._exit(1)


def _receive(near):
    """In the zygote: the connection, the file of the map and the request; none when the serving process just ended."""
    try:
        data, ancillary, _, _ = near.recvmsg(65536, _socket.CMSG_SPACE(4))
    except OSError:
        return None
    if not data or not ancillary:
        return None
    request, length = struct.unpack_from("<II", data)
    descriptor = array.array("i", ancillary[0][2][:4])[0]
    stream = _socket.socket(fileno=descriptor)
    return stream, data[8 : 8 + length].decode(), request
