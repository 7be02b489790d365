

def unique(prefix, digits, suffix):
    """A text that no other run has used."""
    return prefix + uuid4().hex[:digits] + suffix
