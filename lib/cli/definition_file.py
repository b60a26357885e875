"""A guessed definition as a file in the current folder."""

from pathlib import Path

from lib.reporting.definition import Definition
from lib.reporting.definition.file import definition_yaml


def write_definition(slicer: str, head: str, definition: Definition) -> Path:
    """Write it, with `head` above as a comment, beside files of that name that say something else."""
    name = plain_name(slicer)
    text = "".join(f"# {line}\n" for line in head.splitlines()) + definition_yaml(definition)
    number, path = 2, Path(f"{name}.yaml")
    while path.exists() and path.read_bytes() != text.encode():
        path, number = Path(f"{name}-{number}.yaml"), number + 1
    path.write_text(text, encoding="utf-8")
    return path


def plain_name(name: str) -> str:
    """A name as the name of a file, wherever it is read."""
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
