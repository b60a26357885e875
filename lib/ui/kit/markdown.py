"""Escapes text for places that read Markdown: labels, help and messages of nearly all widgets."""

import re

from lib.wire.text import straight

MARKS = re.compile(r"[\\`*_{}\[\]()#!|~$:<>^]|&(?=#?\w+;)")
AT_THE_START = re.compile(r"^ ?(?=[-+=])|^ ?\d+(?=\.(?: |$))")
SPACES = re.compile(r"[ \t\r\n\v\f\x85\u2028\u2029]+")
REPLACED = re.compile(
    r"(?<=:)(?=//|[\w/+-]+:)"  # addresses, emoji and icons
    r"|(?<=www)(?=\.)|(?<=@)(?=[-\w])"  # what GFM takes for an address
    r"|(?<=[-<>=~])(?=[-=>])",  # what Streamlit takes for an arrow, a dash or a sign
    re.IGNORECASE,
)
EMPTY = ":small[]"


def plain(text: str) -> str:
    """Text from outside in one line, escaped: none of it is read as Markdown, HTML or a link.

    Each mark is escaped; `&` only where it begins a character's name, since screen readers are given a
    label's Markdown as it is. Addresses, `:icons:` and arrows are replaced after escapes were read (GFM
    autolinks, Streamlit's own replacements), so an empty element keeps their characters apart: it adds
    nothing to what is shown, selected or copied. Characters that change the direction of reading are left
    out.
    """
    line = straight(SPACES.sub(" ", text))
    parts = [MARKS.sub(r"\\\g<0>", part) for part in REPLACED.split(line)]
    return AT_THE_START.sub(r"\g<0>\\", EMPTY.join(parts))
