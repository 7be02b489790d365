"""Whom the service calls by HTTP."""

from urllib.parse import urlsplit

from .. import frame, link
from ..request import action
from . import replaced


def tell(url):
    """The service is about to call this."""
    try:
        connection = link.current
        parts = urlsplit(url)
        if connection is None or parts.scheme not in ("http", "https") or not parts.hostname:
            return
        number = action()
        if number is None:
            return
        host = "[%s]" % parts.hostname if ":" in parts.hostname else parts.hostname
        port = "" if parts.port is None else ":%d" % parts.port
        plain = "%s://%s%s%s" % (parts.scheme, host, port, parts.path or "/")
        connection.queue.add_once(len(plain), connection.candidate(), frame.called, number, plain)
    except Exception:
        pass


def http_client(module):
    @replaced(module.HTTPConnection, "putrequest")
    def putrequest(original, self, method, url, *arguments, **keywords):
        if isinstance(url, str) and "://" in url:
            tell(url)
        elif isinstance(url, str):
            is_secure = hasattr(module, "HTTPSConnection") and isinstance(self, module.HTTPSConnection)
            host = getattr(self, "_tunnel_host", None) or self.host
            port = (getattr(self, "_tunnel_port", None) if getattr(self, "_tunnel_host", None) else self.port) or self.default_port
            shown = "[%s]" % host if ":" in host else host
            usual = 443 if is_secure else 80
            place = shown if port == usual else "%s:%d" % (shown, port)
            tell("%s://%s%s" % ("https" if is_secure else "http", place, url))
        return original(self, method, url, *arguments, **keywords)


def httpx(module):
    @replaced(module.HTTPTransport, "handle_request")
    def handle_request(original, self, request):
        tell(str(request.url))
        return original(self, request)

    @replaced(module.AsyncHTTPTransport, "handle_async_request")
    async def handle_async_request(original, self, request):
        tell(str(request.url))
        return await original(self, request)


def aiohttp(module):
    @replaced(module.ClientSession, "_request")
    async def _request(original, self, method, str_or_url, **keywords):
        try:
            tell(str(self._build_url(str_or_url)))
        except Exception:
            tell(str(str_or_url))
        return await original(self, method, str_or_url, **keywords)
