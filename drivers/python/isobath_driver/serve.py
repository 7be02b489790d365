"""Serves an application: `serve module:app --host 127.0.0.1 --port N`.

With the driver, and where fork is safe, the process is a zygote: it imports the application once and forks the process that serves.
For a reset that process hands its connection to the core over and ends; another one is forked, goes on with the connection and
answers. So the state of modules and databases in memory are as they were after the import.
"""

import argparse
import importlib
import importlib.util
import inspect
import os
import socket
import sys
import threading
import traceback


def main(arguments):
    """Serves until it is ended; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m isobath_driver")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve an ASGI or WSGI application")
    serve.add_argument("app", metavar="MODULE:APP", help="application, or factory with ()")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, required=True)
    serve.add_argument("--plain", action="store_true", help="serve without driver and instrumentation")
    serve.add_argument("--no-fork", action="store_true", help="serve in this process")
    options = parser.parse_args(arguments)
    sys.argv = [options.app]
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)
    listener = _listen(options.host, options.port)
    if listener is None:
        return 1
    try:
        app = load(options.app)
    except (Exception, SystemExit) as problem:
        traceback.print_exc()
        sys.stderr.write("isobath: failed to import %s: %s\n" % (options.app, problem))
        return 1
    driver = None if options.plain else _driver()
    if driver is not None and not options.no_fork and is_fork_safe():
        from .zygote import Zygote

        warm_up(app)
        return Zygote(driver, lambda ready: run(app, listener, driver, ready), listener).run()
    return run(app, listener, driver, None)


def _driver():
    from . import start

    return start.driver if start.driver is not None and start.driver.settings.has_core else None


def _listen(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Whoever accepts connections looks at the protocol to switch off delays.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as problem:
        sys.stderr.write("isobath: cannot listen at %s port %d: %s\n" % (host, port, problem))
        return None
    listener.set_inheritable(True)
    return listener


def load(text):
    """The application that `module:app` or `module:factory()` names."""
    name, _, path = text.partition(":")
    path = path or "app"
    is_factory = path.endswith("()")
    found = importlib.import_module(name)
    for part in path[:-2].split(".") if is_factory else path.split("."):
        found = getattr(found, part)
    return found() if is_factory else found


def is_asgi(app):
    """Whether an application speaks ASGI: it is called with three arguments and gives something to wait for."""
    if inspect.isclass(app):
        return hasattr(app, "__await__")
    if inspect.iscoroutinefunction(app):
        return True
    call = getattr(type(app), "__call__", None)
    if inspect.iscoroutinefunction(call):
        return True
    try:
        count = len([one for one in inspect.signature(app).parameters.values() if one.default is one.empty])
    except (TypeError, ValueError):
        return False
    return count == 3


def is_fork_safe():
    """Whether nothing but memory would be shared by a process that is forked now."""
    from .patch import memory

    return hasattr(os, "fork") and threading.active_count() == 1 and memory.connections_elsewhere == 0


def warm_up(app):
    """Imports what each process would import for itself when it starts to serve or at its first request."""
    try:
        if not is_asgi(app):
            importlib.import_module("werkzeug.serving" if _has("werkzeug") else "wsgiref.simple_server")
        elif _has("uvicorn"):
            import uvicorn

            uvicorn.Config(app, log_config=None).load()
        urls = sys.modules.get("django.urls")
        if urls is not None:
            # The views of a service, as `manage.py check` imports them.
            urls.get_resolver().url_patterns
    except (Exception, SystemExit):
        # Whoever serves meets it again, where it is told.
        pass


def run(app, listener, driver, ready):
    """Serves in this process; `ready` is called when it does. Returns the exit code."""
    kind = _asgi_server if is_asgi(app) else _wsgi_server
    if driver is not None:
        from .patch import web

        app = (web.asgi if kind is _asgi_server else web.wsgi)(app)
    return kind(app, listener, ready or (lambda: None))


def _asgi_server(app, listener, ready):
    if _has("uvicorn"):
        import uvicorn

        class Server(uvicorn.Server):
            async def startup(self, sockets=None):
                await super().startup(sockets=sockets)
                if self.started:
                    ready()

        server = Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="auto"))
        server.run(sockets=[listener])
        return 0 if server.started else 3
    if _has("hypercorn"):
        import asyncio

        from hypercorn.asyncio import serve
        from hypercorn.config import Config

        config = Config()
        listener.listen(128)
        config.bind = ["fd://%d" % listener.fileno()]
        config.errorlog = None

        async def work():
            asyncio.get_running_loop().call_later(0.05, ready)
            await serve(app, config)

        asyncio.run(work())
        return 0
    sys.stderr.write("isobath: an ASGI application needs uvicorn or hypercorn in its environment; install one of them\n")
    return 1


def _wsgi_server(app, listener, ready):
    listener.listen(128)
    if _has("werkzeug"):
        import logging

        from werkzeug.serving import WSGIRequestHandler, make_server

        class Handler(WSGIRequestHandler):
            # Before 1.1 only the end of the connection shows the end of a response without a length, for which werkzeug waits 10 ms.
            protocol_version = "HTTP/1.1"

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        host, port = listener.getsockname()[:2]
        server = make_server(host, port, app, threaded=False, request_handler=Handler, fd=listener.fileno())
    else:
        from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

        class Handler(WSGIRequestHandler):
            def log_message(self, *_):
                pass

        server = WSGIServer(listener.getsockname()[:2], Handler, bind_and_activate=False)
        server.socket.close()
        server.socket = listener
        host, port = listener.getsockname()[:2]
        server.server_name, server.server_port = host, port
        server.setup_environ()
        server.set_app(app)
    ready()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    return 0


def _has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False
