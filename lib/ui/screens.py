"""Where the screens are, for links from one to another."""

from pathlib import Path

_PAGES = Path(__file__).parents[2] / "pages"
AUDIENCE, DEALS, NEW_PACKAGE = (_PAGES / f"{name}.py" for name in ("audience", "deals", "new_package"))
