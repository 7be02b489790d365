"""Parts of a request that the service looks for by name, whatever its document says (seed 002, section 6).

Only look-ups from frames of the service count: frameworks read headers and parameters themselves.
"""

from .. import fields, track
from ..frames import called_by_service
from . import replaced

_ABC = ("_collections_abc.py", "<frozen _collections_abc>")


def _looks(owner, place, *names):
    """Methods of a class that look for a name. `place` is a number, or tells it of an object."""
    for name in names:
        if name not in vars(owner) and not hasattr(owner, name):
            continue

        def look(original, self, *arguments, **keywords):
            try:
                if arguments and type(arguments[0]) is str and called_by_service(_ABC):
                    where = place(self) if callable(place) else place
                    if where:
                        track.named(where, arguments[0].lower() if where == track.HEADER else arguments[0])
            except Exception:
                pass
            return original(self, *arguments, **keywords)

        replaced(owner, name)(look)


def starlette(module):
    reads = ("get", "__getitem__", "__contains__", "getlist")
    _looks(module.Headers, track.HEADER, *reads)

    def place(self):
        if isinstance(self, module.QueryParams):
            return track.QUERY
        return track.FORM if isinstance(self, module.FormData) else None

    _looks(module.ImmutableMultiDict, place, *reads)


def starlette_requests(module):
    @replaced(module.Request, "json")
    async def json(original, self):
        track.named(track.FIELD, "")
        return fields.remember(await original(self))

    connection = module.HTTPConnection
    plain = connection.cookies.fget

    def cookies(self):
        return fields.remember_names(plain(self), track.COOKIE)

    connection.cookies = property(cookies, doc=connection.cookies.__doc__)


def _place_of_dictionary(self):
    return fields.place_of(self)


def werkzeug(module):
    _looks(module.MultiDict, _place_of_dictionary, "get", "__getitem__", "getlist")
    # `in` and `pop` are those of dict.
    _looks(module.ImmutableMultiDict, _place_of_dictionary, "__contains__")
    _looks(module.CombinedMultiDict, track.QUERY, "get", "__getitem__", "getlist", "__contains__")


def werkzeug_headers(module):
    owner = getattr(module, "EnvironHeaders", None) or module.Headers
    _looks(owner, track.HEADER, "__getitem__")
    _looks(module.Headers, track.HEADER, "get", "__contains__", "getlist", "get_all")


def old_werkzeug(module):
    if not hasattr(module, "__path__"):
        werkzeug(module)
        werkzeug_headers(module)


def werkzeug_requests(module):
    request = module.Request

    @replaced(request, "get_json")
    def get_json(original, self, *arguments, **keywords):
        track.named(track.FIELD, "")
        return fields.remember(original(self, *arguments, **keywords))

    for name, place in (("args", track.QUERY), ("form", track.FORM), ("cookies", track.COOKIE)):
        _remember_property(request, name, place)


def _remember_property(owner, name, place):
    """What a cached property gives is known by the place of the request that it has."""
    holder = next(one for one in owner.__mro__ if name in vars(one))
    before = vars(holder)[name]
    read = getattr(before, "fget", None) or getattr(before, "func", None)

    def get(self):
        return fields.remember_names(read(self), place)

    get.__name__ = name
    get.__doc__ = before.__doc__
    after = type(before)(get)
    if hasattr(type(after), "__set_name__"):
        after.__set_name__(holder, name)
    setattr(holder, name, after)


def django_request(request):
    """A request of Django's begins."""
    try:
        if track.is_allowed():
            fields.remember_names(request.GET, track.QUERY)
            fields.remember_names(request.COOKIES, track.COOKIE)
            fields.remember_names(request.META, fields.META)
    except Exception:
        pass


def django(module):
    # What is not known to be the query is a form.
    def place(self):
        return fields.place_of(self) or track.FORM

    _looks(module.QueryDict, place, "get", "__getitem__", "getlist", "__contains__")
    _looks(module.HttpHeaders, track.HEADER, "get", "__getitem__", "__contains__")


def rest_framework(module):
    @replaced(module.Request, "_load_data_and_files")
    def load(original, self):
        track.named(track.FIELD, "")
        result = original(self)
        fields.remember(getattr(self, "_full_data", None))
        return result
