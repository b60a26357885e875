"""What a date picker shows, sent again late, is no choice: it changes neither question nor history."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opening import of_delivery

from lib.ui.kit.frame import CONTEXT
from lib.ui.query import dates_picker, history

GUARDS: dict[str, tuple[Callable[..., None], tuple[Any, ...], Any]] = {
    "preset": (dates_picker._ask_preset, ([], "picker", "Yesterday"), "Yesterday"),
    "last days": (dates_picker._ask_last, ("picker", "Last 28 days"), "Last 28 days"),
    "zone": (dates_picker._ask_zone, ("picker", 3), 3),
    "comparison": (dates_picker._compare_kind, ("compare", "picker", "year"), "year"),
    "second comparison": (dates_picker._compare_kind, ("also", "picker", "year"), "year"),
}


@pytest.mark.parametrize("name", GUARDS)
def test_what_was_shown_is_no_choice(name: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each picker's callback with the value that it was drawn with does nothing, whatever is asked by now."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))
    desk = of_delivery(start="2026-11-19", end="2026-11-20")
    apply, rest, value = GUARDS[name]
    pushed: list[Any] = []
    monkeypatch.setattr(history, "change", pushed.append)
    monkeypatch.setattr(dates_picker.st, "session_state", {"picker": value})
    apply(desk.session_state[CONTEXT], *rest)
    assert pushed == []
