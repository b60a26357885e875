"""Screens in an AppTest, for somebody who has signed in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

DESK = str(Path(__file__).parent.parent / "lib" / "desk.py")


def opened(screen: str, person: str = "manager", seconds: int = 60, **params: str) -> AppTest:
    """A screen with these URL parameters, after a click on this person of the demo.

    The desk runs over the data directory that TRANCHE_HOME names; `seconds` is how long a run may take. As
    with a link, the sign-in page comes with the slicer already.
    """
    desk = AppTest.from_file(DESK, default_timeout=seconds)
    for name in {"project", "slicer"} & set(params):
        desk.query_params[name] = params[name]
    desk.run()
    desk.button(key=f"demo_{person}").click().run()
    desk.switch_page(f"../pages/{screen}.py")
    for name, value in params.items():
        desk.query_params[name] = value
    return desk.run()


def of_delivery(screen: str = "audience", **params: Any) -> AppTest:
    """The same about the slicer delivery of the small demo, drawn without an exception."""
    desk = opened(screen, **{"project": "demo", "slicer": "delivery", **params})
    assert not desk.exception, desk.exception
    return desk


@dataclass(frozen=True)
class Popover:
    """A popover by its session key, and clicks in it. AppTest closes popovers, so each run opens it again."""

    key: str

    def opened(self, desk: AppTest) -> AppTest:
        """The next run with the popover open."""
        desk.session_state[self.key] = True
        desk.run()
        assert not desk.exception
        return desk

    def press(self, desk: AppTest, key: str) -> AppTest:
        """Press a button; the popover is open afterwards."""
        desk.button(key=key).click().run()
        return self.opened(desk)

    def submit(self, desk: AppTest, label: str) -> AppTest:
        """Press the button of a form; the popover is open afterwards."""
        next(button for button in desk.button if button.label == label).click().run()
        return self.opened(desk)
