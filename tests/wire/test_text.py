"""Text that people write and others read."""

import re

import pytest

from lib.wire.text import PATTERN, fault

INVISIBLE = "must not contain invisible characters:"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("Morning News", ""),
        ("\u062e\u0628\u0631\u200c\u0647\u0627", ""),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", ""),
        ("\u200b \u00a0\ufeff", "has no visible character"),
        ("\u115f\u3164", "has no visible character"),
        ("\u05e2\u05d1\u200f 5", ""),
        ("1\ufe0f\u20e3 \u2764\ufe0f \U0001f3f4\U000e0067\U000e0062\U000e007f Caf\u00e9 e\u0301", ""),
        ("Zero\u200bWidth", f"{INVISIBLE} character 5 is U+200B ZERO WIDTH SPACE"),
        ("Zero\u200dWidth", f"{INVISIBLE} character 5 is U+200D ZERO WIDTH JOINER"),
        ("Word\u2060", f"{INVISIBLE} character 5 is U+2060 WORD JOINER"),
        ("\ufeffMark", f"{INVISIBLE} character 1 is U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("Soft\u00adhyphen", f"{INVISIBLE} character 5 is U+00AD SOFT HYPHEN"),
        ("Left\u200eright", f"{INVISIBLE} character 5 is U+200E LEFT-TO-RIGHT MARK"),
        ("A\ufe0f", f"{INVISIBLE} character 2 is U+FE0F VARIATION SELECTOR-16"),
        ("A\U000e0041", f"{INVISIBLE} character 2 is U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("e\u0301\u200d", f"{INVISIBLE} character 3 is U+200D ZERO WIDTH JOINER"),
        ("\u3164x", f"{INVISIBLE} character 1 is U+3164 HANGUL FILLER"),
        ("abc\u202edef", "must not contain characters that change the reading direction"),
        ("\u2066abc\u2069", "must not contain characters that change the reading direction"),
        ("a\x00b", "must not contain control characters"),
        ("a\u2029b", "must not contain control characters"),
    ],
)
def test_text(text: str, words: str) -> None:
    """What can't be seen, or reads as another text, is named; all scripts are fine."""
    assert fault(text) == words


@pytest.mark.parametrize("one", "\u00ad\u034f\u180e\u200b\u2060\u2064\u206a\u3164\ufeff")
def test_the_schema_agrees(one: str) -> None:
    """What is always refused is outside of the pattern that the OpenAPI document has for texts."""
    assert fault(f"a{one}b")
    assert not re.search(PATTERN, f"a{one}b")
    assert re.search(PATTERN, "Morning News")
