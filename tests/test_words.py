"""The words of screens, errors, command line and documents: plain, present-day English."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from documents import DOCUMENTS, ROOT

QUAINT = {
    "anew": "again",
    "all the same": "may have succeeded",
    "as it is told": "as returned",
    "beside what": "in addition to",
    "by itself in": "retrying in",
    "could not be had": "could not be loaded",
    "can't be had": "can't be loaded",
    "for good": "permanently",
    "for a reason of its own": "internal error",
    "in vain": "timed out",
    "is here twice": "is given twice",
    "left alone": "is not called",
    "let this desk in": "rejected our credentials",
    "of another maker": "third-party",
    "rests on": "is based on",
    "rest on": "are based on",
    "second manner": "variant",
    "services elsewhere": "remote services",
    "service elsewhere": "remote service",
    "stands at": "is at",
    "take it away": "export it",
    "taken for": "inferred as",
    "to be mended": "needs fixing",
    "unsealed": "unencrypted",
    "wished": "requested",
    "whole or did not happen": "atomic",
    "grave message": "minimum log level",
    "erstwhile": "former",
}
PARTICIPLES = "asked drawn found given held kept known made noted said seen shown sought taken told wanted"
PATTERN = re.compile(rf"\b({'|'.join(map(re.escape, QUAINT))})\b", re.I)
SOURCES = [ROOT / "app.py", *(ROOT / "lib").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]


@cache
def parse(path: Path) -> ast.Module:
    """The syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a source file that have a blank in them: no docstrings, and f-strings without values."""
    tree = parse(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings and " " in node.value.strip():
            yield node.lineno, node.value


def test_texts_are_plain() -> None:
    """No text of the program has one of the quaint phrases; the failure names a plain one."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: '{match[0]}', better '{QUAINT[match[0].lower()]}': {text!r}"
        for path in SOURCES
        for line, text in texts(path)
        for match in PATTERN.finditer(text)
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documents_are_plain(document: Path) -> None:
    """Nor has a document."""
    found = PATTERN.findall(" ".join(document.read_text(encoding="utf-8").split()))
    assert not found


def test_texts_are_found() -> None:
    """The walk finds what is on screen, in errors and in the help of commands, and no docstrings."""
    found = {text for path in SOURCES for _, text in texts(path)}
    assert {"Incorrect name or password.", "Import files into a slicer."} <= found
    assert (texts.__doc__ or "") not in found
    assert len(found) > 500


def test_variables_are_nouns() -> None:
    """A function's variables are called what they hold, not `found` or `known`."""
    participles = set(PARTICIPLES.split())
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {name}"
        for path in SOURCES
        for function in ast.walk(parse(path))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if (name := _variable(node)) in participles
    ]
    assert not named, "\n" + "\n".join(named)


def _variable(node: ast.AST) -> str | None:
    if isinstance(node, ast.arg):
        return node.arg
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
