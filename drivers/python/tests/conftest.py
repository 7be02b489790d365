"""Shared by all tests: the driver's folder, and packages that may be missing."""

import importlib.util
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVER = os.path.dirname(HERE)
sys.path.insert(0, DRIVER)
sys.path.insert(0, HERE)


def needs(*packages):
    """Skips a test with a reason when a package is missing, unless servers are required."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing and os.environ.get("ISOBATH_REQUIRE_SERVERS"):
        pytest.fail("not installed: %s" % ", ".join(missing))
    return pytest.mark.skipif(bool(missing), reason="not installed: %s" % ", ".join(missing))
