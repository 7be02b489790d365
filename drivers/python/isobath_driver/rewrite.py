"""Rewrites the syntax tree of a module of the service, so that it calls the probes.

Only code in functions and lambdas is rewritten: module and class bodies run at import, and the names of a class body are looked up
in what a metaclass prepared. Decorators, annotations, defaults, base classes, type parameters and f-strings stay as they are.

`t` is the first target of a site: `t` is true (or: it succeeds), `t + 1` is false. Probes are found in `builtins` under names that
begin with `_ib_`, so modules are not polluted. Locations are copied, so lines, carets and `inspect.getsource` are those of the source.
"""

import ast
import copy

from . import target
from .calls import BOOLEAN_METHODS, FUNCTIONS, METHODS
from .arms import table_of

RELATIONS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Is: "is_",
    ast.IsNot: "is_not",
    ast.In: "in_",
    ast.NotIn: "not_in",
}
#: These give a bool whatever the operands are, so a condition needs no form of its own.
ALWAYS_BOOL = ("is_", "is_not", "in_", "not_in")
#: Functions that call one of these can see our temporaries.
LOOKS_AT_LOCALS = {"locals", "vars", "dir", "eval", "exec"}
FOLDING = {"lower", "upper", "casefold"}
#: `X[...]` of these is a type, not a look-up.
GENERICS = {"list", "dict", "tuple", "set", "frozenset", "type"}
LONGEST_TEXT = 80

_UNTOUCHED = tuple(
    getattr(ast, name) for name in ("JoinedStr", "TemplateStr", "TypeAlias", "Import", "ImportFrom") if hasattr(ast, name)
)


class Scope:
    """A function or lambda."""

    def __init__(self, name, temporaries):
        self.name = name
        self.temporaries = temporaries
        self.count = 0

    def temporary(self):
        """The name of a temporary that no other part of the function has."""
        self.count += 1
        return "_ib_%d" % self.count


class Rewriter(ast.NodeTransformer):
    """Rewrites one module; collects its targets."""

    def __init__(self, source, unit, file, first, enums=frozenset()):
        self.lines = source.splitlines()
        self.unit = unit
        self.file = file
        self.first = first
        self.enums = enums
        self.targets = []
        #: Sites whose operands turn out to be known only at run time.
        self.late = set()
        self.names = []
        self.scope = None
        self.comprehensions = 0

    def rewrite(self, tree):
        """The tree, changed in place."""
        self.visit(tree)
        return ast.fix_missing_locations(tree)

    # Targets.

    def add(self, kind, node, line=None):
        number = self.first + len(self.targets)
        line = line or node.lineno
        text = self.text(node, line)
        column = self.column(line, node.col_offset)
        function = ".".join(self.names)
        self.targets.append(target.Target(number, kind, self.unit, self.file, line, column, function, text))
        return number

    def pair(self, node, late=False, kinds=(target.TRUE, target.FALSE)):
        number = self.add(kinds[0], node)
        self.add(kinds[1], node)
        if late:
            self.late.update((number, number + 1))
        return number

    def column(self, line, offset):
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset + 1
        return len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "replace")) + 1

    def text(self, node, line):
        whole = self.lines[line - 1] if line <= len(self.lines) else ""
        data = whole.encode("utf-8", "replace")
        start = node.col_offset if line == node.lineno else len(data) - len(data.lstrip())
        end = node.end_col_offset if getattr(node, "end_lineno", None) == line else len(data)
        text = data[start:end].decode("utf-8", "replace").strip()
        return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"

    # Statements.

    def probe(self, statement, kind=target.STATEMENT):
        decorators = getattr(statement, "decorator_list", None)
        line = decorators[0].lineno if decorators else statement.lineno
        number = self.add(kind, statement, line)
        hit = ast.Expr(value=_call("hit", [_constant(number)]))
        found = ast.If(test=_item("open", number), body=[hit], orelse=[])
        found.lineno = found.end_lineno = line
        found.col_offset = found.end_col_offset = statement.col_offset
        return found

    def block(self, statements, docstring=False):
        result = []
        for at, statement in enumerate(statements):
            is_docstring = docstring and at == 0 and _is_text(statement)
            if self.scope and not is_docstring and not isinstance(statement, (ast.Global, ast.Nonlocal)):
                result.append(self.probe(statement))
            result.append(self.visit(statement))
        return result

    def visit(self, node):
        if isinstance(node, _UNTOUCHED):
            return node
        return super().visit(node)

    def generic_visit(self, node):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                if value and isinstance(value[0], ast.stmt):
                    setattr(node, name, self.block(value))
                else:
                    value[:] = [self.visit(one) if isinstance(one, ast.AST) else one for one in value]
            elif isinstance(value, ast.AST) and name != "annotation":
                setattr(node, name, self.visit(value))
        return node

    def visit_FunctionDef(self, node):
        outer = self.scope, self.comprehensions
        looks = any(isinstance(one, ast.Name) and one.id in LOOKS_AT_LOCALS for one in ast.walk(node))
        self.names.append(node.name)
        self.scope, self.comprehensions = Scope(node.name, not looks), 0
        node.body = self.block(node.body, docstring=True)
        self.names.pop()
        self.scope, self.comprehensions = outer
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        outer = self.scope
        # A temporary in a comprehension's iterable is refused, even in a lambda.
        looks = any(isinstance(one, ast.Name) and one.id in LOOKS_AT_LOCALS for one in ast.walk(node))
        self.names.append("<lambda>")
        self.scope = Scope("<lambda>", not looks and not self.comprehensions)
        node.body = self.visit(node.body)
        self.names.pop()
        self.scope = outer
        return node

    def visit_ClassDef(self, node):
        outer = self.scope, self.comprehensions
        self.names.append(node.name)
        self.scope = None
        node.body = self.block(node.body)
        self.names.pop()
        self.scope, self.comprehensions = outer
        return node

    def visit_ExceptHandler(self, node):
        node.body = self.block(node.body)
        return node

    def visit_If(self, node):
        if self.scope:
            node.test = self.condition(node.test)
        else:
            node.test = self.visit(node.test)
        node.body = self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    visit_While = visit_If

    def visit_Assert(self, node):
        node.test = self.condition(node.test) if self.scope else self.visit(node.test)
        if node.msg is not None:
            node.msg = self.visit(node.msg)
        return node

    def visit_Match(self, node):
        node.subject = self.visit(node.subject)
        arms = []
        for case in node.cases:
            if case.guard is not None:
                case.guard = self.condition(case.guard) if self.scope else self.visit(case.guard)
            if not self.scope:
                case.body = self.block(case.body)
                continue
            arm = self.probe(case.pattern, target.ARM)
            arm.lineno = arm.end_lineno = case.body[0].lineno
            arm.col_offset = arm.end_col_offset = case.body[0].col_offset
            arms.append((self.targets[-1].id, table_of(case.pattern)))
            case.body = [arm] + self.block(case.body)
        if arms:
            node.subject = self.at(node.subject, _call("arms", [node.subject, _constant(tuple(arms))]))
        return node

    # Conditions: only their truth is asked for.

    def condition(self, node):
        """An expression with the same truth, tested once."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.condition(value) for value in node.values]
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        if isinstance(node, ast.Compare):
            return self.compare(node, "_c")
        if isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id == "__debug__"):
            return node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in BOOLEAN_METHODS:
            return self.replaced(node, "wrap_truth", self.pair(node))
        number = self.pair(node)
        if _is_simple(node):
            tested = _call("truth", [node, _constant(number)])
            return self.at(node, ast.IfExp(test=_item("done", number), body=node, orelse=tested))
        return self.at(node, _call("truth", [self.visit(node), _constant(number)]))

    def visit_IfExp(self, node):
        node.test = self.condition(node.test) if self.scope else self.visit(node.test)
        node.body = self.visit(node.body)
        node.orelse = self.visit(node.orelse)
        return node

    def visit_comprehension(self, node):
        node.iter = self.visit(node.iter)
        test = self.condition if self.scope else self.visit
        node.ifs = [test(one) for one in node.ifs]
        return node

    def _visit_comprehension(self, node):
        self.comprehensions += 1
        self.generic_visit(node)
        self.comprehensions -= 1
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_UnaryOp(self, node):
        if self.scope and isinstance(node.op, ast.Not):
            node.operand = self.condition(node.operand)
            return node
        return self.generic_visit(node)

    # Values.

    def visit_Compare(self, node):
        return self.compare(node, "") if self.scope else self.generic_visit(node)

    def compare(self, node, form):
        if len(node.ops) > 1:
            return self.chain(node, form)
        left, right = node.left, node.comparators[0]
        name = RELATIONS[type(node.ops[0])]
        if name == "eq" and (_is_folding(left) or _is_folding(right)):
            name = "eq_fold"
        number = self.pair(node)
        if _is_cheap(left) and _is_cheap(right):
            # A comparison of which nothing is left to say is made as in the source.
            plain = ast.Compare(left=copy.deepcopy(left), ops=node.ops, comparators=[copy.deepcopy(right)])
            measured = self.relation(name, form, self.visit(left), self.visit(right), number)
            return self.at(node, ast.IfExp(test=_item("done", number), body=self.at(node, plain), orelse=measured))
        return self.at(node, self.relation(name, form, self.visit(left), self.visit(right), number))

    def relation(self, name, form, left, right, number):
        if name in ALWAYS_BOOL:
            form = ""
        return _call(name + form, [left, right, _constant(number)])

    def chain(self, node, form):
        later_are_simple = all(isinstance(one, (ast.Name, ast.Constant)) for one in node.comparators)
        if later_are_simple:
            number = self.pair(node)
            operands = ast.Tuple(elts=[self.visit(node.left)] + node.comparators, ctx=ast.Load())
            names = _constant(tuple(RELATIONS[type(op)] for op in node.ops))
            return self.at(node, _call("chain" + form, [operands, names, _constant(number)]))
        if not self.scope.temporaries or self.comprehensions:
            number = self.pair(node)
            whole = self.generic_visit(node)
            return self.at(node, _call("truth" if form else "outcome", [whole, _constant(number)]))
        parts = []
        left = self.visit(node.left)
        for op, operand in zip(node.ops, node.comparators):
            right = self.visit(operand)
            if operand is node.comparators[-1]:
                parts.append(self.at(node, self.relation(RELATIONS[type(op)], form, left, right, self.pair(node))))
                break
            name = self.scope.temporary()
            kept = ast.NamedExpr(target=ast.Name(id=name, ctx=ast.Store()), value=right)
            number = self.pair(node)
            parts.append(self.at(node, self.relation(RELATIONS[type(op)], form, left, self.at(operand, kept), number)))
            left = ast.Name(id=name, ctx=ast.Load())
        return self.at(node, ast.BoolOp(op=ast.And(), values=parts))

    def visit_BoolOp(self, node):
        if not self.scope:
            return self.generic_visit(node)
        is_or = isinstance(node.op, ast.Or)
        values = []
        for value in node.values[:-1]:
            if isinstance(value, (ast.Compare, ast.BoolOp, ast.Constant)) or _is_not(value):
                values.append(self.visit(value))
                continue
            number = self.pair(value)
            seen = _call("value", [self.visit(value), _constant(number)])
            reached = _call("no" if is_or else "yes", [_constant(number)])
            values += [self.at(value, seen), self.at(value, reached)]
        node.values = values + [self.visit(node.values[-1])]
        return node

    def visit_Await(self, node):
        if self.scope and isinstance(node.value, ast.Call):
            # What is awaited is none of the calls that are replaced.
            self.visit_arguments(node.value)
            node.value.func = self.visit(node.value.func)
            return node
        return self.generic_visit(node)

    def visit_Call(self, node):
        if not self.scope:
            return self.generic_visit(node)
        if self.is_replaced(node):
            return self.replaced(node, "wrap_get" if _is_plain_get(node) else "wrap", self.pair(node, late=True))
        node.func = self.visit(node.func)
        self.visit_arguments(node)
        return node

    def is_replaced(self, node):
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            return name in METHODS or name in FUNCTIONS or (name in self.enums and len(node.args) == 1)
        if isinstance(node.func, ast.Name):
            name = node.func.id
            return name in FUNCTIONS or (name in self.enums and len(node.args) == 1)
        return False

    def replaced(self, node, probe, number):
        callee = self.visit(node.func)
        node.func = self.at(node.func, _call(probe, [callee, _constant(number)]))
        self.visit_arguments(node)
        return node

    def visit_arguments(self, node):
        """A comparison that is directly an argument may be a column of SQL, so it stays as it is."""
        node.args = [self.argument(one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = self.argument(keyword.value)

    def argument(self, node):
        return self.generic_visit(node) if isinstance(node, ast.Compare) else self.visit(node)

    def visit_Subscript(self, node):
        if not self.scope or not isinstance(node.ctx, ast.Load) or not _is_look_up(node):
            return self.generic_visit(node)
        number = self.pair(node, late=True, kinds=(target.PROCEED, target.LEAVE))
        if _is_simple(node.value) and _is_simple(node.slice):
            looked = _call("item", [node.value, node.slice, _constant(number)])
            return self.at(node, ast.IfExp(test=_item("done", number), body=node, orelse=looked))
        return self.at(node, _call("item", [self.visit(node.value), self.visit(node.slice), _constant(number)]))

    @staticmethod
    def at(place, node):
        return ast.copy_location(node, place)


def _constant(value):
    return ast.Constant(value=value)


def _name(name):
    return ast.Name(id="_ib_" + name, ctx=ast.Load())


def _call(name, arguments):
    return ast.Call(func=_name(name), args=arguments, keywords=[])


def _item(name, number):
    return ast.Subscript(value=_name(name), slice=_constant(number), ctx=ast.Load())


def _is_text(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _is_simple(node):
    """Names, constants and attributes of names: evaluated without a call of ours in between."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))


def _is_cheap(node):
    """Simple, or a subscript of what is simple."""
    if isinstance(node, ast.Subscript):
        return _is_simple(node.value) and _is_simple(node.slice)
    return _is_simple(node)


def _is_plain_get(node):
    """Whether a call may be that of a dictionary, with a key and perhaps a default."""
    is_get = isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop")
    return is_get and not node.keywords and len(node.args) in (1, 2) and not any(isinstance(one, ast.Starred) for one in node.args)


def _is_not(node):
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _is_folding(node):
    return isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute) and node.func.attr in FOLDING


def _is_look_up(node):
    index = node.slice
    if isinstance(index, (ast.Slice, ast.Tuple, ast.Starred)) or type(index).__name__ == "ExtSlice":
        return False
    name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    looks_like_a_type = name in GENERICS or (name[:1].isupper() and not name.isupper())
    return not looks_like_a_type
