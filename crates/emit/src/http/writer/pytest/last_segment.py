

def last_segment(reference):
    """The id that a reference such as a Location ends with."""
    return unquote(urlsplit(reference).path.rstrip("/").rpartition("/")[2])
