"""Views of the Django service."""

import json

from django.http import Http404, JsonResponse
from django.urls import path

COUNT = {"calls": 0}


def root(request):
    COUNT["calls"] += 1
    return JsonResponse({"calls": COUNT["calls"]})


def lock(request, n):
    if n == 4711:
        return JsonResponse({"open": True})
    if request.headers.get("X-Secret") == "sesame" or request.META.get("HTTP_X_OTHER"):
        return JsonResponse({"open": "by header"})
    if n == 404:
        raise Http404("nothing here")
    return JsonResponse({"open": False})


def fail(request):
    return {}["missing"]


def things(request):
    body = json.loads(request.body)
    if body.get("name") == "gold":
        return JsonResponse({"found": body["amount"]["grams"]})
    if "token" in request.COOKIES or request.GET.get("debug"):
        return JsonResponse({"debug": True})
    return JsonResponse({"found": None})


def form(request):
    return JsonResponse({"color": request.POST["color"]})


urlpatterns = [
    path("", root),
    path("lock/<int:n>", lock),
    path("fail", fail),
    path("things", things),
    path("form", form),
]
