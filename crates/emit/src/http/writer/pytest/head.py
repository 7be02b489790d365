@HEADER@

Needs pytest and requests. Environment:

@ENVIRONMENT@
"""

@IMPORTS@

