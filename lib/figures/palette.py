"""The look of figures: the colors of the theme (`.streamlit/config.toml`), fonts, and cut numbers."""

import re
import tomllib
from pathlib import Path

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
LINES: tuple[str, ...] = tuple(THEME["chartCategoricalColors"][:5])
SECOND: str = THEME["chartCategoricalColors"][-1]
ACCENT, GRAY = LINES[0], "#8a95a3"
LIGHT: dict[str, str]
DARK: dict[str, str]
LIGHT, DARK = (
    {name.removesuffix("Color"): color for name, color in THEME[mode].items() if name.endswith("Color")}
    for mode in ("light", "dark")
)
"""The colors of a light and of a dark background: `text`, `background`, `border`, `green`…"""
FONT = "'Source Sans','Source Sans 3',system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
"""The fonts of what is no screen of the desk: it uses that of the desk where a reader has it."""

MINUS = "\u2212"
STEPS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def variables(colors: dict[str, str], prefix: str = "", suffix: str = "") -> str:
    """The colors as CSS variables, each named between `prefix` and `suffix`."""
    names = {name: re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name) for name in colors}
    return " ".join(f"--{prefix}{names[name]}{suffix}: {color};" for name, color in colors.items())


def tick(value: float) -> str:
    """A number of an axis: `1.5M`."""
    size, letter = next((step for step in STEPS if abs(value) >= step[0]), (1.0, ""))
    return f"{value / size:.4g}{letter}".replace("-", MINUS)
