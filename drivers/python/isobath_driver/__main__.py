"""`python -m isobath_driver serve module:app`."""

import sys

from .serve import main

sys.exit(main(sys.argv[1:]))
