"""Validators that are written in Python: a tracked input should be what they want."""

import functools

from .. import pattern, replace, track
from . import replaced

#: Texts that are longer than wanted by more than this need not be tried.
MOST_SPARE = 40
_EMAIL = "^[a-z]{1,8}@[a-z]{1,8}\\.(com|org)$"


def _text(arguments):
    """The value that a validator looks at, if it is a tracked input."""
    value = arguments[0] if arguments else None
    return value if type(value) is str and track.is_on() and track.tracked(value) else None


def _wants(owner, name, wish):
    """Tells what `wish(self)`, a role and arguments, says of a tracked first argument of a method."""
    if not hasattr(owner, name):
        return

    @replaced(owner, name)
    def look(original, self, *arguments, **keywords):
        try:
            text = _text(arguments)
            wanted = wish(self) if text is not None else None
            if wanted is not None and wanted[1]:
                track.used(text, wanted[0], wanted[1], None)
        except Exception:
            pass
        return original(self, *arguments, **keywords)


def _parses(module, method, table):
    """Classes whose method parses a text as a type of the protocol."""
    for name, types in table.items():
        owner = getattr(module, name, None)
        if owner is not None and method in vars(owner):
            _wants(owner, method, lambda self, types=types: (track.PARSED, types))


def _texts(values):
    return [str(one) for one in values if isinstance(one, (str, int))][: track.MOST_WISHES]


def _size(least, most):
    """The expression of texts of a size; none when any will do."""
    least = least or 0
    if least <= 0 and most is None:
        return None
    most = least + MOST_SPARE if most is None else min(most, least + MOST_SPARE)
    return (track.PATTERN, ["^.{%d,%d}$" % (least, max(least, most))])


def _limit(validator):
    limit = getattr(validator, "limit_value", None)
    return limit() if callable(limit) else limit


def _regex(regex, mode):
    return (track.PATTERN, [replace.wish(regex.pattern, regex.flags, mode)])


# Django.


def django(module):
    def regular(self):
        return None if self.inverse_match else _regex(self.regex, pattern.SEARCH)

    _wants(module.RegexValidator, "__call__", regular)
    _wants(module.URLValidator, "__call__", lambda self: (track.PARSED, ["url"]))
    _wants(module.EmailValidator, "__call__", lambda self: (track.PATTERN, [_EMAIL]))

    @replaced(module.BaseValidator, "__call__")
    def call(original, self, *arguments, **keywords):
        try:
            text = _text(arguments)
            if text is not None and isinstance(self, module.MinLengthValidator):
                wish = _size(_limit(self), None)
            elif text is not None and isinstance(self, module.MaxLengthValidator):
                wish = _size(None, _limit(self)) if len(text) > _limit(self) else None
            else:
                wish = None
            if wish is not None:
                track.used(text, wish[0], wish[1], None)
        except Exception:
            pass
        return original(self, *arguments, **keywords)


_FORM_TYPES = {
    "IntegerField": ["i32"], "FloatField": ["f64"], "DecimalField": ["decimal"], "DateField": ["date"],
    "TimeField": ["time"], "DateTimeField": ["datetime"], "UUIDField": ["uuid"], "GenericIPAddressField": ["ip"],
    "BooleanField": ["bool"], "NullBooleanField": ["bool"],
}  # fmt: skip


def django_forms(module):
    _parses(module, "to_python", _FORM_TYPES)
    _wants(module.ChoiceField, "valid_value", lambda self: (track.EQUAL, _texts(key for key, _ in self.choices)))


def django_models(module):
    _parses(module, "to_python", dict(_FORM_TYPES, BigIntegerField=["i64"]))
    _wants(module.Field, "validate", lambda self: (track.EQUAL, _texts(key for key, _ in self.flatchoices)))


# Django REST framework.


def rest_framework(module):
    types = dict(_FORM_TYPES, IPAddressField=["ip"])
    del types["GenericIPAddressField"]
    _parses(module, "to_internal_value", types)
    _wants(module.ChoiceField, "to_internal_value", lambda self: (track.EQUAL, _texts(self.choices)))


# marshmallow.


def marshmallow(module):
    _wants(module.OneOf, "__call__", lambda self: (track.EQUAL, _texts(self.choices)))
    _wants(module.Equal, "__call__", lambda self: (track.EQUAL, _texts([self.comparable])))
    _wants(module.Regexp, "__call__", lambda self: _regex(self.regex, pattern.MATCH))
    _wants(module.Email, "__call__", lambda self: (track.PATTERN, [_EMAIL]))
    _wants(module.URL, "__call__", lambda self: (track.PARSED, ["url"]))

    def size(self):
        return _size(self.min, self.max) if self.equal is None else _size(self.equal, self.equal)

    _wants(module.Length, "__call__", size)


_MARSHMALLOW_TYPES = {
    "Integer": ["i32"], "Number": ["f64"], "Decimal": ["decimal"], "Date": ["date"], "Time": ["time"], "DateTime": ["datetime"],
    "UUID": ["uuid"], "Boolean": ["bool"], "IP": ["ip"],
}  # fmt: skip


def marshmallow_fields(module):
    def wish(self):
        known = (_MARSHMALLOW_TYPES.get(kind.__name__) for kind in type(self).__mro__)
        return (track.PARSED, next((types for types in known if types), None))

    _wants(module.Field, "deserialize", wish)


# attrs: validators are called with the instance, the attribute and the value.


def attrs(module):
    def wants(name, wish):
        owner = getattr(module, name, None)
        if owner is None:
            return
        original = owner.__call__

        @functools.wraps(original)
        def call(self, inst, attr, value):
            try:
                text = _text((value,))
                wanted = wish(self) if text is not None else None
                if wanted is not None and wanted[1]:
                    track.used(text, wanted[0], wanted[1], None)
            except Exception:
                pass
            return original(self, inst, attr, value)

        owner.__call__ = call

    wants("_InValidator", lambda self: (track.EQUAL, _texts(getattr(one, "value", one) for one in self.options)))
    wants("_MatchesReValidator", lambda self: _attrs_regex(self))
    wants("_MinLengthValidator", lambda self: _size(self.min_length, None))
    wants("_MaxLengthValidator", lambda self: _size(None, self.max_length))


def _attrs_regex(validator):
    mode = getattr(validator.match_func, "__name__", pattern.FULLMATCH)
    return _regex(validator.pattern, mode)
