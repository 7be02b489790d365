"""A Django service in one file, with the parts that a driver looks at."""

import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "manage")

DEBUG = False
SECRET_KEY = "test"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "site_urls"
INSTALLED_APPS = []
MIDDLEWARE = []
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}

if __name__ == "__main__":
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
