"""The files that a screen's menus Export offer, beside the buttons themselves."""

from collections.abc import Callable

import pytest

from lib.ui.query import export_menu

Files = dict[str, Callable[[], str]]


def kept(monkeypatch: pytest.MonkeyPatch) -> Files:
    """What each block's button makes on click, by the block's name, once its menu is drawn."""
    files: Files = {}
    draw = export_menu.download

    def download(seen: object, name: str, text: Callable[[], str], label: str) -> None:
        files[name] = text
        draw(seen, name, text, label)

    monkeypatch.setattr(export_menu, "download", download)
    return files
