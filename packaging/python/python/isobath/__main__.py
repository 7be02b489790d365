"""``python -m isobath``: runs the program that the wheel installed."""

import os
import shutil
import subprocess
import sys
import sysconfig


def program() -> str:
    """The path of the program: beside this interpreter, or on the path."""
    name = "isobath" + (sysconfig.get_config_var("EXE") or "")
    beside = os.path.join(sysconfig.get_path("scripts"), name)
    found = beside if os.path.isfile(beside) else shutil.which(name)
    if found is None:
        raise SystemExit(f"isobath: cannot find {beside}; install the package again")
    return found


if __name__ == "__main__":
    sys.exit(subprocess.call([program(), *sys.argv[1:]]))
