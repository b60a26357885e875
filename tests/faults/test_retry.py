"""The way to try again: one for each failure on a screen, and pauses that grow."""

from types import SimpleNamespace

import pytest
from clocks import Stopwatch
from streamlit.testing.v1 import AppTest

from lib.ui.kit import retry


def cards() -> None:
    """Five cards that fail alike: side by side, one in another, and one as it is."""
    import streamlit as st

    from lib.ui.kit.problems import report_errors
    from lib.wire.errors import Unreachable

    def fail() -> None:
        with report_errors("The values"):
            raise Unreachable("nobody there")

    def nested() -> None:
        st.fragment(fail)()
        fail()

    for _ in range(2):
        st.fragment(fail, parallel=True)()
    st.fragment(nested, parallel=True)()
    with st.popover("Filter"):
        fail()


def card() -> None:
    """A card that fails while the session says so."""
    import streamlit as st

    from lib.ui.kit.problems import report_errors
    from lib.wire.errors import Throttled, TooLarge, Unreachable

    kinds = {"gone": Unreachable("nobody there"), "wish": Throttled(10**9), "large": TooLarge("too much")}
    with report_errors("The values"):
        if kind := st.session_state.get("kind"):
            raise kinds[kind]


def test_alike() -> None:
    """Cards of one name that fail alike have a button each, whatever fragments they are in."""
    screen = AppTest.from_function(cards, default_timeout=30).run().run()
    assert not screen.exception
    assert len({button.key for button in screen.button if button.label == "Try again"}) == 5


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Stopwatch:
    """The clock of the pauses."""
    clock = Stopwatch()
    monkeypatch.setattr(retry, "time", SimpleNamespace(monotonic=clock))
    return clock


def pause(screen: AppTest) -> str:
    """What the screen says of when it tries again."""
    return next((caption.value for caption in screen.caption), "")


def test_pauses_grow(clock: Stopwatch) -> None:
    """Each time in a row that the clock runs out the pause doubles, to two minutes; not with a click."""
    screen = AppTest.from_function(card, default_timeout=30)
    screen.session_state["kind"] = "gone"
    said = []
    for waited in (0, 15, 3, 30, 60, 120):
        clock.seconds += waited
        said.append(pause(screen.run()))
    assert said == [f"Retrying in {seconds} seconds" for seconds in (15, 30, 30, 60, 120, 120)]
    screen.session_state["kind"] = None
    assert pause(screen.run()) == ""
    screen.session_state["kind"] = "gone"
    assert pause(screen.run()) == "Retrying in 15 seconds"


def test_retry_after_is_respected(clock: Stopwatch) -> None:
    """As long as the service wishes, but no longer than five minutes; what can't pass is not tried again."""
    screen = AppTest.from_function(card, default_timeout=30)
    screen.session_state["kind"] = "wish"
    assert pause(screen.run()) == "Retrying in 301 seconds"
    screen.session_state["kind"] = "large"
    assert (pause(screen.run()), len(screen.button)) == ("", 0)
