"""What the core wants, by the environment."""

import os


class Settings:
    """Read once, when the driver starts."""

    def __init__(self, environment):
        self.socket = environment.get("ISOBATH_SOCKET") or None
        self.address = environment.get("ISOBATH_ADDRESS") or None
        self.token = environment.get("ISOBATH_TOKEN", "")
        self.methods = environment.get("ISOBATH_METHODS") != "off"
        self.tracking = environment.get("ISOBATH_TRACKING") != "off"
        port, _, self.door_token = environment.get("ISOBATH_DOOR", "").partition("/")
        self.door = int(port) if port.isdigit() else 0
        root = environment.get("ISOBATH_PYTHON_ROOT") or os.curdir
        self.root = os.path.realpath(root)
        self.include = _patterns(environment.get("ISOBATH_PYTHON_INCLUDE"))
        self.exclude = _patterns(environment.get("ISOBATH_PYTHON_EXCLUDE"))
        self.cache = environment.get("ISOBATH_PYTHON_CACHE") or None

    @property
    def has_core(self):
        return bool(self.socket or self.address)


def _patterns(text):
    return [one.strip() for one in (text or "").split(os.pathsep) if one.strip()]
