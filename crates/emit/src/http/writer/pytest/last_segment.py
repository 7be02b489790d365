

def last_segment(reference):
    """The last path segment of a reference such as a Location header."""
    return unquote(urlsplit(reference).path.rstrip("/").rpartition("/")[2])
