"""The examples of the papers on Django, settings and all in one file."""

import json
import sys

from django.conf import settings

settings.configure(
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    SECRET_KEY="for tests only",
)

from django.core.management import execute_from_command_line  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import HttpResponse  # noqa: E402
from django.urls import path  # noqa: E402
from django.views.decorators.http import require_GET, require_POST  # noqa: E402

from figures import figure1, figure7, figure9  # noqa: E402
from hidden import hidden  # noqa: E402


@require_GET
def testability(request, date, number, setting):
    return HttpResponse(figure1(date, number, setting))


@require_GET
def param(request):
    return HttpResponse(figure7(request.GET.get("param")))


@require_POST
def body(request):
    return HttpResponse(figure9(request.body))


@require_POST
def unnamed(request):
    return HttpResponse(hidden(request.headers.get("X-Shift"), json.loads(request.body)))


urlpatterns = [
    path("api/testability/<date>/<number>/<setting>", testability),
    path("api/param", param),
    path("api/body", body),
    path("api/hidden", unnamed),
]
application = get_wsgi_application()

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
