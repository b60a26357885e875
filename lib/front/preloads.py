"""Modules of Streamlit's client that every screen needs, named in its document: a browser loads them at once.

By itself the client loads the module of an element when the first such element arrives: after its own start,
the WebSocket and the script's first messages, and once more for what that module imports.
"""

from collections.abc import Iterable
from pathlib import Path

from lib.front import streamlit_parts as parts
from lib.front.streamlit_parts import MODULES


class Preloads:
    """The tags for the head of a document (`rel="modulepreload"` of the HTML standard)."""

    def __init__(self, static: Path) -> None:
        """`static` is the folder of Streamlit's client, which has its document and its modules."""
        self._static, self._named = static, parts.page(static)
        self.tags = self._made(parts.EVERYWHERE)

    def _made(self, names: Iterable[str]) -> bytes:
        links = (
            f'    <link rel="modulepreload" crossorigin fetchpriority="low" href="./{MODULES}/{module}">\n'
            for module in self._modules(names)
            if module not in self._named
        )
        return "".join(links).encode()

    def _modules(self, names: Iterable[str]) -> list[str]:
        """The files of these modules, and of all that they import, in the order in which they are met."""
        found = {path.name: None for name in names for path in parts.modules(self._static, name)}
        waiting = list(found)
        while waiting:
            imports = parts.imports(self._static / MODULES / waiting.pop(0))
            more = [module for module in imports if module not in found]
            found |= dict.fromkeys(more)
            waiting += dict.fromkeys(more)
        return list(found)
