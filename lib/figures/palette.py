"""The colors of the desk's theme (`.streamlit/config.toml`)."""

import tomllib
from pathlib import Path

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
LINES: tuple[str, ...] = tuple(THEME["chartCategoricalColors"][:5])
SECOND: str = THEME["chartCategoricalColors"][-1]
ACCENT, GRAY = LINES[0], "#8a95a3"
