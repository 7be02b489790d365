"""The ASGI and WSGI apps of the Django service."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "manage")

from django.core.asgi import get_asgi_application  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402

asgi = get_asgi_application()
wsgi = get_wsgi_application()
