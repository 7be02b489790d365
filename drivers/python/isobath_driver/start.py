"""Starts the driver: installs the hooks; connects when the first request comes."""

import builtins
import os
import sys

from . import door, frame, frames, link, probe, track
from .hook import Finder, script_hook
from .patch import FOR_ROWS, Patches
from .request import CURRENT, Request
from .settings import Settings
from .sources import Sources

#: The one driver of this process, or none.
driver = None


class Driver:
    """What the link asks for, and what the patches tell."""

    def __init__(self, settings):
        self.settings = settings
        self.sources = Sources(settings, planned=probe.reserve) if settings.has_core else None
        self.candidate = -1
        #: Set by the zygote: hands the connection over to a new process.
        self.hand_over_to = None

    # Targets.

    def targets(self):
        if not self.sources.planned:
            self.sources.plan()
        late = self.sources.late
        return [target for target in self.sources.targets if target.id not in late]

    def cells(self):
        return len(self.sources.targets)

    def announce(self, number):
        """A late target is reached: the core hears of it and its other outcome."""
        connection = link.current
        if connection is not None:
            connection.queue.add(frame.targets([self.sources.targets[number]]))

    # Connection.

    def connected(self, connection):
        probe.reserve(self.cells())
        probe.start(connection.cells, self.settings.methods, self.sources.late, self.announce)
        track.allow(self.settings.tracking)
        for name, reason in self.sources.unwatched + patches.unwatched:
            connection.queue.add(frame.unwatched(name, reason))

    def disconnected(self):
        probe.stop()

    def forked(self):
        """In a process that was just forked: it is silent until it handles a request, and then connects anew."""
        if link.forked():
            probe.stop()

    def track(self, inputs):
        track.also(inputs)

    def settle(self):
        from .patch import statements

        statements.settle()

    def reset(self):
        from .patch import memory

        memory.reset()

    def hand_over(self, connection, request):
        return self.hand_over_to is not None and self.hand_over_to(connection, request)

    def run_sql(self, text):
        from .patch import memory

        return memory.run(text)

    def describe(self):
        from .patch import memory

        return memory.describe()

    # Requests.

    def begin(self, look, request):
        """A request begins; `look` gives the bytes that are known of it, or none. Returns what ends it."""
        if self.sources is None:
            return None
        connection = link.ensure(self)
        if connection is None:
            return None
        candidate = connection.candidate()
        action = connection.action()
        running = CURRENT.get()
        if running is not None and running.candidate == candidate and running.action == action:
            return None
        if candidate != self.candidate:
            # The core names the inputs to track before each candidate.
            connection.catch_up(self)
            door.open_once(self.settings)
            self.candidate = candidate
            track.turn(False)
            probe.new_candidate()
        if not track.is_on():
            raw = look(request)
            if raw is None or track.is_in(raw):
                track_inputs()
        return CURRENT.set(Request(candidate, action))


patches = None


def begin(look, request):
    """A request begins. What goes wrong here must never fail it."""
    try:
        return driver.begin(look, request) if driver is not None else None
    except Exception as problem:
        sys.stderr.write("isobath: %r\n" % (problem,))
        return None


def track_inputs():
    """The candidate has inputs to track."""
    if track.turn(True):
        probe.reopen()


def end(token):
    """A request ends."""
    if token is not None:
        try:
            CURRENT.reset(token)
        except (ValueError, RuntimeError):
            # Another context ends it than the one that began it.
            pass


def install(settings=None):
    """Installs the hooks of this process, once."""
    global driver, patches
    if driver is not None:
        return driver
    settings = settings or Settings(os.environ)
    patches = Patches(None if settings.has_core else FOR_ROWS)
    driver = Driver(settings)
    for name, value in probe.NAMES.items():
        setattr(builtins, "_ib_" + name, value)
    if driver.sources is not None:
        frames.watch(driver.sources.modules)
        sys.path_hooks.insert(0, script_hook(driver.sources))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=driver.forked)
        os.environ.setdefault("WEB_CONCURRENCY", "1")
    sys.meta_path.insert(0, Finder(driver.sources, patches))
    patches.apply_loaded()
    return driver
