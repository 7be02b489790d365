"""Rewriting changes nothing that a service can see: each rule of rewriting, plain and rewritten."""

import ast
import builtins
import inspect
import os
import sys
import types

import pytest

from isobath_driver import link, probe, rewrite
from isobath_driver.cells import Cells

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(HERE, "torture.py")


def source():
    with open(PATH) as file:
        text = file.read()
    for one in ast.parse(text).body:
        name = one.targets[0].id if isinstance(one, ast.Assign) else ""
        if name.startswith("PYTHON_3") and sys.version_info >= (3, int(name[len("PYTHON_3") :])):
            text += one.value.value
    return text


def load(name, text, tree):
    module = types.ModuleType(name)
    module.__file__ = PATH
    sys.modules[name] = module
    exec(compile(tree, PATH, "exec", dont_inherit=True), module.__dict__)
    return module


@pytest.fixture(scope="module")
def modules():
    text = source()
    plain = load("torture", text, ast.parse(text, PATH))
    rewriter = rewrite.Rewriter(text, "torture", "torture.py", 0, {"Color"})
    tree = rewriter.rewrite(ast.parse(text, PATH))
    for name, value in probe.NAMES.items():
        setattr(builtins, "_ib_" + name, value)
    probe.reserve(len(rewriter.targets))
    sys.modules.pop("torture")
    rewritten = load("torture", text, tree)
    cells = Cells.alone(len(rewriter.targets))
    _, far = link.alone(cells)
    yield plain, rewritten, rewriter, cells
    probe.stop()
    link.current = None
    far.close()


def names():
    text = source()
    tree = ast.parse(text)
    return [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]


def plainly(value):
    """What a result shows, without the identities of modules."""
    return repr(value)


@pytest.mark.parametrize("is_recording", [False, True], ids=["before-the-core", "recording"])
@pytest.mark.parametrize("name", names())
def test_the_result_is_the_same(modules, name, is_recording):
    plain, rewritten, _, cells = modules
    if is_recording:
        probe.start(cells)
    else:
        probe.stop()
    sys.modules["torture"] = plain
    wanted = plainly(getattr(plain, name)())
    sys.modules["torture"] = rewritten
    # The second time sites are done, and take another way.
    for _ in range(3):
        assert plainly(getattr(rewritten, name)()) == wanted


def test_every_statement_of_a_function_has_a_target(modules):
    _, rewritten, rewriter, cells = modules
    probe.start(cells)
    rewritten.try_forms()
    wanted = inspect.getsourcelines(rewritten.try_forms)
    lines = {one.line for one in rewriter.targets if one.function == "try_forms" and one.kind == 1}
    code = {wanted[1] + at for at, line in enumerate(wanted[0]) if line.strip() and not line.strip().startswith(
        ("def ", "else", "finally", "except", "try_forms"))}  # fmt: skip
    assert lines == code
    assert all(cells.cell(one.id) for one in rewriter.targets if one.function == "try_forms" and one.kind == 1)


def test_names_of_modules_are_not_polluted(modules):
    plain, rewritten, _, _ = modules
    assert sorted(vars(plain)) == sorted(vars(rewritten))
