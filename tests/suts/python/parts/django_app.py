"""The stock of parts on Django, settings and all in one file."""

import json

from django.conf import settings

settings.configure(DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="for tests only")

from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.http import JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402

import stock  # noqa: E402


def search(request):
    return JsonResponse(stock.search(request.GET["kind"], int(request.GET["most"])))


def one(request, number):
    return JsonResponse(stock.one(number) or {})


def order(request):
    return JsonResponse(stock.order(json.loads(request.body)))


urlpatterns = [path("parts", search), path("parts/<int:number>", one), path("orders", order)]
application = get_wsgi_application()
