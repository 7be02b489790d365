"""Runs generated suites with the rest of a project's tests.

``pytest --isobath`` also collects the suites below ``isobath-out`` (or ``--isobath=DIR``), and
``--isobath-url URL`` runs them against a service that is already up instead of starting one.
"""

import os
import pathlib

DEFAULT = "isobath-out"


def pytest_addoption(parser):
    group = parser.getgroup("isobath", "suites that Isobath generated")
    group.addoption(
        "--isobath",
        nargs="?",
        const=DEFAULT,
        metavar="DIR",
        help=f"also run the generated suites below DIR [default: {DEFAULT}]",
    )
    group.addoption(
        "--isobath-url",
        metavar="URL",
        help="run generated suites against the service at URL",
    )


def suites(folder):
    """The pytest suites that runs left below a folder."""
    return sorted(path for path in pathlib.Path(folder).rglob("pytest/test_*.py") if path.is_file())


def pytest_configure(config):
    url = config.getoption("--isobath-url")
    if url:
        # Suites read it when they are imported.
        os.environ["ISOBATH_BASE_URL"] = url
    folder = config.getoption("--isobath")
    if folder:
        found = suites(config.invocation_params.dir / folder)
        config.args.extend(str(path) for path in found)


def pytest_report_header(config):
    folder = config.getoption("--isobath")
    if folder:
        count = len(suites(config.invocation_params.dir / folder))
        return f"isobath: {count} generated suite files below {folder}"
    return None
