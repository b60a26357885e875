"""The deals API: what its specification and our decisions promise, once per database and transport."""
