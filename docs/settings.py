"""Writes the tables of docs/settings.md: each setting, its default and its description.

python docs/settings.py
"""

import re
from collections.abc import Iterable
from pathlib import Path

from lib.settings import SETTINGS
from lib.settings.local import PREFIX

TARGET = Path(__file__).parent / "settings.md"
MARKED = re.compile(r"(?<=<!-- settings -->\n).*?(?=\n<!-- /settings -->)", re.S)

FIRST = (
    "home",
    "host",
    "port",
    "origins",
    "trusted_proxies",
    "database_url",
    "question_megabytes",
    "metrics_token",
    "log_format",
)
"""Settings that whoever installs Tranche looks at; the others are for later."""


def main() -> None:
    """Write the page."""
    TARGET.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page with the tables as it should be now."""
    others = [name for name in SETTINGS if name not in FIRST]
    tables = f"## Look at these first\n\n{_table(FIRST)}\n\n## The others\n\n{_table(others)}"
    return MARKED.sub(lambda _: tables, TARGET.read_text(encoding="utf-8"), count=1)


def _table(names: Iterable[str]) -> str:
    rows = []
    for name in names:
        field = SETTINGS[name]
        extra = field.json_schema_extra
        default = extra["shown"] if isinstance(extra, dict) else field.default
        if default in (None, "", (), {}):
            text = "none"
        else:
            text = f"`{str(default).lower() if isinstance(default, bool) else default}`"
        rows.append(f"| `{name}` | `{PREFIX}{name.upper()}` | {text} | {field.description} |")
    return "\n".join(["| Setting | Environment | Default | Meaning |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    main()
