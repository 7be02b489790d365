# Prints the arguments of the interpreter that serve an application (module:app or module:factory()), as JSON.
import importlib
import importlib.util
import inspect
import json
import sys

name, _, path = sys.argv[1].partition(":")
is_factory = path.endswith("()")
path = path[:-2] if is_factory else path
try:
    application = importlib.import_module(name)
    for part in path.split("."):
        application = getattr(application, part)
    if is_factory:
        application = application()
except SystemExit as end:
    sys.exit("%s ended with %r while it was imported" % (name, end.code))


def installed(module):
    return importlib.util.find_spec(module) is not None


def is_asgi(call):
    if not inspect.isroutine(call):
        call = getattr(call, "__call__", None)
    return inspect.iscoroutinefunction(call)


if not callable(application):
    sys.exit("%s is no application: %s cannot be called" % (sys.argv[1], type(application).__name__))
place = "%s:%s" % (name, path)
if is_asgi(application):
    if installed("uvicorn"):
        words = ["-m", "uvicorn", *(["--factory"] if is_factory else []), place]
        words += ["--port", "{port}", "--no-access-log"]
    elif installed("hypercorn"):
        words = ["-m", "hypercorn", sys.argv[1], "--bind", "127.0.0.1:{port}"]
    else:
        sys.exit("%s is an ASGI application, and neither uvicorn nor hypercorn is installed; pass --python-start" % sys.argv[1])
else:
    first = path.split(".")[0]
    call = path + "()" if is_factory else path
    if installed("werkzeug"):
        serve = "from werkzeug.serving import run_simple; run_simple('127.0.0.1', {port}, %s)" % call
    else:
        serve = "from wsgiref.simple_server import make_server; make_server('127.0.0.1', {port}, %s).serve_forever()" % call
    words = ["-c", "from %s import %s; %s" % (name, first, serve)]
print(json.dumps(words))
