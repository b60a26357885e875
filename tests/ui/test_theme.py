"""The look: a palette that everybody can tell apart, and nothing from elsewhere."""

import io
import re
import tomllib
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lib.figures.numbers import Numbers
from lib.figures.palette import FONT, GRAY, tick
from lib.share.mail.letter import Letter, Link, message
from lib.share.snapshot import models, render
from lib.share.snapshot.page import style
from lib.ui.audience import overview

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
LIB = Path(__file__).parents[2] / "lib"
THEME = tomllib.loads(CONFIG.read_text())["theme"]
PALETTE = THEME["chartCategoricalColors"]

# How colors look to whom (linear RGB): Machado, Oliveira and Fernandes 2009, severity 1.
SEEN = {
    "all cones": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
# Oklab (Ottosson 2020): linear RGB to cone answers, and their cube roots to lightness and two hues.
CONES = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
         [0.0883024619, 0.2817188376, 0.6299787005]]  # fmt: skip
OKLAB = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099],
         [0.0259040371, 0.7827717662, -0.808675766]]  # fmt: skip
CLOSEST = 0.09


def linear(color: str) -> np.ndarray:
    """`#rrggbb` as linear red, green and blue from 0 to 1."""
    parts = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def distance(color: str, other: str, seen: np.ndarray) -> float:
    """How far apart two colors look, in Oklab."""
    places = [
        np.array(OKLAB) @ np.cbrt(np.array(CONES) @ np.clip(seen @ linear(c), 0, 1)) for c in (color, other)
    ]
    return float(np.linalg.norm(places[0] - places[1]))


def contrast(color: str, other: str) -> float:
    """Contrast by WCAG 2.2, from 1 to 21."""
    light, dark = sorted((float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (color, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_ten_colors() -> None:
    """There are exactly ten categorical colors: with another number figures lose the theme."""
    assert len(set(PALETTE)) == 10


@pytest.mark.parametrize("who", SEEN)
def test_colors_stay_apart(who: str) -> None:
    """No two of the ten come close, whatever cones one has (in usual palettes some do: 0.01 to 0.06)."""
    seen = np.array(SEEN[who])
    closest = min(combinations(PALETTE, 2), key=lambda pair: distance(*pair, seen))
    assert distance(*closest, seen) >= CLOSEST, closest


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_contrast(ground: str) -> None:
    """On both grounds every chart color is seen, and text, links and buttons are readable."""
    theme = THEME[ground]
    background = theme["backgroundColor"]
    assert min(contrast(color, background) for color in PALETTE) >= 2
    for name in ("textColor", "linkColor", "grayColor", "redColor"):
        assert contrast(theme[name], background) >= 4.5, name
    assert contrast(theme["primaryColor"], "#ffffff") >= 4.5
    assert len(theme["chartSequentialColors"]) == 10


def test_colors_stand_in_the_theme_alone() -> None:
    """No code, style or layout has a color but those of the theme (palette.py), and black for shadows."""
    literal = re.compile(
        r"(?<![&\w])#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})\b(?!-)|\brgba?\((?!0[, ]+0[, ]+0)\s*\d[^)]*",
        re.I,
    )
    colors = {
        (path.name, color)
        for path in LIB.rglob("*")
        if path.suffix in (".py", ".css", ".js", ".html", ".typ")
        for color in literal.findall(path.read_text("utf-8"))
    }
    assert colors == {("palette.py", GRAY)}


def test_numbers_fonts_and_buttons_have_one_look() -> None:
    """A number is cut alike on tiles and axes, mails and shared pages have the desk's font and button."""
    assert (Numbers().rough(150_000), tick(150_000)) == ("150k", "150k")
    letter = message(Letter("Subject", [Link("Open", "https://desk.example")]), "a@b.example", "c@d.example")
    html = letter.get_body(("html",)).get_content()
    assert f"background:{THEME['light']['primaryColor']}" in html
    assert f"font-family:{FONT}" in html
    assert f"--font: {FONT};" in style()


def test_the_colors_of_changes_stand_in_the_theme_alone() -> None:
    """A rise and a fall have the theme's colors on the overview, snapshots and paper; only it has them."""
    changes = {mode: (THEME[mode]["greenColor"], THEME[mode]["redColor"]) for mode in ("light", "dark")}
    page = style()
    for mode, (green, red) in changes.items():
        early = overview.SCRIPT.partition(f'data-early=\\"{mode}\\"]) {{')[2].partition("}")[0]
        assert f"--st-green-color: {green}; --st-red-color: {red};" in early
        assert f"--green: {green}; --red: {red};" in page
    figures = [models.Figure("Up", "1", "█", "green"), models.Figure("Down", "1", "█", "red")]
    file = render.file(models.Snapshot("Changes", (), "", figures), "png")
    paper = Image.open(io.BytesIO(file)).convert("RGB")
    pixels = {color for _, color in paper.getcolors(paper.width * paper.height) or []}
    assert {tuple(bytes.fromhex(color[1:])) for color in changes["light"]} <= pixels
    for path in (path for path in LIB.rglob("*") if path.suffix in (".py", ".css", ".js")):
        text = path.read_text("utf-8")
        assert not [color for pair in changes.values() for color in pair if color in text], path


def test_nothing_from_elsewhere() -> None:
    """The configuration names no address but this machine's, and reports to nobody."""
    text = CONFIG.read_text()
    assert "//" not in text
    assert tomllib.loads(text)["browser"]["gatherUsageStats"] is False
    assert tomllib.loads(text)["server"]["address"] == "127.0.0.1"
