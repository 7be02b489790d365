DROPPED = (requests.ConnectionError, requests.exceptions.ChunkedEncodingError)
