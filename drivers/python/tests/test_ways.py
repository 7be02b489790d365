"""Every usual way to start a service: the process that serves connects, scores and an uncaught exception arrive."""

import os
import shutil
import sys

import pytest

from conftest import HERE, needs
from service import Service, free_port, python

SERVICES = os.path.join(HERE, "services")
BIN = os.path.dirname(sys.executable)


def tool(name, *arguments):
    return [os.path.join(BIN, name)] + list(arguments)


def without(package, *arguments):
    """Serves in an environment that lacks a package."""
    work = "import sys; sys.modules[%r] = None; from isobath_driver.serve import main; sys.exit(main(%r))"
    return python("-c", work % (package, ["serve"] + list(arguments)))


WAYS = {
    "uvicorn": ("asgi", "main.py", ["uvicorn", "fastapi"], lambda p: tool("uvicorn", "main:app", "--port", p)),
    "python -m uvicorn": ("asgi", "main.py", ["uvicorn", "fastapi"], lambda p: python("-m", "uvicorn", "main:app", "--port", p)),
    "uvicorn --reload": ("asgi", "main.py", ["uvicorn", "fastapi"], lambda p: tool("uvicorn", "main:app", "--port", p, "--reload")),
    "uvicorn --workers": ("asgi", "main.py", ["uvicorn", "fastapi"], lambda p: tool("uvicorn", "main:app", "--port", p, "--workers", "2")),
    "python main.py": ("asgi", "main.py", ["uvicorn", "fastapi"], lambda p: python("main.py", p)),
    "hypercorn": ("asgi", "main.py", ["hypercorn", "fastapi"], lambda p: tool("hypercorn", "main:app", "-b", "127.0.0.1:" + p)),
    "gunicorn with uvicorn's worker": ("asgi", "main.py", ["gunicorn", "uvicorn", "fastapi"],
        lambda p: tool("gunicorn", "main:app", "-k", "uvicorn.workers.UvicornWorker", "-b", "127.0.0.1:" + p)),
    "gunicorn": ("wsgi", "main.py", ["gunicorn", "flask"], lambda p: tool("gunicorn", "main:app", "-b", "127.0.0.1:" + p)),
    "gunicorn --threads": ("wsgi", "main.py", ["gunicorn", "flask"], lambda p: tool("gunicorn", "main:app", "--threads", "4", "-b", "127.0.0.1:" + p)),
    "gunicorn --preload": ("wsgi", "main.py", ["gunicorn", "flask"], lambda p: tool("gunicorn", "main:app", "--preload", "-b", "127.0.0.1:" + p)),
    "flask run": ("wsgi", "main.py", ["flask"], lambda p: tool("flask", "--app", "main", "run", "--port", p)),
    "flask run --debug": ("wsgi", "main.py", ["flask"], lambda p: tool("flask", "--app", "main", "--debug", "run", "--port", p)),
    "python flask main.py": ("wsgi", "main.py", ["flask"], lambda p: python("main.py", p)),
    "runserver": ("django_site", "site_urls.py", ["django"], lambda p: python("manage.py", "runserver", "127.0.0.1:" + p)),
    "runserver --noreload": ("django_site", "site_urls.py", ["django"], lambda p: python("manage.py", "runserver", "--noreload", "127.0.0.1:" + p)),
    "django in uvicorn": ("django_site", "site_urls.py", ["django", "uvicorn"], lambda p: tool("uvicorn", "site_asgi:asgi", "--port", p, "--lifespan", "off")),
    "django in gunicorn": ("django_site", "site_urls.py", ["django", "gunicorn"], lambda p: tool("gunicorn", "site_asgi:wsgi", "-b", "127.0.0.1:" + p)),
    "serve fastapi": ("asgi", "main.py", ["fastapi", "uvicorn"], lambda p: python("-m", "isobath_driver", "serve", "main:app", "--port", p)),
    "serve a factory": ("asgi", "main.py", ["fastapi", "uvicorn"], lambda p: python("-m", "isobath_driver", "serve", "main:create()", "--port", p)),
    "serve flask": ("wsgi", "main.py", ["flask"], lambda p: python("-m", "isobath_driver", "serve", "main:app", "--port", p)),
    "serve django": ("django_site", "site_urls.py", ["django"], lambda p: python("-m", "isobath_driver", "serve", "site_asgi:wsgi", "--port", p)),
    "serve by hypercorn": ("asgi", "main.py", ["fastapi", "hypercorn"], lambda p: without("uvicorn", "main:app", "--port", p)),
    "serve by wsgiref": ("django_site", "site_urls.py", ["django"], lambda p: without("werkzeug", "site_asgi:wsgi", "--port", p)),
    "serve without fork": ("asgi", "main.py", ["fastapi", "uvicorn"], lambda p: python("-m", "isobath_driver", "serve", "main:app", "--port", p, "--no-fork")),
}  # fmt: skip


def cases():
    return [pytest.param(name, marks=needs(*WAYS[name][2])) for name in WAYS]


@pytest.mark.parametrize("name", cases())
def test_scores_and_faults_arrive(name, tmp_path):
    folder, file, _, command = WAYS[name]
    shutil.copytree(os.path.join(SERVICES, folder), tmp_path / "service", ignore=shutil.ignore_patterns("__pycache__"))
    port = free_port()
    with Service(command(str(port)), tmp_path / "service", port) as service:
        assert service.wait()[0] == 200
        driver = service.driver()
        assert driver.hello[1] == "python"
        condition = driver.find("n == 4711")

        def gap(n):
            driver.candidate()
            assert service.call("GET", "/lock/%d" % n)[0] == 200
            return 0.999 / driver.score(condition) - 1

        # Of two workers another one may answer.
        if "workers" not in name:
            assert gap(4700) == pytest.approx(11)
            assert gap(4710) == pytest.approx(1)
            assert driver.score(condition + 1) == 1.0
            driver.candidate()
            driver.action(3)
            status, _ = service.call("GET", "/fail")
            assert status == 500
            events = [fields for kind, fields in driver.sync() if kind == "Panicked"]
            assert len(events) == 1, service.said()
            action, _, where, line, column, message, stack = events[0]
            assert (action, where) == (3, file)
            with open(os.path.join(SERVICES, folder, file)) as opened:
                text = opened.read().splitlines()[line - 1]
            assert '{}["missing"]' in text
            assert message == "KeyError: 'missing'"
            assert "isobath" not in stack
        assert not [problem for problem in service.core.problems], service.core.problems
