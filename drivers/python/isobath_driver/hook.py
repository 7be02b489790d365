"""Import hooks: modules of the service are rewritten, libraries that are known are patched once they are loaded.

`python app.py` does not import the script. But the interpreter asks the path hooks whether the script is a package, and one that
accepts exactly that file gets to serve `__main__`.
"""

import builtins
import importlib.abc
import importlib.machinery
import os
import sys

from . import hidden


class Loader(importlib.machinery.SourceFileLoader):
    """Loads the rewritten module. Neither reads nor writes `.pyc` files: one that is there is the plain program."""

    def __init__(self, fullname, path, module):
        super().__init__(fullname, path)
        self._module = module

    def get_code(self, fullname):
        return self._module.code


class Finder(importlib.abc.MetaPathFinder):
    """Asks the other finders, and changes what they found."""

    def __init__(self, sources, patches):
        self.sources = sources
        self.patches = patches

    def find_spec(self, fullname, path=None, target=None):
        spec = None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(fullname, path, target)
            if spec is not None:
                break
        if spec is None:
            return None
        if fullname in self.patches:
            self._patch_after(spec, fullname)
        elif type(spec.loader) is importlib.machinery.SourceFileLoader and spec.origin:
            module = self.sources.module(spec.origin) if self.sources is not None else None
            if module is not None:
                spec.loader = Loader(fullname, spec.loader.path, module)
        return spec

    def _patch_after(self, spec, fullname):
        loader = spec.loader
        execute = getattr(loader, "exec_module", None)
        if execute is None or not hasattr(loader, "__dict__") or isinstance(loader, type):
            return

        def exec_module(module):
            del loader.exec_module
            execute(module)
            self.patches.apply(fullname, module)

        loader.exec_module = exec_module


class ScriptFinder:
    """Serves `__main__` from a script."""

    def __init__(self, path, module):
        self.path = path
        self.module = module

    def find_spec(self, fullname, target=None):
        if fullname != "__main__":
            return None
        loader = ScriptLoader(fullname, self.path, self.module)
        return importlib.machinery.ModuleSpec("__main__", loader, origin=self.path)


class ScriptLoader(Loader):
    """Makes `__main__` look as if the interpreter had run the file."""

    def get_code(self, fullname):
        folder = os.path.dirname(os.path.abspath(self.path))
        if sys.path and sys.path[0] == self.path:
            if getattr(sys.flags, "safe_path", False):
                del sys.path[0]
            else:
                sys.path[0] = folder
        # With a spec, Django's reloader would start `python -m __main__`.
        prologue = _PROLOGUE.format(path=os.path.abspath(self.path))
        builtins.__isobath_code__ = self._module.code
        return compile(prologue, hidden.NAME, "exec")


_PROLOGUE = """
__spec__ = __package__ = __cached__ = None
__file__ = {path!r}
__loader__ = __import__("importlib.machinery").machinery.SourceFileLoader("__main__", __file__)
exec(__import__("builtins").__dict__.pop("__isobath_code__"))
"""


def script_hook(sources):
    """The path hook that accepts the script of this process, and nothing else."""

    def accept(path):
        script = sys.argv[0] if sys.argv else ""
        if not script or os.path.abspath(path) != os.path.abspath(script) or not path.endswith(".py") or not os.path.isfile(path):
            raise ImportError
        module = sources.module(path)
        if module is None:
            raise ImportError
        return ScriptFinder(path, module)

    return accept
