"""Text that is not ours never reaches Markdown but through `plain`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import IMAGE, LINK
from opening import opened
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element

from lib.ui.kit.markdown import EMPTY, plain

MARKED = ("body", "label", "help", "title", "caption")


def marked_texts(desk: AppTest) -> Iterator[str]:
    """What the screen gives its elements and containers to be read as Markdown."""
    waiting: list[Block | Element] = list(desk._tree.children.values())
    while waiting:
        element = waiting.pop()
        waiting += element.children.values() if isinstance(element, Block) else ()
        proto = getattr(element, "proto", None)
        for part in (
            (proto, *(inner for _, inner in proto.ListFields())) if hasattr(proto, "ListFields") else ()
        ):
            yield from (str(getattr(part, name)) for name in MARKED if getattr(part, name, ""))


@pytest.mark.parametrize("screen", ["slicers", "audience", "export", "deals", "new_package"])
def test_no_screen_hands_foreign_text_to_markdown(
    hostile_home: Path, monkeypatch: pytest.MonkeyPatch, screen: str
) -> None:
    """Names of fields, values and deals, and what the URL says, are escaped in every text of a screen."""
    monkeypatch.setenv("TRANCHE_HOME", str(hostile_home))
    asked = {"split": IMAGE, "open": "supply_deals-1", "note": LINK}
    desk = opened(screen, "admin", project="demo", slicer="hostile", **asked)
    assert not desk.exception
    texts = list(marked_texts(desk))
    assert len(texts) > 10
    is_link = re.compile(r"(?<!\\)(\\\\)*(\]\(http|<a href)")
    assert not [text for text in texts if is_link.search(text)]


@pytest.mark.parametrize(
    "text", ["Impressions", "1,234.50", "12.3 %", "−5 (a)", "ada.lovelace", "14–20 Nov 2026"]
)
def test_usual_text_stays_as_it_is(text: str) -> None:
    """Names and figures come back as they were once their marks are read."""
    assert plain(text).replace("\\", "") == text


def test_parentheses_are_read_to_screen_readers_without_marks() -> None:
    """They begin nothing by themselves, but for a list after a number."""
    assert plain("Beta Media (2)") == "Beta Media (2)"
    assert plain("[a](b)") == "\\[a\\](b)"
    assert plain("1) a") == "1\\) a"


def test_what_is_replaced_after_escapes_is_kept_apart() -> None:
    """An empty element, which shows and copies as nothing, parts addresses, icons and arrows; turns of
    direction go."""
    assert plain("http://a").replace("\\", "") == f"http:{EMPTY}//a"
    assert plain("a -> b") == f"a -{EMPTY}\\> b"
    assert plain("a@b.c") == f"a@{EMPTY}b.c"
    assert plain("a\u202eb") == "ab"
