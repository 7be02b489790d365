

def unique(prefix, digits, suffix):
    """A unique string."""
    return prefix + uuid4().hex[:digits] + suffix
