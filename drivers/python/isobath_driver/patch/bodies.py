"""Types that JSON bodies are read into: what they allow, as a JSON Schema, is told."""

import functools
import json

from .. import fields, track
from ..frames import called_by_service
from ..request import CURRENT
from . import replaced, serializers

#: Deeper than this, anything is allowed; so types that hold themselves have an end.
DEPTH = 5
#: A longer schema is not worth its way.
LONGEST = 8_000
#: A document usually says the same; what it does not say is learned from the first few.
MOST_TIMES = 20

_times = {}


def tell(key, make):
    """A body was read into the type `key`, whose schema `make` gives."""
    try:
        if CURRENT.get() is None or not track.is_allowed() or _times.get(key, 0) >= MOST_TIMES:
            return
        _times[key] = _times.get(key, 0) + 1
        text = _text(key, make)
        if text is not None:
            track.body(text)
    except Exception:
        pass


_texts = {}


def _text(key, make):
    if key not in _texts:
        schema = inlined(make())
        text = json.dumps(schema, separators=(",", ":"), default=str)
        _texts[key] = text if len(text) <= LONGEST and schema else None
    return _texts[key]


def inlined(schema):
    """A schema without references."""
    definitions = dict(schema.get("definitions") or {}, **(schema.get("$defs") or {}))
    return _inlined(schema, definitions, DEPTH)


def _inlined(schema, definitions, depth):
    if isinstance(schema, list):
        return [_inlined(one, definitions, depth) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        known = definitions.get(str(schema["$ref"]).rsplit("/", 1)[-1])
        return {} if known is None or depth == 0 else _inlined(known, definitions, depth - 1)
    return {
        name: _inlined(value, definitions, depth)
        for name, value in schema.items()
        if name not in ("$defs", "definitions", "title", "description")
    }


def _of_model(model):
    return model.model_json_schema() if hasattr(model, "model_json_schema") else model.schema()


# FastAPI.


def fastapi(module):
    @replaced(module, "get_request_handler")
    def get_request_handler(original, *arguments, **keywords):
        handler = original(*arguments, **keywords)
        field = keywords.get("body_field") or (arguments[1] if len(arguments) > 1 else None)
        if field is None or type(getattr(field, "field_info", None)).__name__ in ("Form", "File"):
            return handler

        @functools.wraps(handler)
        async def app(request):
            tell(("fastapi", id(field)), lambda: _of_field(field))
            return await handler(request)

        # Kept, so that its identity stays its own.
        app._isobath_field = field
        return app


def _of_field(field):
    adapter = getattr(field, "_type_adapter", None)
    return adapter.json_schema() if adapter is not None else _of_model(field.type_)


# pydantic 1 and 2.


def pydantic(module):
    model = module.BaseModel
    for name in ("model_validate", "model_validate_json", "parse_obj", "parse_raw"):
        if name in vars(model):
            _validates(model, name)

    @replaced(model, "__init__")
    def init(original, *arguments, **data):
        if data and arguments and fields.is_spread(data) and called_by_service():
            kind = type(arguments[0])
            tell(("pydantic", kind), lambda: _of_model(kind))
        return original(*arguments, **data)


def _validates(model, name):
    original = vars(model)[name].__func__

    @functools.wraps(original)
    def validate(cls, *arguments, **keywords):
        if called_by_service():
            tell(("pydantic", cls), lambda: _of_model(cls))
        return original(cls, *arguments, **keywords)

    setattr(model, name, classmethod(validate))


# Serializers.


def marshmallow(module):
    for name in ("load", "loads", "validate"):
        if not hasattr(module.Schema, name):
            continue

        def read(original, self, *arguments, **keywords):
            tell(("marshmallow", type(self), bool(self.many)), lambda: serializers.of_marshmallow(self))
            return original(self, *arguments, **keywords)

        replaced(module.Schema, name)(read)


def rest_framework(module):
    @replaced(module.BaseSerializer, "is_valid")
    def is_valid(original, self, *arguments, **keywords):
        tell(("rest_framework", _kind(self)), lambda: serializers.of_rest_framework(self))
        return original(self, *arguments, **keywords)

    # Where a class has a method of its own, that of the base is not asked.
    for name in ("Serializer", "ListSerializer"):
        owner = getattr(module, name)
        if "is_valid" in vars(owner):

            @replaced(owner, "is_valid")
            def own(original, self, *arguments, **keywords):
                tell(("rest_framework", _kind(self)), lambda: serializers.of_rest_framework(self))
                return original(self, *arguments, **keywords)


def _kind(serializer):
    child = getattr(serializer, "child", None)
    return (type(serializer), type(child)) if child is not None else type(serializer)
