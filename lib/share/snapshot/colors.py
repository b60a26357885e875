"""The colors of a rise and a fall, from the theme of the desk (`.streamlit/config.toml`)."""

import tomllib
from pathlib import Path

_THEME = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
LIGHT, DARK = (
    {"green": _THEME[mode]["greenColor"], "red": _THEME[mode]["redColor"]} for mode in ("light", "dark")
)


def style() -> str:
    """The colors as variables of a page; in print those for a light background."""
    light, dark = (
        f":root {{ --green: {colors['green']}; --red: {colors['red']}; }}" for colors in (LIGHT, DARK)
    )
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n@media print {{ {light} }}\n"
