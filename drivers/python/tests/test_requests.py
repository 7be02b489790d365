"""What a service asks of requests: tracked inputs, names of parameters, bodies. The same for all frameworks."""

import json
import os
import shutil
import time

import pytest

from conftest import HERE, needs
from isobath_driver import track
from service import Service, free_port, python

SERVICES = os.path.join(HERE, "services")
MARKER = "_isobath_7_input"
APPS = {"asgi": ("main:app", ["fastapi", "uvicorn", "multipart"]), "wsgi": ("main:app", ["flask"]), "django_site": ("site_asgi:wsgi", ["django"])}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=needs(*APPS[name][1])) for name in APPS])
def service(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service") / "app"
    shutil.copytree(os.path.join(SERVICES, request.param), folder, ignore=shutil.ignore_patterns("__pycache__"))
    port = free_port()
    command = python("-m", "isobath_driver", "serve", APPS[request.param][0], "--port", str(port))
    with Service(command, folder, port) as started:
        started.wait()
        yield started


def events(service, kind, method, path, body=None, headers=None):
    driver = service.driver()
    driver.candidate()
    status, text = service.call(method, path, body, headers)
    return status, [fields for name, fields in driver.sync() if name == kind]


def test_a_header_that_no_document_names_is_told_once(service):
    status, told = events(service, "Parameter", "GET", "/lock/1")
    assert status == 200
    assert [0, track.HEADER, "x-secret"] in told
    assert len(told) == len({tuple(one) for one in told})
    # What the framework reads for itself says nothing about the service.
    assert {name for _, place, name in told if place == track.HEADER} <= {"x-secret", "x-other"}


def test_a_marked_header_is_tracked_into_the_comparison(service):
    status, told = events(service, "Tracked", "GET", "/lock/1", headers={"X-Secret": MARKER})
    assert status == 200
    driver = service.driver()
    assert [one[1:4] for one in told] == [[MARKER, track.EQUAL, ["sesame"]]]
    assert driver.targets[told[0][4]]["text"].startswith("request.headers.get(")


def test_fields_of_a_body_are_told_with_their_way(service):
    status, told = events(service, "Parameter", "POST", "/things", {"name": "gold", "amount": {}})
    assert status == 500
    names = {name for _, place, name in told if place == track.FIELD}
    assert {"name", "amount", "amount/grams"} <= names


def test_query_and_cookies_are_told(service):
    status, told = events(service, "Parameter", "POST", "/things", {})
    assert status == 200
    assert [0, track.COOKIE, "token"] in told
    assert [0, track.QUERY, "debug"] in told


def test_forms_are_told(service):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    status, told = events(service, "Parameter", "POST", "/form", "color=red", headers)
    assert status == 200
    assert [0, track.FORM, "color"] in told


def test_an_expected_exception_is_no_fault(service):
    status, told = events(service, "Panicked", "GET", "/lock/404")
    assert told == []
    status, told = events(service, "Panicked", "GET", "/nothing")
    assert (status, told) == (404, [])


def test_values_that_the_core_names_are_tracked(service):
    driver = service.driver()
    driver.track("3156-42-77")
    status, told = events(service, "Tracked", "GET", "/lock/1", headers={"X-Secret": "3156-42-77"})
    assert [one[1] for one in told] == ["3156-42-77"]
    driver.track()


def test_a_reset_restores_the_state_after_the_import_on_the_same_connection(service):
    driver = service.driver()
    count = len(service.core.connections)
    service.call("GET", "/")
    before = service.call("GET", "/")
    assert json.loads(before[1])["calls"] > 1
    assert driver.reset() == (None, [])
    assert json.loads(service.call("GET", "/")[1]) == {"calls": 1}
    driver.candidate()
    assert json.loads(service.call("GET", "/lock/4711")[1]) == {"open": True}
    assert driver.score(driver.find("n == 4711")) == 1.0
    assert len(service.core.connections) == count


def test_exceptions_of_background_tasks_are_faults_of_their_action(service):
    driver = service.driver()
    status, told = events(service, "Panicked", "GET", "/later")
    if status == 404:
        return  # Only Starlette has background tasks.
    assert status == 200
    end = time.monotonic() + 10
    while not told and time.monotonic() < end:
        told = [fields for name, fields in driver.sync() if name == "Panicked"]
    assert [(fault[2], fault[5]) for fault in told] == [("main.py", told[0][5])]
    assert told[0][5].startswith("ZeroDivisionError")
