"""What of a request is known by identity, so that a look-up in it names a part of the request.

JSON bodies with the path of each object, plain dictionaries with names of parameters. They are kept until the candidate ends, so that
their identities stay theirs.
"""

from . import track

MOST = 500
#: The place of headers in a WSGI environment, which are called HTTP_….
META = "META"

#: By identity: the object, its place, its path, and the names that were looked for in it or in others of the same path.
paths = {}


def forget():
    """A new candidate begins."""
    paths.clear()


def remember(body):
    """A JSON body was read. Returns it."""
    try:
        if track.is_allowed() and type(body) in (dict, list):
            _remember(body, "", {}, 0)
    except Exception:
        pass
    return body


def _remember(value, path, told, depth):
    if len(paths) >= MOST or depth > 10:
        return
    if type(value) is dict:
        paths[id(value)] = (value, track.FIELD, path, told.setdefault(path, set()))
        for key, inner in value.items() if len(value) <= 100 else list(value.items())[:100]:
            kind = type(inner)
            if (kind is dict or kind is list) and type(key) is str:
                _remember(inner, path + key + "/", told, depth + 1)
    elif type(value) is list:
        for inner in value[:20]:
            kind = type(inner)
            if kind is dict or kind is list:
                _remember(inner, path, told, depth + 1)


def remember_names(dictionary, place):
    """A dictionary has parameters of this place by name. Returns it."""
    if track.is_allowed() and len(paths) < MOST:
        paths[id(dictionary)] = (dictionary, place, "", set())
    return dictionary


def place_of(dictionary):
    """The place that the names of a dictionary belong to, or none."""
    known = paths.get(id(dictionary))
    return known[1] if known is not None and known[0] is dictionary else None


def is_spread(keywords):
    """Whether keyword arguments are the fields of a body."""
    return any(place == track.FIELD and known.keys() == keywords.keys() for known, place, _, _ in list(paths.values()))


def looked_up(container, key):
    """A part of a request, if that is one, was looked for."""
    if not paths or type(key) is not str:
        return
    known = paths.get(id(container))
    if known is None or known[0] is not container:
        return
    _, place, path, told = known
    # Elements of a list have the same fields.
    if key in told:
        return
    told.add(key)
    if place != META:
        track.named(place, path + key)
    elif key.startswith("HTTP_"):
        track.named(track.HEADER, key[len("HTTP_") :].lower().replace("_", "-"))
