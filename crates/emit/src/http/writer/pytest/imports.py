import base64
import json
import os
import secrets
import signal
import socket
import subprocess
import threading
import time
from functools import partialmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote, urljoin, urlsplit
from uuid import uuid4

import pytest
import requests
