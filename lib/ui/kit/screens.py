"""The addresses of the screens, for links between them."""

from pathlib import Path

_PAGES = Path(__file__).parents[3] / "pages"
NAMES = sorted(page.stem for page in _PAGES.glob("*.py"))
AUDIENCE, EXPORT, DEALS, NEW_PACKAGE, ACCESS = (
    _PAGES / f"{name}.py" for name in ("audience", "export", "deals", "new_package", "access")
)
