"""The driver of Isobath inside a Python service.

Rewrites the modules of the service as they are imported, so that statements, conditions and calls report
scores; sends targets, statements, tracked inputs and faults to the core. See docs/protocol.md.

Reading order: `start`, `rewrite`, `probe`, `link`; then `replace` (calls) and `patch` (libraries).
"""

VERSION = 1
NAME = "isobath-python 0.1.0"
