"""Starts services with the driver, calls them and ends them."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time

from conftest import DRIVER
from core import Core


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Service:
    """A process group that serves at a port, and the core that listens to it."""

    def __init__(self, command, folder, port, driver=True, **variables):
        self.port = port
        self.core = Core() if driver else None
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ISOBATH_")}
        environment["PYTHONPATH"] = os.pathsep.join([os.path.join(DRIVER, "site"), DRIVER] if driver else [DRIVER])
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        if driver:
            environment["ISOBATH_SOCKET"] = self.core.path
            environment["ISOBATH_PYTHON_ROOT"] = str(folder)
        environment.update(variables)
        self.output = open(os.path.join(str(folder), "output.txt"), "w+")
        self.process = subprocess.Popen(
            command, cwd=str(folder), env=environment, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True
        )

    def said(self):
        self.output.flush()
        with open(self.output.name) as file:
            return file.read()

    def wait(self, path="/", seconds=60):
        """Until something answers."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError("it ended with %s:\n%s" % (self.process.returncode, self.said()))
            try:
                return self.call("GET", path)
            except (OSError, http.client.HTTPException):
                time.sleep(0.05)
        raise AssertionError("nothing answers:\n" + self.said())

    def call(self, method, path, body=None, headers=None):
        """The status and the text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text

    def driver(self):
        try:
            return self.core.driver()
        except AssertionError as problem:
            raise AssertionError("%s\n%s" % (problem, self.said())) from None

    def close(self):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
            except ProcessLookupError:
                break
            try:
                self.process.wait(5)
                break
            except subprocess.TimeoutExpired:
                continue
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.output.close()
        if self.core is not None:
            self.core.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def python(*arguments):
    return [sys.executable] + list(arguments)
