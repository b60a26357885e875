"""A text file of the reader's own, read in the browser and sent as text; the desk accepts no HTTP uploads."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

FOLDER, ENCODINGS = Path(__file__).parent, ("UTF-16", "Windows-1252")
PROBLEMS = {
    "size": "The file is larger than {most:,} bytes. Split it.",
    "encoding": "The file is no text. In a spreadsheet, save it as 'CSV UTF-8'.",
    "reading": "The browser could not read the file. Choose it again.",
}
_mount = st.components.v2.component(
    "tranche_text_file", html='<label><span></span><input type="file"></label>',
    css=(FOLDER / "text_file.css").read_text(), js=(FOLDER / "text_file.js").read_text(),
)  # fmt: skip


@dataclass(frozen=True)
class ChosenFile:
    """A file's name and text; `problem` is a sentence why it was not taken, with an empty text.

    `encoding` is what it was read as, where that is not UTF-8.
    """

    name: str
    text: str = ""
    problem: str = ""
    encoding: str = ""


def draw(key: str, label: str, accept: str, most: int, on_file: Callable[[], None]) -> None:
    """Draw the field. `most` is the largest size in bytes; `on_file` is called once for each chosen file."""
    _mount(key=key, data={"label": label, "accept": accept, "most": most}, on_file_change=on_file)


def chosen_file(state: object, most: int) -> ChosenFile | None:
    """The file in what the browser sent, whose limits are checked again; None without one."""
    file = state.get("file") if hasattr(state, "get") else None
    if not isinstance(file, dict) or not isinstance(file.get("name"), str):
        return None
    name, text, problem = file["name"][:200], file.get("text"), file.get("problem")
    if not isinstance(text, str):
        reason = problem if problem in PROBLEMS else "reading"
        return ChosenFile(name, problem=PROBLEMS[reason].format(most=most))
    if len(text.encode(errors="replace")) > most:
        return ChosenFile(name, problem=PROBLEMS["size"].format(most=most))
    encoding = file.get("encoding")
    return ChosenFile(name, text, encoding=encoding if encoding in ENCODINGS else "")
