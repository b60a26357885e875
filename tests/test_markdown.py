"""Text that is not ours never reaches Markdown but through `plain`."""

from pathlib import Path

import pytest
from code_read import Code
from markdown_calls import foreign, texts

from lib.ui.kit.markdown import EMPTY, plain

HEAD = "import streamlit as st\nfrom lib.ui.markdown import plain\n"
FOREIGN = (
    "def show(name: str): st.markdown(name)",
    "def show(name): st.caption(f'Hello {name}')",
    "def show(thing): st.button('Go', help=thing.annotation)",
    "def show(thing): st.metric('Clicks', thing.text)",
    "def show(names): st.pills('Names', [name for name in names])",
    "def show(names): st.radio('Names', names, format_func=lambda one: one.title())",
    "def show(): st.warning(st.session_state['problem'])",
    "def told(name): return f'{name} is there'\ndef show(name): st.info(told(name))",
    "def show(name): inner(name)\ndef inner(text: str): st.toast(text)",
    "def show(names):\n    for name in names:\n        st.tabs(['All', name])",
)
OURS = (
    "def show(name: str): st.markdown(plain(name))",
    "def show(count: int): st.caption(f'{count} rows')",
    "def show(name): st.caption(f'**{plain(name)}**')",
    "TITLES = {'a': 'One'}\ndef show(key): st.header(TITLES[key])",
    "def told(name): return f'{plain(name)} is there'\ndef show(name): st.info(told(name))",
    "def show(): inner('a')\ndef inner(text: str): st.toast(text)",
    "def show(names): st.pills('Names', names, format_func=plain)",
    "def show(share): st.markdown(f'{share:.1f} %')",
)


def _code(folder: Path, source: str) -> Code:
    screen = folder / "lib" / "ui" / "screen.py"
    screen.parent.mkdir(parents=True)
    screen.write_text(HEAD + source)
    return Code(folder)


def test_no_screen_hands_foreign_text_to_markdown() -> None:
    """What a screen hands to Markdown is written in the code, a number, or went through `plain`."""
    code = Code()
    found = foreign(code)
    assert not found, "\n" + "\n".join(found)
    assert sum(1 for module in code.modules.values() for _ in texts(module)) > 200


@pytest.mark.parametrize("source", FOREIGN)
def test_foreign_text_is_found(tmp_path: Path, source: str) -> None:
    """The reading of the code finds what is handed on as it came, also through functions and variables."""
    assert foreign(_code(tmp_path, source))


@pytest.mark.parametrize("source", OURS)
def test_our_own_text_is_let_through(tmp_path: Path, source: str) -> None:
    """It lets through what is written in the code, numbers, and what went through `plain`."""
    assert not foreign(_code(tmp_path, source))


@pytest.mark.parametrize(
    "text", ["Impressions", "1,234.50", "12.3 %", "−5 (a)", "ada.lovelace", "14–20 Nov 2026"]
)
def test_usual_text_stays_as_it_is(text: str) -> None:
    """Names and figures come back as they were once their marks are read."""
    assert plain(text).replace("\\", "") == text


def test_what_is_replaced_after_escapes_is_kept_apart() -> None:
    """An empty element, which shows and copies as nothing, parts addresses, icons and arrows; turns of
    direction go."""
    assert plain("http://a").replace("\\", "") == f"http:{EMPTY}//a"
    assert plain("a -> b") == f"a -{EMPTY}\\> b"
    assert plain("a@b.c") == f"a@{EMPTY}b.c"
    assert plain("a\u202eb") == "ab"
