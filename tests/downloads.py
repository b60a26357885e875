"""The files that screens offer, beside the buttons themselves."""

from collections.abc import Callable
from typing import Any

import pytest

from lib.ui.kit import downloads
from lib.ui.query import export_menu

Files = dict[str, Callable[[], str]]
Contents = dict[str, Callable[[], str | bytes]]


def offered(monkeypatch: pytest.MonkeyPatch) -> Contents:
    """What each button's thread calls on a click, by the button's key, once it is drawn."""
    contents: Contents = {}
    draw = downloads.st.download_button

    def button(label: str, *, data: Callable[[], str | bytes], key: str, **look: Any) -> None:
        contents[key] = data
        draw(label, data=data, key=key, **look)

    monkeypatch.setattr(downloads.st, "download_button", button)
    return contents


def kept(monkeypatch: pytest.MonkeyPatch) -> Files:
    """What each block's button makes on click, by the block's name, once its menu is drawn."""
    files: Files = {}
    draw = export_menu.download

    def download(seen: object, name: str, text: Callable[[], str], label: str) -> None:
        files[name] = text
        draw(seen, name, text, label)

    monkeypatch.setattr(export_menu, "download", download)
    return files
