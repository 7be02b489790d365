"""What serializers of Django REST framework and schemas of marshmallow allow, as JSON Schemas."""

DEPTH = 5

_TYPES = {
    "IntegerField": {"type": "integer"}, "Integer": {"type": "integer"}, "Int": {"type": "integer"},
    "FloatField": {"type": "number"}, "DecimalField": {"type": "number"}, "Float": {"type": "number"},
    "Decimal": {"type": "number"}, "Number": {"type": "number"},
    "BooleanField": {"type": "boolean"}, "NullBooleanField": {"type": "boolean"}, "Boolean": {"type": "boolean"},
    "Bool": {"type": "boolean"},
    "CharField": {"type": "string"}, "String": {"type": "string"}, "Str": {"type": "string"},
    "SlugField": {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}, "RegexField": {"type": "string"},
    "EmailField": {"type": "string", "format": "email"}, "Email": {"type": "string", "format": "email"},
    "URLField": {"type": "string", "format": "uri"}, "URL": {"type": "string", "format": "uri"},
    "Url": {"type": "string", "format": "uri"},
    "UUIDField": {"type": "string", "format": "uuid"}, "UUID": {"type": "string", "format": "uuid"},
    "IPAddressField": {"type": "string", "format": "ipv4"}, "IP": {"type": "string", "format": "ipv4"},
    "IPv4": {"type": "string", "format": "ipv4"}, "IPv6": {"type": "string", "format": "ipv6"},
    "DateField": {"type": "string", "format": "date"}, "Date": {"type": "string", "format": "date"},
    "DateTimeField": {"type": "string", "format": "date-time"}, "DateTime": {"type": "string", "format": "date-time"},
    "AwareDateTime": {"type": "string", "format": "date-time"}, "NaiveDateTime": {"type": "string"},
    "TimeField": {"type": "string", "format": "time"}, "Time": {"type": "string", "format": "time"},
    "ListField": {"type": "array"}, "List": {"type": "array"}, "MultipleChoiceField": {"type": "array"},
    "DictField": {"type": "object"}, "Dict": {"type": "object"}, "Mapping": {"type": "object"}, "JSONField": {},
}  # fmt: skip


def _type_of(field):
    """The schema of the nearest class that is known."""
    for kind in type(field).__mro__:
        if kind.__name__ in _TYPES:
            return dict(_TYPES[kind.__name__])
    return {}


def _plain(value):
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def _bounds(schema, least, most, size_least=None, size_most=None):
    if least is not None:
        schema["minimum"] = _plain(least)
    if most is not None:
        schema["maximum"] = _plain(most)
    what = {"string": "Length", "array": "Items", "object": "Properties"}.get(schema.get("type"))
    if what and size_least:
        schema["min" + what] = size_least
    if what and size_most is not None:
        schema["max" + what] = size_most


def _object(properties, required):
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = sorted(required)
    return schema


# Django REST framework.


def of_rest_framework(serializer, depth=DEPTH):
    """The schema of a serializer, or of a field of one."""
    if depth == 0:
        return {}
    child = getattr(serializer, "child", None)
    if hasattr(serializer, "fields") and child is None:
        inner = {name: field for name, field in serializer.fields.items() if not _is_unread(field)}
        properties = {name: of_rest_framework(field, depth - 1) for name, field in inner.items()}
        partial = getattr(serializer, "partial", False)
        return _object(properties, [] if partial else [name for name, field in inner.items() if field.required])
    if child is not None and hasattr(serializer, "many"):
        return {"type": "array", "items": of_rest_framework(child, depth - 1)}
    schema = _type_of(serializer)
    if child is not None:
        name = "items" if schema.get("type") == "array" else "additionalProperties"
        schema[name] = of_rest_framework(child, depth - 1)
    choices = getattr(serializer, "choices", None)
    if isinstance(choices, dict) and choices and len(choices) <= 200:
        values = [_plain(one) for one in choices]
        schema = {"type": "array", "items": {"enum": values}} if schema.get("type") == "array" else {"enum": values}
    of = lambda name: getattr(serializer, name, None)  # noqa: E731
    least = of("min_length")
    if schema.get("type") == "string" and of("allow_blank") is False and not least:
        least = 1
    _bounds(schema, of("min_value"), of("max_value"), least, of("max_length"))
    for validator in getattr(serializer, "validators", ()):
        regex = getattr(validator, "regex", None)
        if schema.get("type") == "string" and "format" not in schema and hasattr(regex, "pattern"):
            schema["pattern"] = regex.pattern
    if of("allow_null") and "type" in schema:
        schema["nullable"] = True
    return schema


def _is_unread(field):
    return field.read_only or type(field).__name__ == "HiddenField"


# marshmallow.


def of_marshmallow(schema, depth=DEPTH):
    """The schema of a schema."""
    if depth == 0:
        return {}
    inner = getattr(schema, "load_fields", None) or schema.fields
    names = {name: getattr(field, "data_key", None) or name for name, field in inner.items() if not field.dump_only}
    properties = {shown: _of_field(inner[name], depth - 1) for name, shown in names.items()}
    partial = getattr(schema, "partial", False)
    made = _object(properties, [] if partial else [shown for name, shown in names.items() if inner[name].required])
    return {"type": "array", "items": made} if schema.many else made


def _of_field(field, depth):
    kind = type(field).__name__
    if depth == 0:
        return {}
    if kind in ("Nested", "Pluck"):
        made = of_marshmallow(field.schema, depth)
        return {"type": "array", "items": made} if field.many and made.get("type") != "array" else made
    schema = _type_of(field)
    if kind == "List":
        schema["items"] = _of_field(field.inner, depth - 1)
    enumeration = getattr(field, "enum", None)
    if enumeration is not None:
        by_value = getattr(field, "by_value", False)
        return {"enum": [_plain(member.value if by_value else name) for name, member in enumeration.__members__.items()]}
    for validator in field.validators:
        _constrain(schema, validator)
    if field.allow_none and "type" in schema:
        schema["nullable"] = True
    return schema


def _constrain(schema, validator):
    kind = type(validator).__name__
    if kind == "Length":
        equal = validator.equal
        least, most = (equal, equal) if equal is not None else (validator.min, validator.max)
        _bounds(schema, None, None, least, most)
    elif kind == "Range":
        _bounds(schema, validator.min, validator.max)
        for name, inclusive in (("minimum", "min_inclusive"), ("maximum", "max_inclusive")):
            if name in schema and not getattr(validator, inclusive, True):
                schema["exclusive" + name.capitalize()] = schema.pop(name)
    elif kind == "OneOf":
        schema["enum"] = [_plain(one) for one in validator.choices]
    elif kind == "Equal":
        schema["enum"] = [_plain(validator.comparable)]
    elif kind == "Regexp" and schema.get("type") == "string":
        schema["pattern"] = "^(?:%s)" % validator.regex.pattern
    elif kind == "And":
        for one in validator.validators:
            _constrain(schema, one)
