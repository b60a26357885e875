"""Validates text that people write for others: visible, and displayed in the order in which it is stored."""

import re
import unicodedata

EMAIL, LONGEST_EMAIL = r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$", 254
CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})
UNSEEN = frozenset({"Cf", "Mn", "Me", "Zs"})
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

# The same for OpenAPI, whose patterns know no categories: these ranges, and a character that is not blank.
NOT_IN_TEXT = r"\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"
NOT_SEEN = (
    r"\s\u00ad\u0300-\u036f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0"
)
PATTERN = f"^[^{NOT_IN_TEXT}]*[^{NOT_SEEN}{NOT_IN_TEXT}][^{NOT_IN_TEXT}]*$"


def fault(text: str) -> str:
    """Why a text is not valid, as the end of a sentence; empty if it is.

    Joiners and marks of direction inside of words are fine: Persian, Hebrew and emoji need them. Embeddings
    and overrides are not: they make a text read as another one (Unicode Technical Report 36, 3.1).
    """
    if any(unicodedata.category(one) in CONTROL for one in text):
        return "must not contain control characters"
    if not TURNS.isdisjoint(text):
        return "must not contain characters that change the reading direction"
    if text.strip() and not any(_is_seen(one) for one in text):
        return "has no visible character"
    return ""


def is_email(text: str) -> bool:
    """Whether a text has the shape of an e-mail address."""
    return len(text) <= LONGEST_EMAIL and not fault(text) and re.fullmatch(EMAIL, text) is not None


def _is_seen(one: str) -> bool:
    return one not in BLANK and unicodedata.category(one) not in UNSEEN
