

def media_type(answer):
    """The media type of a response, without parameters."""
    return answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
