"""Writes the tables of docs/settings.md: each setting, its default and its description.

python docs/settings.py
"""

import re
from pathlib import Path

from lib.settings import settings_tables

TARGET = Path(__file__).parent / "settings.md"
MARKED = re.compile(r"(?<=<!-- settings -->\n).*?(?=\n<!-- /settings -->)", re.S)


def main() -> None:
    """Write the page."""
    TARGET.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page with the tables as it should be now."""
    return MARKED.sub(lambda _: settings_tables(), TARGET.read_text(encoding="utf-8"), count=1)


if __name__ == "__main__":
    main()
