"""From start to end: what is instrumented, the cache, resets, deaths, background work, outbound calls."""

import http.client
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import DRIVER, needs
from core import Core
from service import Service, free_port, python

APP = '''
import http.client
import os
import sqlite3
import threading
from urllib.request import urlopen

db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
db.execute("INSERT INTO items (name) VALUES ('first')")
db.commit()
SEEN = []


def app(environ, start_response):
    path = environ["PATH_INFO"]
    SEEN.append(path)
    status, text = handle(path, environ)
    start_response(status, [("Content-Type", "text/plain")])
    return [text.encode()]


def handle(path, environ):
    if path == "/count":
        return "200 OK", str(db.execute("SELECT count(*) FROM items").fetchone()[0])
    if path == "/seen":
        return "200 OK", str(len(SEEN))
    if path == "/pid":
        return "200 OK", str(os.getpid())
    if path == "/thread":
        thread = threading.Thread(target=lambda: 1 // 0)
        thread.start()
        thread.join()
        return "200 OK", "started"
    if path == "/call":
        with urlopen("http://127.0.0.1:%s/pid?x=1" % os.environ["OTHER"]) as response:
            return "200 OK", response.read().decode()
    if path == "/fork":
        child = os.fork()
        if child == 0:
            handle("/count", environ)
            threading.excepthook(threading.ExceptHookArgs((ValueError, ValueError("in the child"), None, None)))
            os._exit(0)
        os.waitpid(child, 0)
        return "200 OK", "forked"
    if path == "/die":
        os._exit(7)
    if path == "/kill":
        os.kill(os.getpid(), 9)
    if path == "/fail":
        raise RuntimeError("no handler wanted this")
    return "404 Not Found", "nothing"
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "shop.py").write_text(APP)
    return tmp_path


def serve(folder, *more, app="shop:app", **variables):
    port = free_port()
    return Service(python("-m", "isobath_driver", "serve", app, "--port", str(port), *more), folder, port, **variables)


def test_a_reset_restores_modules_and_databases_in_memory(folder):
    with serve(folder) as service:
        service.wait("/seen")
        driver = service.driver()
        driver.candidate()
        assert driver.run_sql("INSERT INTO items (name) VALUES ('a'), ('b')") == (None, [])
        assert service.call("GET", "/count") == (200, "3")
        pid = service.call("GET", "/pid")
        events = driver.sync()
        assert [fields[2:] for kind, fields in events if kind == "Statement"] == [["SELECT count(*) FROM items", 1, None]]
        for _ in range(3):
            assert driver.reset() == (None, [])
            assert service.call("GET", "/count") == (200, "1")
            assert service.call("GET", "/seen") == (200, "2")
        assert service.call("GET", "/pid") != pid
        assert driver.describe()[1][0] == ["sqlite"]
        assert len(service.core.connections) == 1


def test_without_fork_a_reset_puts_rows_in_memory_back(folder):
    with serve(folder, "--no-fork") as service:
        service.wait("/seen")
        driver = service.driver()
        assert driver.reset() == (None, [])
        driver.run_sql("DELETE FROM items")
        assert service.call("GET", "/count") == (200, "0")
        assert driver.reset() == (None, [])
        assert service.call("GET", "/count") == (200, "1")


def test_a_reset_without_any_way_is_a_failure(tmp_path):
    (tmp_path / "shop.py").write_text(APP.replace('":memory:"', '"file.db"'))
    with serve(tmp_path) as service:
        service.wait("/seen")
        failure, _ = service.driver().reset()
        assert "--db" in failure
        assert "--db" in service.driver().run_sql("SELECT 1")[0]


@pytest.mark.parametrize("path, code", [("/die", 7), ("/kill", -signal.SIGKILL)])
def test_a_service_that_dies_ends_the_zygote_in_the_same_way(folder, path, code):
    with serve(folder) as service:
        service.wait("/seen")
        with pytest.raises(Exception):
            service.call("GET", path)
        assert service.process.wait(10) == code


def test_ending_the_zygote_ends_the_service(folder):
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with serve(folder) as service:
            service.wait("/seen")
            pid = int(service.call("GET", "/pid")[1])
            assert pid != service.process.pid
            os.kill(service.process.pid, sign)
            service.process.wait(10)
            end = time.monotonic() + 10
            while _is_alive(pid) and time.monotonic() < end:
                time.sleep(0.02)
            assert not _is_alive(pid)


def _is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().split()[2] != "Z"
    except OSError:
        return False


def test_a_service_that_does_not_import_says_why(tmp_path):
    (tmp_path / "shop.py").write_text("import missing_module\n")
    with serve(tmp_path) as service:
        assert service.process.wait(30) == 1
        assert "failed to import shop:app" in service.said() and "missing_module" in service.said()


def test_plain_serving_has_no_driver(folder):
    with serve(folder, "--plain", driver=False) as service:
        service.wait("/seen")
        assert service.call("GET", "/fail")[0] == 500
        assert int(service.call("GET", "/pid")[1]) == service.process.pid


def test_exceptions_in_threads_are_faults(folder):
    with serve(folder) as service:
        service.wait("/seen")
        driver = service.driver()
        driver.candidate()
        driver.action(2)
        assert service.call("GET", "/thread") == (200, "started")
        (fault,) = [fields for kind, fields in driver.sync() if kind == "Panicked"]
        assert fault[0] == 2 and fault[2] == "shop.py" and fault[5].startswith("ZeroDivisionError")


def test_calls_of_other_services_are_told_without_query_and_user(folder):
    with serve(folder) as other, serve(folder, OTHER=str(other.port)) as service:
        other.wait("/seen")
        service.wait("/seen")
        driver = service.driver()
        driver.candidate()
        service.call("GET", "/call")
        (called,) = [fields for kind, fields in driver.sync() if kind == "Called"]
        assert called[1] == "http://127.0.0.1:%d/pid" % other.port


@needs("httpx", "aiohttp", "requests")
def test_httpx_aiohttp_and_requests_are_seen(tmp_path):
    (tmp_path / "shop.py").write_text('''
import asyncio
import os

import aiohttp
import httpx
import requests


def app(environ, start_response):
    asyncio.run(work("http://127.0.0.1:%s" % os.environ["OTHER"]))
    start_response("200 OK", [])
    return [b"done"]


async def work(url):
    for call in (httpx.get, requests.get):
        try:
            call(url.replace("//", "//user:secret@") + "/" + call.__module__.split(".")[0])
        except Exception:
            pass
    async with aiohttp.ClientSession() as session:
        try:
            await session.get(url + "/aiohttp")
        except aiohttp.ClientError:
            pass
    async with httpx.AsyncClient() as client:
        try:
            await client.get(url + "/async")
        except httpx.HTTPError:
            pass
''')
    nobody = free_port()
    with serve(tmp_path, OTHER=str(nobody)) as service:
        service.wait("/")
        driver = service.driver()
        driver.sync()
        driver.candidate()
        assert service.call("GET", "/") == (200, "done")
        called = [fields[1] for kind, fields in driver.sync() if kind == "Called"]
        assert called == ["http://127.0.0.1:%d/%s" % (nobody, name) for name in ("httpx", "requests", "aiohttp", "async")]


def test_tests_migrations_and_what_is_excluded_are_left_alone(folder):
    for name in ("tests/helper.py", "test_shop.py", "migrations/one.py", "pkg/part.py", "pkg/other.py", ".venv/lib/x.py", "env/lib/y.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("def f(n):\n    return n\n")
    (folder / "env" / "pyvenv.cfg").write_text("")
    (folder / "broken.py").write_text("def f(:\n")
    with serve(folder, ISOBATH_PYTHON_EXCLUDE="pkg.other") as service:
        service.wait("/seen")
        driver = service.driver()
        assert {one["file"] for one in driver.targets.values()} == {"shop.py", "pkg/part.py"}
        assert [one for one in driver.sync() if one[0] == "Unwatched" and one[1][0] == "broken.py"]


def test_installed_packages_can_be_included(folder):
    with serve(folder, ISOBATH_PYTHON_INCLUDE="wsgiref.util:json.*") as service:
        service.wait("/seen")
        files = {one["file"] for one in service.driver().targets.values()}
        assert {"shop.py", "wsgiref/util.py", "json/decoder.py"} <= files and "wsgiref/headers.py" not in files


def test_rewritten_code_is_kept_and_used_again(folder):
    cache = folder / "cache"
    texts = []
    for _ in range(2):
        with serve(folder, ISOBATH_PYTHON_CACHE=str(cache)) as service:
            service.wait("/seen")
            driver = service.driver()
            driver.candidate()
            service.call("GET", "/seen")
            texts.append(json.dumps([driver.targets, sorted(driver.covered_lines("shop.py"))], sort_keys=True))
    assert texts[0] == texts[1] and len(list(cache.iterdir())) == 1
    (kept,) = cache.iterdir()
    kept.write_bytes(b"broken")
    with serve(folder, ISOBATH_PYTHON_CACHE=str(cache)) as service:
        service.wait("/seen")
        assert service.driver().targets


def test_tests_bring_rows_to_a_service_without_a_core(folder):
    door = free_port()
    with serve(folder, driver=False, ISOBATH_DOOR="%d/secret" % door, PYTHONPATH=_site()) as service:
        service.wait("/seen")
        rows = Rows(door)
        assert rows.post("/secret", "INSERT INTO items (name) VALUES ('x'); SELECT id, name FROM items") == (200, "1|first\n2|x\n")
        assert service.call("GET", "/count") == (200, "2")
        assert rows.post("/wrong", "SELECT 1")[0] == 403
        assert rows.post("/secret", "SELECT * FROM missing")[0] == 422


def _site():
    from conftest import DRIVER

    return os.pathsep.join([os.path.join(DRIVER, "site"), DRIVER])


class Rows:
    """Where rows are brought."""

    def __init__(self, port):
        self.port = port

    post = lambda self, path, text: Service.call(self, "POST", path, text)  # noqa: E731


def test_the_hidden_sitecustomize_runs(folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import os\nos.environ['HIDDEN'] = 'ran'\n")
    (folder / "shop.py").write_text(APP.replace('"200 OK", str(len(SEEN))', '"200 OK", os.environ["HIDDEN"]'))
    with serve(folder, PYTHONPATH=_site() + os.pathsep + str(other)) as service:
        service.wait("/seen")
        assert service.call("GET", "/seen") == (200, "ran")


def test_a_core_that_goes_away_leaves_the_service_running(folder):
    with serve(folder) as service:
        service.wait("/seen")
        service.driver().stream.shutdown(2)
        service.core.listener.close()
        time.sleep(0.2)
        assert service.call("GET", "/count") == (200, "1")
        assert service.call("GET", "/fail")[0] == 500


def test_without_a_core_nothing_is_said_and_the_service_runs(folder):
    with serve(folder, ISOBATH_SOCKET=str(folder / "nobody")) as service:
        assert service.wait("/count") == (200, "1")
        assert "no connection to the core" in service.said()


def test_a_process_that_the_service_forks_is_silent(folder):
    with serve(folder) as service:
        service.wait("/seen")
        driver = service.driver()
        driver.candidate()
        assert service.call("GET", "/fork") == (200, "forked")
        assert driver.sync() == []
        assert service.call("GET", "/thread") == (200, "started")
        assert [kind for kind, _ in driver.sync()] == ["Panicked"]
        assert len(service.core.connections) == 1


def test_a_core_on_the_loopback_interface_gets_its_token_first(folder):
    core = Core(token="abc123")
    address = "127.0.0.1:%d" % core.listener.getsockname()[1]
    with serve(folder, ISOBATH_SOCKET="", ISOBATH_ADDRESS=address, ISOBATH_TOKEN="abc123") as service:
        service.wait("/seen")
        driver = core.driver()
        driver.candidate()
        assert service.call("GET", "/count") == (200, "1")
        assert driver.score(driver.find('path == "/count"')) == 1.0
    core.close()


@needs("werkzeug")
def test_the_end_of_a_response_without_a_length_does_not_need_the_end_of_the_connection(tmp_path):
    (tmp_path / "main.py").write_text(APP)
    port = free_port()
    command = python("-m", "isobath_driver", "serve", "main:app", "--port", str(port))
    with Service(command, tmp_path, port) as service:
        service.wait("/seen")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/seen")
        response = connection.getresponse()
        assert response.getheader("Transfer-Encoding") == "chunked"
        assert response.read() == b"2"
        connection.close()


WARM_UP = '''
import sys
from isobath_driver import serve

async def asgi(scope, receive, send): pass
def wsgi(environ, start_response): pass

if sys.argv[1] == "django":
    import django.conf
    django.conf.settings.configure(ROOT_URLCONF="views")
    import django.urls
    import types
    looked = []
    class Urls(types.ModuleType):
        @property
        def urlpatterns(self):
            looked.append(1)
            return []
    sys.modules["views"] = Urls("views")
    serve.warm_up(wsgi)
    assert looked
else:
    serve.warm_up({"asgi": asgi, "wsgi": wsgi}[sys.argv[1]])
    found = [name for name in sys.modules if name in sys.argv[2:]]
    assert found, "none of %s was imported" % sys.argv[2:]
'''


@needs("uvicorn", "werkzeug", "django")
@pytest.mark.parametrize(
    "words",
    [
        ["asgi", "uvicorn.protocols.http.h11_impl", "uvicorn.protocols.http.httptools_impl"],
        ["wsgi", "werkzeug.serving"],
        ["django"],
    ],
    ids=lambda words: words[0],
)
def test_what_serves_is_imported_before_processes_are_forked(words):
    done = subprocess.run(python("-c", WARM_UP, *words), env={**os.environ, "PYTHONPATH": DRIVER}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
