"""Domains and app ids, as lists and supply files write them."""

import re
from urllib.parse import urlsplit

DOMAIN = re.compile(r"([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9-]{2,63}")
LONGEST_APP, LONGEST_DOMAIN = 200, 253


def domain(text: str) -> str:
    """`https://Example.org/news` → `example.org`; ValueError says what is wrong."""
    host = (urlsplit(text if "//" in text else f"//{text}").hostname or "").rstrip(".")
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        raise ValueError("Not a domain name") from None
    if "." not in name:
        raise ValueError("Not a domain name: it has no dot")
    if len(name) > LONGEST_DOMAIN or not DOMAIN.fullmatch(name):
        raise ValueError("Not a domain name")
    if name.rpartition(".")[2].isdigit():
        raise ValueError("An IP address, not a domain name")
    return name


def app(text: str) -> str:
    """A bundle or a store's number as it is; ValueError says what is wrong."""
    if any(character.isspace() for character in text):
        raise ValueError("An app id has no spaces")
    if not text.isprintable() or len(text) > LONGEST_APP:
        raise ValueError("Not an app id")
    return text
