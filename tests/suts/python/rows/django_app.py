"""The Foo service on Django, settings and all in one file."""

from django.conf import settings

settings.configure(DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="for tests only")

import foo  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import path, re_path  # noqa: E402


def make(request):
    foo.make()
    return HttpResponse()


def find(request, x, y):
    return HttpResponse(status=foo.find(int(x), int(y)))


urlpatterns = [path("api/foo", make), re_path(r"^api/foo/(-?\d+)/(-?\d+)$", find)]
application = get_wsgi_application()
