"""Parameters that the desk changes, and messages that were sent before the browser had the change."""

from types import SimpleNamespace

import pytest
from clocks import Stopwatch
from streamlit.testing.v1 import AppTest

from lib.ui.kit import address


def page() -> None:
    """Set the order to what the session says, if anything, and write what it is."""
    import streamlit as st

    from lib.ui.kit import address

    if (value := st.session_state.pop("wanted", None)) is not None:
        address.write("order", value)
    st.text(address.read("order") or "none")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Stopwatch:
    """The clock of the changes."""
    clock = Stopwatch()
    monkeypatch.setattr(address, "time", SimpleNamespace(monotonic=clock))
    return clock


def order(screen: AppTest, browser: str | None = None, wanted: str | None = None) -> tuple[str, object]:
    """The order that a run has, and that of the address after it, if the browser's message has this one."""
    if browser is not None:
        screen.query_params["order"] = browser
    if wanted is not None:
        screen.session_state["wanted"] = wanted
    screen.run()
    assert not screen.exception
    return screen.text[0].value, screen.query_params.get("order")


def test_a_message_sent_before_a_change_does_not_undo_it(clock: Stopwatch) -> None:
    """It has any of the values of before, and the address becomes that of the last change again."""
    screen = AppTest.from_function(page)
    assert order(screen, "id", wanted="price") == ("price", "price")
    assert order(screen, "id", wanted="-price") == ("-price", "-price")
    for stale in ("id", "price"):
        clock.seconds += 0.4
        assert order(screen, stale) == ("-price", "-price")


def test_what_the_browser_says_later_counts(clock: Stopwatch) -> None:
    """After the moment of a change an earlier value is a way back; one never seen before is new at once."""
    screen = AppTest.from_function(page)
    assert order(screen, "id", wanted="price")[0] == "price"
    assert order(screen, "name")[0] == "name"
    assert order(screen, "name", wanted="price")[0] == "price"
    clock.seconds += address.SECONDS
    assert order(screen, "name")[0] == "name"


def test_a_change_back_counts(clock: Stopwatch) -> None:
    """To set what was there before is a change like any other, also by a message that still has it."""
    screen = AppTest.from_function(page)
    order(screen, "id", wanted="price")
    assert order(screen, "id", wanted="id") == ("id", "id")
    assert order(screen, "price") == ("id", "id")
