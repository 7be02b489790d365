"""Where requests begin, and where exceptions that nobody wanted end up."""

import functools
import inspect
import io
from urllib.parse import unquote_to_bytes

from .. import faults, start, track
from . import replaced, standing_for


def raw_of_scope(scope):
    """What is known of an ASGI request before its body is read."""
    headers = list(scope.get("headers") or ())
    path = scope.get("raw_path") or scope.get("path", "").encode("utf-8", "replace")
    return _raw([path, scope.get("query_string") or b""], [value for _, value in headers])


def _looking(receive):
    """Looks at the body of an ASGI request, for inputs to track, when the application reads it."""

    async def look():
        message = await receive()
        if message.get("type") == "http.request" and not track.is_on():
            # An input may be in two pieces of a body.
            if message.get("more_body") or track.is_in(message.get("body") or b""):
                start.track_inputs()
        return message

    return look


def raw_of_environ(environ):
    """What is known of a WSGI request; none when it has a body that cannot be looked at."""
    body = b""
    if environ.get("CONTENT_LENGTH") not in (None, "", "0") or environ.get("HTTP_TRANSFER_ENCODING"):
        body = _body_of_environ(environ)
        if body is None:
            return None
    url = [environ.get("PATH_INFO", ""), environ.get("QUERY_STRING", "")]
    values = [value for name, value in environ.items() if name.startswith("HTTP_") and isinstance(value, str)]
    url = [one.encode("latin-1", "replace") for one in url]
    return _raw(url, [one.encode("latin-1", "replace") for one in values] + [body])


def _body_of_environ(environ):
    """The body of a WSGI request, still to be read by the application; none when not all of it is in the buffer of the stream.

    A client that waits to be asked for the body is not waited for.
    """
    stream = environ.get("wsgi.input")
    if type(stream) is not io.BufferedReader and hasattr(stream, "__dict__"):
        # Django's development server hands out a stream that ends with the body.
        stream = getattr(vars(stream).get("_read"), "__self__", None)
    length = environ.get("CONTENT_LENGTH") or ""
    if type(stream) is not io.BufferedReader or not length.isdigit() or environ.get("HTTP_EXPECT"):
        return None
    if int(length) > io.DEFAULT_BUFFER_SIZE:
        return None
    body = stream.peek()
    return body if len(body) >= int(length) else None


def _raw(url, values):
    url = b" ".join(url)
    raw = b"\n".join([url] + values)
    if track.has_others() and (b"%" in url or b"+" in url):
        raw += b"\n" + unquote_to_bytes(url.replace(b"+", b" "))
    return raw


def asgi(app):
    """An ASGI app whose requests are known to the driver."""

    @functools.wraps(app)
    async def watched(scope, receive, send):
        if scope.get("type") != "http":
            return await app(scope, receive, send)
        token = start.begin(raw_of_scope, scope)
        try:
            return await app(scope, receive if token is None else _looking(receive), send)
        except Exception as failure:
            faults.seen(failure)
            raise
        finally:
            start.end(token)

    return watched


def wsgi(app):
    """A WSGI app whose requests are known to the driver."""

    @functools.wraps(app)
    def watched(environ, start_response):
        token = start.begin(raw_of_environ, environ)
        try:
            return app(environ, start_response)
        except Exception as failure:
            faults.seen(failure)
            raise
        finally:
            start.end(token)

    return watched


def starlette(module):
    # Faults are told before the middleware answers: the core goes on as soon as it has the answer.
    for name in ("error_response", "debug_response"):

        @replaced(module.ServerErrorMiddleware, name)
        def respond(original, self, request, failure):
            faults.seen(failure)
            return original(self, request, failure)

    @replaced(module.ServerErrorMiddleware, "__init__")
    def init(original, self, app, handler=None, *arguments, **keywords):
        original(self, app, _telling(handler) if inspect.isroutine(handler) else handler, *arguments, **keywords)

    @replaced(module.ServerErrorMiddleware, "__call__")
    async def call(original, self, scope, receive, send):
        if scope.get("type") != "http":
            return await original(self, scope, receive, send)
        token = start.begin(raw_of_scope, scope)
        try:
            return await original(self, scope, receive if token is None else _looking(receive), send)
        except Exception as failure:
            faults.seen(failure)
            raise
        finally:
            start.end(token)


def _telling(handler):
    def handle(original, request, failure):
        faults.seen(failure)
        return original(request, failure)

    async def handle_async(original, request, failure):
        faults.seen(failure)
        return await original(request, failure)

    return standing_for(handler, handle_async if inspect.iscoroutinefunction(handler) else handle)


def uvicorn(module):
    @replaced(module.RequestResponseCycle, "run_asgi")
    async def run_asgi(original, self, app):
        return await original(self, asgi(app) if callable(app) else app)


def flask(module):
    @replaced(module.Flask, "wsgi_app")
    def wsgi_app(original, self, environ, start_response):
        token = start.begin(raw_of_environ, environ)
        try:
            return original(self, environ, start_response)
        finally:
            start.end(token)

    @replaced(module.Flask, "handle_exception")
    def handle_exception(original, self, failure):
        faults.seen(failure)
        return original(self, failure)


def django(module):
    from .parameters import django_request

    @replaced(module.BaseHandler, "get_response")
    def get_response(original, self, request):
        token = start.begin(_raw_of_django, request)
        try:
            django_request(request)
            return original(self, request)
        finally:
            start.end(token)

    @replaced(module.BaseHandler, "get_response_async")
    async def get_response_async(original, self, request):
        token = start.begin(_raw_of_django, request)
        try:
            django_request(request)
            return await original(self, request)
        finally:
            start.end(token)


def _raw_of_django(request):
    try:
        return raw_of_environ(request.META)
    except Exception:
        return None


def django_exceptions(module):
    names = ("Http404", "PermissionDenied", "BadRequest", "SuspiciousOperation", "MultiPartParserError")
    expected = tuple(getattr(module, name) for name in names if hasattr(module, name))

    @replaced(module, "response_for_exception")
    def response_for_exception(original, request, failure):
        if not isinstance(failure, expected):
            faults.seen(failure)
        return original(request, failure)


def wsgiref(module):
    @replaced(module.BaseHandler, "run")
    def run(original, self, application):
        return original(self, wsgi(application))
