"""Escapes text for places that read Markdown: labels, help and messages of nearly all widgets."""

import re

MARKS = re.compile(r"[\\`*_{}\[\]()#!|~$:<>^]|&(?=#?\w+;)")
AT_THE_START = re.compile(r"^ ?(?=[-+=])|^ ?\d+(?=\.(?: |$))")
SPACES = re.compile(r"[ \t\r\n\v\f\x85\u2028\u2029]+")
TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
UNDONE = re.compile(
    r"(?<=:)(?=//|[\w/+-]+:)"  # addresses, emoji and icons
    r"|(?<=www)(?=\.)|(?<=@)(?=\w)"  # what GFM takes for an address
    r"|(?<=[-<>=~])(?=[-=>])",  # what Streamlit takes for an arrow, a dash or a sign
    re.IGNORECASE,
)
JOINER = "\u2060"


def plain(text: str) -> str:
    """Text from outside in one line, escaped: none of it is read as Markdown, HTML or a link.

    Each mark is escaped; `&` only where it begins a character's name, since screen readers are given a
    label's Markdown as it is. Addresses, `:icons:` and arrows are replaced after escapes were read (GFM
    autolinks, Streamlit's own replacements), so a word joiner, which can't be seen, keeps their characters
    apart. Characters that change the direction of reading are left out.
    """
    line = UNDONE.sub(JOINER, TURNS.sub("", SPACES.sub(" ", text)))
    return AT_THE_START.sub(r"\g<0>\\", MARKS.sub(r"\\\g<0>", line))
