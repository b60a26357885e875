"""Screens in an AppTest, for somebody who has signed in."""

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
    """The same about the slicer delivery of the small demo."""
    return opened(screen, **{"project": "demo", "slicer": "delivery", **params})
