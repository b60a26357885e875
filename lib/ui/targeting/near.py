"""Suggestions for a typed word that is not a known value."""

import difflib
from collections.abc import Mapping

SAME = (
    ("smartphone", "mobile", "mobile phone", "phone", "handset", "cell phone", "mobile device"),
    ("desktop", "pc", "personal computer", "computer", "laptop"),
    ("tablet", "ipad", "tab"),
    ("tv", "ctv", "connected tv", "connected_tv", "smart tv", "smarttv", "television", "ott", "set top box"),
    ("macos", "mac os", "mac os x", "os x", "osx"),
    ("ios", "iphone os", "ipados"),
    ("edge", "microsoft edge"),
    ("united states", "usa", "us", "u.s.", "u.s.a.", "america", "united states of america"),
    ("united kingdom", "uk", "gb", "u.k.", "great britain", "britain", "england"),
    ("netherlands", "nl", "holland"),
    ("south korea", "kr", "korea", "republic of korea"),
    ("germany", "de", "deutschland"),
    ("türkiye", "tr", "turkey"),
    ("czechia", "cz", "czech republic"),
)
CLOSE = 0.6


def exact(typed: str, known: Mapping[str, str]) -> str | None:
    """The value with this code or description, ignoring case, or None."""
    wanted = typed.strip().casefold()
    for code, words in known.items():
        if wanted in (code.casefold(), words.casefold()):
            return code
    return None


def near(typed: str, known: Mapping[str, str], most: int = 3) -> list[str]:
    """The codes of values like the one that was typed, the nearest first: the trade's other words, then
    those spelt alike. `known` has the descriptions by code."""
    wanted = typed.strip().casefold()
    codes: dict[str, str] = {}
    for code, words in known.items():
        codes.setdefault(words.casefold(), code)
        codes.setdefault(code.casefold(), code)
    others = [word for group in SAME if wanted in group for word in group]
    alike = difflib.get_close_matches(wanted, codes, n=most, cutoff=CLOSE)
    return list(dict.fromkeys(codes[word] for word in [*others, *alike] if word in codes))[:most]
