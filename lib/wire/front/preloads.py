"""Modules of Streamlit's client that a screen needs, named in its document: a browser loads them at once.

By itself the client loads the module of an element when the first such element arrives: after its own start,
the WebSocket and the script's first messages, and once more for what that module imports.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lib.wire.front.chart_later import addresses

EVERYWHERE = ("BidiComponent", "Button", "ButtonGroup", "Html", "MenuButton", "Selectbox")
SCREENS: Mapping[str, tuple[str, ...]] = {"audience": ("Metric", "ImageList", "Multiselect", "PlotlyChart")}
IMPORTED = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
PLACE, HEAD = "static/js", 10_000


class Preloads:
    """The tags for the head of a document (`rel="modulepreload"` of the HTML standard)."""

    def __init__(self, static: Path) -> None:
        """`static` is the folder of Streamlit's client, which has its document and its modules."""
        self._folder = static / PLACE
        document = static / "index.html"
        self._named = document.read_text("utf-8") if document.exists() else ""
        self._everywhere = self._tags(EVERYWHERE)
        self._screens = {name: self._tags((*EVERYWHERE, *more)) for name, more in SCREENS.items()}

    def tags(self, path: str) -> bytes:
        """The tags of the document at this path of the desk; the last part of the path is the screen."""
        return self._screens.get(path.rsplit("/", 1)[-1], self._everywhere)

    def _tags(self, names: Iterable[str]) -> bytes:
        links = (
            f'    <link rel="modulepreload" crossorigin fetchpriority="low" href="./{PLACE}/{address}">\n'
            for module in self._modules(names)
            if module not in self._named
            for address in addresses(module)
        )
        return "".join(links).encode()

    def _modules(self, names: Iterable[str]) -> list[str]:
        """The files of these modules, and of all that they import, in the order in which they are met.

        A module imports in its first line.
        """
        found = {path.name: None for name in names for path in self._folder.glob(f"{name}.*.js")}
        waiting = list(found)
        while waiting:
            with (self._folder / waiting.pop(0)).open(encoding="utf-8") as file:
                more = [module for module in IMPORTED.findall(file.read(HEAD)) if module not in found]
            found |= dict.fromkeys(more)
            waiting += dict.fromkeys(more)
        return list(found)
