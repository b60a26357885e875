"""Text that people write and others read."""

import pytest

from lib.wire.text import fault


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ""),
        ("Morning News", ""),
        ("\u062e\u0628\u0631\u200c\u0647\u0627", ""),
        ("\U0001f468\u200d\U0001f469\u200d\U0001f467", ""),
        ("\u200b \u00a0\ufeff", "has no visible character"),
        ("\u115f\u3164", "has no visible character"),
        ("abc\u202edef", "must not contain characters that change the reading direction"),
        ("\u2066abc\u2069", "must not contain characters that change the reading direction"),
        ("a\x00b", "must not contain control characters"),
        ("a\u2029b", "must not contain control characters"),
    ],
)
def test_text(text: str, words: str) -> None:
    """What can't be seen, or reads as another text, is named; all scripts are fine."""
    assert fault(text) == words
