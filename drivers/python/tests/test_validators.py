"""What validators and types of bodies want becomes hints."""

import asyncio
import importlib
import json
import struct

import pytest

import core
from conftest import needs
from isobath_driver import fields, frame, frames, link, patch, probe, track
from isobath_driver.cells import CANDIDATE, Cells
from isobath_driver.patch import bodies
from isobath_driver.request import CURRENT, Request

MARKER = "_isobath_5_input"
_patched = set()


def library(*names):
    for name in names:
        module = importlib.import_module(name)
        if name not in _patched:
            _patched.add(name)
            patches = patch.Patches()
            patches.apply(name, module)
            assert patches.unwatched == []


@pytest.fixture
def told():
    """Gives the events since the last time."""
    cells = Cells.alone(1)
    cells.words[CANDIDATE] = 1
    connection, far = link.alone(cells)
    probe.reserve(1)
    track.allow(True)
    track.turn(True)
    frames.watch({__file__: object()})
    bodies._times.clear()
    token = CURRENT.set(Request(1, 0))

    def ask(*kinds):
        connection.queue.flush(frame.synced(1))
        found = []
        while True:
            (length,) = struct.unpack("<I", far.recv(4, 0x100))
            name, content = core.decode(far.recv(length, 0x100))
            if name == "Synced":
                return found
            if name in kinds:
                found.append(json.loads(content[1]) if name == "Body" else content[1:4])

    yield ask
    CURRENT.reset(token)
    frames.watch(None)
    track.turn(False)
    fields.forget()
    link.current = None
    far.close()


def django_settings():
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}})
        django.setup()


@needs("pydantic")
def test_a_pydantic_model_that_a_body_is_read_into_is_told(told):
    library("pydantic.main")
    import pydantic

    class Part(pydantic.BaseModel):
        size: int

    class Item(pydantic.BaseModel):
        name: str = pydantic.Field(min_length=2, max_length=5)
        parts: list

        class Config:
            extra = "ignore"

    Item.__annotations__["parts"] = list
    body = fields.remember({"name": "abc", "parts": []})
    item = Item(**body)
    assert item.name == "abc"
    (schema,) = told("Body")
    assert schema["properties"]["name"] == {"type": "string", "minLength": 2, "maxLength": 5}
    assert schema["required"] == ["name", "parts"]
    validate = getattr(Part, "model_validate", None) or Part.parse_obj
    assert validate({"size": 3}).size == 3
    (schema,) = told("Body")
    assert schema["properties"]["size"]["type"] == "integer"
    # Another dictionary is no body.
    Item(name="abc", parts=[], other=1)
    assert told("Body") == []


def post(app, path, body):
    """The answer of an ASGI app."""
    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
             "headers": headers, "http_version": "1.1", "scheme": "http", "root_path": ""}  # fmt: skip
    sent = []

    async def receive():
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message):
        sent.append(message.get("body", b""))

    asyncio.run(app(scope, receive, send))
    return b"".join(sent)


@needs("fastapi")
def test_the_body_of_a_fastapi_route_is_told(told):
    library("fastapi.routing")
    import fastapi
    import pydantic

    app = fastapi.FastAPI()

    class Inner(pydantic.BaseModel):
        amount: int = pydantic.Field(ge=1)

    class Order(pydantic.BaseModel):
        code: str
        inner: Inner

    def place(order: Order):
        return order.code

    place.__annotations__["order"] = Order
    app.post("/orders")(place)
    assert post(app, "/orders", {"code": "a", "inner": {"amount": 2}}) == b'"a"'
    (schema,) = told("Body")
    assert schema["properties"]["inner"]["properties"]["amount"] == {"type": "integer", "minimum": 1}


@needs("marshmallow")
def test_marshmallow_schemas_and_validators_are_told(told):
    library("marshmallow.validate", "marshmallow.fields", "marshmallow.schema")
    from marshmallow import Schema, fields as ma, validate

    class Inner(Schema):
        n = ma.Integer(required=True, validate=validate.Range(min=1, max=9))

    class Item(Schema):
        color = ma.String(required=True, validate=validate.OneOf(["red", "blue"]))
        code = ma.String(data_key="theCode", validate=[validate.Regexp("[a-z]+"), validate.Length(max=3)])
        day = ma.Date(allow_none=True)
        inner = ma.Nested(Inner)
        many = ma.List(ma.Integer())
        shown = ma.String(dump_only=True)

    assert set(Item().validate({"color": MARKER, "theCode": MARKER, "day": MARKER})) == {"color", "theCode", "day"}
    found = told("Body", "Tracked")
    assert found[0] == {
        "type": "object",
        "required": ["color"],
        "properties": {
            "color": {"type": "string", "enum": ["red", "blue"]},
            "theCode": {"type": "string", "pattern": "^(?:[a-z]+)", "maxLength": 3},
            "day": {"type": "string", "format": "date", "nullable": True},
            "inner": {
                "type": "object", "required": ["n"],
                "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}},
            },
            "many": {"type": "array", "items": {"type": "integer"}},
        },
    }  # fmt: skip
    assert [MARKER, track.EQUAL, ["red", "blue"]] in found
    assert [MARKER, track.PATTERN, ["^(?:[a-z]+)"]] in found
    assert [MARKER, track.PARSED, ["date"]] in found


@needs("rest_framework")
def test_serializers_of_rest_framework_are_told(told):
    django_settings()
    library("rest_framework.fields", "rest_framework.serializers")
    from rest_framework import serializers

    class Inner(serializers.Serializer):
        n = serializers.IntegerField(min_value=1, max_value=9)

    class Item(serializers.Serializer):
        id = serializers.IntegerField(read_only=True)
        color = serializers.ChoiceField(choices=["red", "blue"])
        name = serializers.CharField(max_length=5, required=False)
        code = serializers.RegexField("^[a-z]+$", allow_null=True)
        day = serializers.DateField()
        inner = Inner()
        many = Inner(many=True)

    assert not Item(data={"color": MARKER, "day": MARKER}).is_valid()
    (schema,) = told("Body")
    inner = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 9}}}
    assert schema == {
        "type": "object",
        "required": ["code", "color", "day", "inner", "many"],
        "properties": {
            "color": {"enum": ["red", "blue"]},
            "name": {"type": "string", "minLength": 1, "maxLength": 5},
            "code": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$", "nullable": True},
            "day": {"type": "string", "format": "date"},
            "inner": inner,
            "many": {"type": "array", "items": inner},
        },
    }


@needs("rest_framework")
def test_fields_of_rest_framework_track_inputs(told):
    django_settings()
    library("rest_framework.fields")
    from rest_framework import serializers

    for field in (serializers.ChoiceField(choices=["red", "blue"]), serializers.DateField(), serializers.IntegerField()):
        with pytest.raises(serializers.ValidationError):
            field.run_validation(MARKER)
    found = told("Tracked")
    assert [MARKER, track.EQUAL, ["red", "blue"]] in found
    assert [MARKER, track.PARSED, ["date"]] in found
    assert [MARKER, track.PARSED, ["i32"]] in found


@needs("django")
def test_django_validators_forms_and_models_track_inputs(told):
    django_settings()
    library("django.core.validators", "django.forms.fields", "django.db.models.fields")
    from django import forms
    from django.core import validators
    from django.core.exceptions import ValidationError
    from django.db import models

    checks = [
        validators.RegexValidator("^[a-z]+$"), validators.EmailValidator(), validators.URLValidator(),
        validators.MinLengthValidator(40), forms.IntegerField().clean, forms.UUIDField().clean,
        forms.ChoiceField(choices=[("a", "A"), ("b", "B")]).clean, lambda value: models.DateField().clean(value, None),
        lambda value: models.CharField(choices=[("x", "X")], max_length=30).clean(value, None),
    ]  # fmt: skip
    for check in checks:
        with pytest.raises(ValidationError):
            check(MARKER)
    found = told("Tracked")
    for role, arguments in (
        (track.PATTERN, ["^[a-z]+$"]), (track.PARSED, ["url"]), (track.PATTERN, ["^.{40,80}$"]), (track.PARSED, ["i32"]),
        (track.PARSED, ["uuid"]), (track.EQUAL, ["a", "b"]), (track.PARSED, ["date"]), (track.EQUAL, ["x"]),
    ):  # fmt: skip
        assert [MARKER, role, arguments] in found, (role, arguments)


@needs("attr")
def test_validators_of_attrs_track_inputs(told):
    library("attr.validators")
    import attr

    @attr.s
    class Item:
        color = attr.ib(validator=attr.validators.in_(["red", "blue"]))

    @attr.s
    class Other:
        code = attr.ib(validator=attr.validators.matches_re("[a-z]+"))

    for kind in (Item, Other):
        with pytest.raises(ValueError):
            kind(MARKER)
    found = told("Tracked")
    assert [MARKER, track.EQUAL, ["red", "blue"]] in found
    assert [MARKER, track.PATTERN, ["^(?:[a-z]+)$"]] in found
