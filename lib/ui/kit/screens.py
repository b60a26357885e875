"""The addresses of the screens, for links between them."""

from pathlib import Path

_PAGES = Path(__file__).parents[3] / "pages"
AUDIENCE, EXPORT, DEALS, NEW_PACKAGE = (
    _PAGES / f"{name}.py" for name in ("audience", "export", "deals", "new_package")
)
