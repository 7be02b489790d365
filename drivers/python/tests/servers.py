"""Database servers of our own, on loopback, in folders of their own."""

import glob
import os
import shutil
import subprocess
import tempfile
import time

import pytest

from service import free_port


def _binary(name, *folders):
    found = shutil.which(name)
    for folder in folders:
        found = found or next(iter(sorted(glob.glob(os.path.join(folder, name)), reverse=True)), None)
    if found is None:
        if os.environ.get("ISOBATH_REQUIRE_SERVERS"):
            pytest.fail("%s is not installed" % name)
        pytest.skip("%s is not installed" % name)
    return found


def _run_as(user):
    """Servers refuse to run as root."""
    return {"user": user, "group": user, "extra_groups": []} if os.getuid() == 0 else {}


def postgres():
    """Starts PostgreSQL; gives the process and the address of a database."""
    places = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
    initdb, server = _binary("initdb", *places), _binary("postgres", *places)
    owner = _run_as("postgres")
    # Folders of pytest are closed to the user that the server runs as.
    folder = tempfile.mkdtemp(prefix="isobath")
    os.chmod(folder, 0o777)
    data = os.path.join(folder, "data")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    subprocess.run([initdb, "-D", data, "-U", "tester", "-A", "trust", "--no-sync"], check=True, **quiet, **owner)
    port = free_port()
    options = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "unix_socket_directories="]
    process = subprocess.Popen([server, "-D", data, "-p", str(port)] + options, **quiet, **owner)
    return process, folder, {"host": "127.0.0.1", "port": port, "user": "tester", "database": "postgres"}


def mariadb():
    """Starts MariaDB; gives the process and the address of a database."""
    install = _binary("mariadb-install-db", "/usr/bin")
    server = _binary("mariadbd", "/usr/sbin")
    owner = _run_as("mysql")
    # Folders of pytest are closed to the user that the server runs as.
    folder = tempfile.mkdtemp(prefix="isobath")
    os.chmod(folder, 0o777)
    data = os.path.join(folder, "data")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    arguments = ["--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal"]
    subprocess.run([install] + arguments, check=True, **quiet, **owner)
    port = free_port()
    options = ["--no-defaults", "--datadir=" + data, "--port=%d" % port, "--bind-address=127.0.0.1", "--skip-name-resolve"]
    socket = "--socket=" + os.path.join(folder, "socket")
    process = subprocess.Popen([server] + options + [socket], **quiet, **owner)
    return process, folder, {"host": "127.0.0.1", "port": port, "user": "root", "database": "test"}


def wait_for(connect, seconds=60):
    """The first connection that works."""
    end = time.monotonic() + seconds
    while True:
        try:
            return connect()
        except Exception:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
