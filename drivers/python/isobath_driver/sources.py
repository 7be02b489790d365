"""The source files of the service, and their targets.

All files are numbered in the sorted order of their relative paths before the first of them is imported, so a process that is forked
or started again has the same numbers.
"""

import ast
import fnmatch
import functools
import hashlib
import importlib.util
import marshal
import os
import re
import sys
from importlib.machinery import PathFinder

from . import arms, calls, rewrite
from .target import Target

MOST_FILES = 20_000
_SKIPPED_FOLDERS = {"tests", "test", "migrations", "node_modules", "__pycache__", "site-packages", "dist-packages", "alembic"}
_SKIPPED_FILES = re.compile(r"^(test_.*|.*_test|tests|conftest|setup)\.py$")
_ENUM = re.compile(r"^\s*class\s+(\w+)\s*\([^)]*(?:Enum|Flag|Choices)\b[^)]*\)\s*:", re.MULTILINE)
_HERE = os.path.dirname(os.path.abspath(__file__))


class Module:
    """One file with its targets and its rewritten code."""

    __slots__ = ("path", "file", "unit", "targets", "late", "code")

    def __init__(self, path, file, unit, targets, late, code):
        self.path = path
        self.file = file
        self.unit = unit
        self.targets = targets
        self.late = late
        self.code = code


class Sources:
    """Finds, numbers and rewrites the files."""

    def __init__(self, settings, planned=None):
        self.settings = settings
        #: Told how many targets there are, before any of the files is imported.
        self.on_planned = planned
        self.modules = {}
        self.targets = []
        self.late = set()
        self.unwatched = []
        self.planned = False

    def may_hold(self, path):
        """Whether a file may be one of the service, without looking at any other file."""
        return path.startswith(self.settings.root + os.sep) or bool(self.settings.include)

    def module(self, path):
        """The module in a file; none when it is not of the service."""
        path = os.path.realpath(path)
        if not self.planned and self.may_hold(path):
            self.plan()
        return self.modules.get(path)

    def plan(self):
        """Numbers all targets."""
        self.planned = True
        read = []
        for file, (path, unit) in sorted(self.files().items()):
            try:
                with open(path, "rb") as opened:
                    data = opened.read()
                read.append((path, file, unit, data, importlib.util.decode_source(data)))
            except (OSError, SyntaxError, ValueError) as problem:
                self.unwatched.append((file, str(problem)))
        enums = frozenset(name for *_, source in read for name in _ENUM.findall(source))
        for path, file, unit, data, source in read:
            try:
                module = self.rewritten(path, file, unit, data, source, enums)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
                self.unwatched.append((file, "%s: %s" % (type(problem).__name__, problem)))
                continue
            self.modules[path] = module
            self.targets += module.targets
            self.late |= module.late
        if self.on_planned is not None:
            self.on_planned(len(self.targets))

    def rewritten(self, path, file, unit, data, source, enums):
        first = len(self.targets)
        kept = self.kept(path, file, unit, data, first, enums)
        if kept is not None and os.path.exists(kept):
            try:
                with open(kept, "rb") as opened:
                    targets, late, code = marshal.loads(opened.read())
                return Module(path, file, unit, [Target(*one) for one in targets], set(late), code)
            except (OSError, ValueError, EOFError, TypeError):
                pass
        rewriter = rewrite.Rewriter(source, unit, file, first, enums)
        tree = rewriter.rewrite(ast.parse(data, path))
        code = compile(tree, path, "exec", dont_inherit=True)
        if kept is not None:
            self.keep(kept, rewriter, code)
        return Module(path, file, unit, rewriter.targets, rewriter.late, code)

    def kept(self, path, file, unit, data, first, enums):
        """Where rewritten code is kept: a name that changes with everything that it depends on."""
        if not self.settings.cache:
            return None
        digest = hashlib.sha256(data)
        parts = (path, file, unit, first, sys.version, sys.flags.optimize, sorted(enums), _release())
        digest.update(repr(parts).encode("utf-8", "replace"))
        return os.path.join(self.settings.cache, digest.hexdigest()[:40] + ".bin")

    def keep(self, kept, rewriter, code):
        targets = [
            (one.id, one.kind, one.unit, one.file, one.line, one.column, one.function, one.text)
            for one in rewriter.targets
        ]
        draft = "%s.%d" % (kept, os.getpid())
        try:
            os.makedirs(self.settings.cache, exist_ok=True)
            with open(draft, "wb") as opened:
                opened.write(marshal.dumps((targets, sorted(rewriter.late), code)))
            os.replace(draft, kept)
        except OSError:
            # A cache that cannot be written only costs time.
            pass

    def files(self):
        """The files by their names in reports, with their paths and modules."""
        found = {}
        for path in _walk(self.settings.root, skip=True):
            self.add(found, path, self.settings.root)
        for pattern in self.settings.include:
            top = re.split(r"[.*?\[]", pattern, maxsplit=1)[0]
            for path, parent in _installed(top):
                if _matches(_unit(os.path.relpath(path, parent)), [pattern]):
                    self.add(found, path, parent)
        return found

    def add(self, found, path, parent):
        if len(found) >= MOST_FILES:
            return
        file = os.path.relpath(path, parent)
        unit = _unit(file)
        real = os.path.realpath(path)
        if _matches(unit, self.settings.exclude) or real.startswith(_HERE + os.sep):
            return
        if any(real == other for other, _ in found.values()) if os.path.islink(path) else False:
            return
        found.setdefault(file.replace(os.sep, "/"), (real, unit))


def _installed(top):
    """The files of a top-level module, wherever it is installed, with the folder that it is in."""
    spec = None
    try:
        spec = PathFinder.find_spec(top) if top else None
    except (ImportError, ValueError):
        pass
    if spec is None:
        return []
    if spec.submodule_search_locations:
        folders = list(spec.submodule_search_locations)
        return [(path, os.path.dirname(folder)) for folder in folders for path in _walk(folder, skip=False)]
    return [(spec.origin, os.path.dirname(spec.origin))] if spec.origin and spec.origin.endswith(".py") else []


def _walk(root, skip):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if _is_entered(folder, name, skip))
        for name in sorted(files):
            if name.endswith(".py") and not (skip and _SKIPPED_FILES.match(name)):
                yield os.path.join(folder, name)


def _is_entered(folder, name, skip):
    if name.startswith(".") or name == "__pycache__":
        return False
    if not skip:
        return True
    return name not in _SKIPPED_FOLDERS and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))


def _unit(file):
    """The module in a file, as its path says."""
    name = file[: -len(".py")].replace(os.sep, ".")
    return name[: -len(".__init__")] if name.endswith(".__init__") else name


def _matches(unit, patterns):
    for pattern in patterns:
        if fnmatch.fnmatchcase(unit, pattern) or unit.startswith(pattern + "."):
            return True
    return False


@functools.lru_cache(maxsize=None)
def _release():
    """Changes whenever the rules of rewriting do."""
    digest = hashlib.sha256()
    for module in (rewrite, calls, arms):
        with open(module.__file__, "rb") as opened:
            digest.update(opened.read())
    return digest.hexdigest()
