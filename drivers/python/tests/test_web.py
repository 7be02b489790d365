"""Hooks of web frameworks look like what they replace, and tell faults before the answer is sent."""

import asyncio
import gc
import importlib
import inspect
import io

import pytest

from conftest import needs
from isobath_driver import faults, patch, track
from isobath_driver.patch import web


@pytest.fixture
def seen(monkeypatch):
    """What is told, in order: faults, and messages of an answer."""
    found = []
    monkeypatch.setattr(faults, "_tell", lambda failure: found.append(type(failure).__name__))
    return found


def apply(name):
    module = importlib.import_module(name)
    patches = patch.Patches()
    patches.apply(name, module)
    assert patches.unwatched == []
    return module


@pytest.fixture(scope="module")
def starlette():
    pytest.importorskip("starlette")
    return apply("starlette.middleware.errors")


def call(app, sent):
    scope = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": []}

    async def receive():
        return {"type": "http.request", "body": b""}

    async def send(message):
        sent.append(message["type"])

    with pytest.raises(KeyError):
        asyncio.run(app(scope, receive, send))


async def broken(scope, receive, send):
    raise KeyError("x")


@needs("starlette")
@pytest.mark.parametrize("is_debug", [False, True])
def test_a_fault_is_told_before_starlette_answers(starlette, seen, is_debug):
    call(starlette.ServerErrorMiddleware(broken, debug=is_debug), seen)
    assert seen[:2] == ["KeyError", "http.response.start"]


@needs("starlette")
def test_a_fault_is_told_before_a_handler_of_the_service_answers(starlette, seen):
    from starlette.responses import PlainTextResponse

    async def asynchronous(request, failure):
        return PlainTextResponse("sorry", 500)

    def synchronous(request, failure):
        return PlainTextResponse("sorry", 500)

    for handler in (asynchronous, synchronous):
        del seen[:]
        call(starlette.ServerErrorMiddleware(broken, handler=handler), seen)
        assert seen[:2] == ["KeyError", "http.response.start"]


@needs("starlette")
def test_middleware_that_is_patched_is_still_an_asgi_3_application(starlette):
    assert inspect.iscoroutinefunction(starlette.ServerErrorMiddleware.__call__)
    assert inspect.signature(starlette.ServerErrorMiddleware.__init__).parameters["debug"].default is False


def test_what_replaces_a_function_is_of_its_kind():
    async def asynchronous(n):
        return n

    async def told(original, n):
        return await original(n) + 1

    replacement = patch.standing_for(asynchronous, told)
    assert inspect.iscoroutinefunction(replacement) and asyncio.run(replacement(1)) == 2
    assert not inspect.iscoroutinefunction(patch.standing_for(len, lambda original, of: original(of)))


def test_exceptions_of_tasks_that_nobody_waits_for_are_faults(seen):
    apply("asyncio.base_events")

    async def fail():
        raise KeyError("x")

    async def work():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        task = asyncio.ensure_future(fail())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del task
        gc.collect()

    asyncio.run(work())
    assert seen == ["KeyError"]


def environ_of(data, **variables):
    length = variables.pop("length", len(data))
    stream = io.BufferedReader(io.BytesIO(data))
    return {"PATH_INFO": "/", "CONTENT_LENGTH": str(length), "wsgi.input": stream, **variables}


def test_a_body_is_looked_at_and_still_there_to_be_read():
    environ = environ_of(b'{"name": "_isobath_1_input"}')
    assert track.is_in(web.raw_of_environ(environ))
    assert environ["wsgi.input"].read() == b'{"name": "_isobath_1_input"}'
    assert not track.is_in(web.raw_of_environ(environ_of(b'{"name": "foo"}')))


@pytest.mark.parametrize(
    "environ",
    [
        environ_of(b"half", length=8),
        environ_of(b"later", HTTP_EXPECT="100-continue"),
        environ_of(b"x" * 2 * io.DEFAULT_BUFFER_SIZE),
        environ_of(b"", length="", HTTP_TRANSFER_ENCODING="chunked"),
        {**environ_of(b"some"), "wsgi.input": io.BytesIO(b"some")},
    ],
    ids=["in-pieces", "not-asked-for", "long", "chunked", "of-another-server"],
)
def test_of_a_body_that_cannot_be_looked_at_nothing_is_known(environ):
    assert web.raw_of_environ(environ) is None


@needs("django")
def test_the_body_that_the_development_server_of_django_hands_out_is_looked_at():
    from django.core.handlers.wsgi import LimitedStream

    environ = environ_of(b"_isobath_1_input")
    environ["wsgi.input"] = LimitedStream(environ["wsgi.input"], 16)
    assert track.is_in(web.raw_of_environ(environ))
    assert environ["wsgi.input"].read() == b"_isobath_1_input"
