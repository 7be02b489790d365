"""Runs generated suites with the rest of a project's tests.

``pytest --isobath`` also collects the suites below ``isobath-out`` (or ``--isobath=DIR``), and
``--isobath-url URL`` runs them against a service that is already up instead of starting one.
"""

import os
import pathlib
import sys

import pytest

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


class Suite(pytest.Module):
    """A generated suite. Suites of several runs have the same names, which Python would take for one module."""

    def _getobj(self):
        known = sys.modules.get(self.path.stem)
        if known is not None and getattr(known, "__file__", None) != str(self.path):
            del sys.modules[self.path.stem]
        return super()._getobj()


def pytest_pycollect_makemodule(module_path, parent):
    # A run writes its suite beside its report.
    if module_path.parent.name == "pytest" and (module_path.parent.parent / "report.json").is_file():
        return Suite.from_parent(parent, path=module_path)
    return None


def pytest_collection_modifyitems(items):
    # Before version 8, pytest takes files twice that lie below a folder it looks through anyway.
    seen = set()
    items[:] = [item for item in items if item.getparent(Suite) is None or not (item.nodeid in seen or seen.add(item.nodeid))]


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
