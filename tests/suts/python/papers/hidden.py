"""Parts of a request that no document names."""


def hidden(shift, content):
    """A header and fields of a body that no document names."""
    if shift != "night":
        return "DAY"
    if content.get("amount", 0) > 100 and content.get("type") == "crate":
        return "BIG"
    return "SMALL"
