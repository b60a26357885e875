"""Screens in an AppTest, for somebody who has signed in."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from lib.serving import connect
from lib.settings import Settings
from lib.ui import streamlit_compat
from lib.ui.kit.sign_in import ENDS
from lib.ui.query import bar

SESSION_SECONDS = 3600
streamlit_compat.look_up_single_values()  # as app.py does
DESK = str(Path(__file__).parent.parent / "lib" / "desk.py")


def opened(screen: str, person: str = "manager", seconds: int = 60, **params: str) -> AppTest:
    """A screen with these URL parameters, for this person of the demo, whose sign-in is valid.

    Audience opens with its split in sight, unless they name a tab. The desk runs over the data directory
    that TRANCHE_HOME names; `seconds` is how long a run may take. The sign-in page, and the screen that comes
    first after it, are not drawn: test_desk.py tests them.
    """
    desk = AppTest.from_file(DESK, default_timeout=seconds)
    sign_in(desk, person)
    desk.switch_page(f"../pages/{screen}.py")
    if screen == "audience" and not {"lower", "moved"} & params.keys():
        params["lower"] = "split"
    for name, value in params.items():
        desk.query_params[name] = value
    return desk.run()


def sign_in(desk: AppTest, username: str) -> None:
    """Begin a session of this person, and note it in the tab as the desk does."""
    ends = time.time() + SESSION_SECONDS
    connect.installation(Settings.current()).sessions.begin(username, ends)
    noted = {"username": username, ENDS: ends, "authentication_status": True, "logout": None}
    for name, value in noted.items():
        desk.session_state[name] = value


def of_delivery(screen: str = "audience", **params: Any) -> AppTest:
    """The same about the slicer delivery of the small demo, drawn without an exception."""
    desk = opened(screen, **{"project": "demo", "slicer": "delivery", **params})
    assert not desk.exception, desk.exception
    return desk


def nodes(node: Any) -> Iterator[Any]:
    """A part of a page, and all parts of it but for those in popovers."""
    yield node
    if getattr(node, "type", "") != "popover":
        for child in getattr(node, "children", {}).values():
            yield from nodes(child)


def set_values(desk: AppTest) -> list[str]:
    """The keys of the widgets whose value the last run has sent, but for those disabled or in popovers."""
    protos = {getattr(node, "key", None): getattr(node, "proto", None) for node in nodes(desk._tree)}
    return [
        str(key)
        for key, proto in protos.items()
        if getattr(proto, "set_value", False) and not getattr(proto, "disabled", False)
    ]


@dataclass(frozen=True)
class Popover:
    """A popover by its session key, at a part of its own if it has any, and clicks in it.

    AppTest closes popovers, so each run opens it again.
    """

    key: str
    part: tuple[str, str] | None = None

    def opened(self, desk: AppTest) -> AppTest:
        """The next run with the popover open."""
        self.open_next(desk)
        desk.run()
        assert not desk.exception
        return desk

    def open_next(self, desk: AppTest) -> None:
        """Have it open in the next run."""
        desk.session_state[self.key] = True
        if self.part is not None:
            desk.session_state[self.part[0]] = self.part[1]

    def press(self, desk: AppTest, key: str) -> AppTest:
        """Press a button, or choose in the menu of an entry; the popover is open afterwards."""
        choose(desk, key) if key.startswith("view_do_") else desk.button(key=key).click().run()
        return self.opened(desk)

    def submit(self, desk: AppTest, label: str) -> AppTest:
        """Press the button of a form; the popover is open afterwards."""
        next(button for button in desk.button if button.label == label).click().run()
        return self.opened(desk)


def choose(desk: AppTest, key: str) -> None:
    """Choose in the menu of an entry kept under a name; `view_do_edit_1` is Edit of the first."""
    shelf, name, number = re.fullmatch(r"(view_do_(?:[a-z]+_)?)([a-z]+)_(\d+)", key).groups()
    next(menu for menu in desk.get("menu_button") if menu.key == f"{shelf}{number}").set_value(name).run()


def menu(part: str) -> Popover:
    """A part of the menu More of Audience."""
    return Popover(bar.MORE, (bar.MORE_PART, part))
