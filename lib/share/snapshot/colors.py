"""The colors of a rise and a fall, from the theme of the desk (`.streamlit/config.toml`)."""

from lib.figures.palette import THEME

LIGHT, DARK = (
    {"green": THEME[mode]["greenColor"], "red": THEME[mode]["redColor"]} for mode in ("light", "dark")
)


def style() -> str:
    """The colors as variables of a page; in print those for a light background."""
    light, dark = (
        f":root {{ --green: {colors['green']}; --red: {colors['red']}; }}" for colors in (LIGHT, DARK)
    )
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n@media print {{ {light} }}\n"
