"""The passwords that people choose: their length and their hash, by streamlit-authenticator's classes."""

import logging
from functools import cache
from typing import Any

from lib.wire.errors import BadRequest

SHORTEST_PASSWORD, BCRYPT_BYTES = 8, 72


def fault(password: str) -> str:
    """Why nobody can choose this password, as a sentence; empty if they can.

    Its length alone counts (NIST SP 800-63B, 5.1.1.2). `Validator.validate_password` wants a capital, a digit
    and a special character too, and refuses more than 20 characters.
    """
    if len(password.encode()) > BCRYPT_BYTES:
        return f"At most {BCRYPT_BYTES} bytes."
    is_long = _library().Validator().validate_length(password, SHORTEST_PASSWORD)
    return "" if is_long else f"At least {SHORTEST_PASSWORD} characters."


def check(password: str) -> str:
    """The password; BadRequest if nobody can choose it."""
    if sentence := fault(password):
        raise BadRequest(f"A password has {sentence[0].lower()}{sentence[1:-1]}")
    return password


def digest(password: str) -> str:
    """The bcrypt hash, of a cost that takes a fifth of a second; BadRequest for what bcrypt reads in part."""
    if not password or len(password.encode()) > BCRYPT_BYTES:
        raise BadRequest(f"A password has 1 to {BCRYPT_BYTES} bytes (bcrypt reads no more)")
    return str(_library().Hasher.hash(password))


@cache
def _library() -> Any:
    """The package, without its warnings outside of a page. On first use: it brings Streamlit, in a second."""
    logging.disable(logging.WARNING)
    try:
        import streamlit_authenticator
    finally:
        logging.disable(logging.NOTSET)
    return streamlit_authenticator
