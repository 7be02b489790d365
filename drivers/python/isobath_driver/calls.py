"""Names of the calls that are replaced, as the source writes them. Which object is called is known only at run time (`replace`)."""

#: Methods that tell whether something holds.
BOOLEAN_METHODS = frozenset(
    "startswith endswith isdigit isalpha isalnum isnumeric isdecimal isspace isupper islower istitle isidentifier isascii "
    "match search fullmatch compare_digest".split()
)
#: Other methods.
METHODS = BOOLEAN_METHODS | frozenset(
    "find rfind index rindex count split rsplit partition rpartition get pop fromisoformat strptime fromhex".split()
)
#: Functions and classes, also as attributes of their modules.
FUNCTIONS = frozenset(
    "int float Decimal UUID loads match search fullmatch compare_digest ip_address ip_network ip_interface "
    "IPv4Address IPv6Address IPv4Network IPv6Network IPv4Interface IPv6Interface".split()
)
