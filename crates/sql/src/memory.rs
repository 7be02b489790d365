//! Which rows a database would accept, and which constraint would refuse them.
