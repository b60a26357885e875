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
PARTICIPLES = (
    "arisen asked begun borne bought brought built caught chosen come dealt done drawn driven fallen fed "
    "felt forgotten found given gone grown held hidden kept known laid lent lost made meant met paid proven "
    "risen said seen sent shown sold sought spent spoken stood struck taken thought thrown told understood "
    "won worn written"
)
ADJECTIVES = "cached connected disabled expected included moved required sampled segmented signed"
"""Those that are the field's own words, or the specification's."""
NOUNS = "bed embed feed need red seed shed speed"
OTHERS = "add_deferred connection_lost connection_made data_received execute_deferred"
"""Names that a library gives to its callbacks."""
BRITISH = re.compile(
    r"colour|catalogue|behaviour|neighbour|honour|favour|grey|centre|misspelt|(label|model|travel)l(ed|ing)"
    r"|(author|emphas|final|initial|normal|optim|organ|recogn|serial|summar|synchron|token)is(e|ing)",
    re.I,
)
YES_NO = "are can did does had has is may should was will"
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
    faults = [
        f"{path.relative_to(ROOT)}:{line}: '{match[0]}', better '{QUAINT[match[0].lower()]}': {text!r}"
        for path in SOURCES
        for line, text in texts(path)
        for match in PATTERN.finditer(text)
    ]
    assert not faults, "\n" + "\n".join(faults)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documents_are_plain(document: Path) -> None:
    """Nor has a document."""
    matches = PATTERN.findall(" ".join(document.read_text(encoding="utf-8").split()))
    assert not matches


def test_texts_are_found() -> None:
    """The walk finds what is on screen, in errors and in the help of commands, and no docstrings."""
    all_texts = {text for path in SOURCES for _, text in texts(path)}
    assert {"Incorrect name or password.", "Import files into a slicer."} <= all_texts
    assert (texts.__doc__ or "") not in all_texts
    assert len(all_texts) > 500


def test_spelling_is_american() -> None:
    """Names, docstrings and texts are spelled as in New York: `color`, `normalize`, `catalog`."""
    lines = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in SOURCES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := BRITISH.search(line))
    ]
    assert not lines, "\n".join(lines)


def test_conclusions_claim_no_more_than_was_measured() -> None:
    """No sentence that concludes from figures says that something always or never is, is proved, or happened
    because of something: it says what was measured, on which days and out of how many."""
    claims = re.compile(
        r"\b(always|never (?!won)|prove[sdn]?|surely|obviously|because|due to|caused by)\b", re.I
    )
    rooms = [
        ROOT / "lib" / room
        for room in ("insight", "reporting/moved", "alerts", "ui/deals/insight", "ui/audience/moved.py")
    ]
    files = [path for path in SOURCES if any(path.is_relative_to(room) for room in rooms)]
    sentences = [f"{path.relative_to(ROOT)}: {text}" for path in files for _, text in texts(path)]
    assert len(sentences) > 50
    assert not [sentence for sentence in sentences if claims.search(sentence)]


def test_names_are_nouns_and_verbs() -> None:
    """Functions, classes and variables are called what they do or hold, not `found` or `wanted`; errors may
    say what happened."""
    errors = ROOT / "lib/wire/errors.py"
    named = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in SOURCES
        for name, line in _names(parse(path), has_classes=path != errors)
        if _is_participle(name)
    ]
    assert not named, "\n" + "\n".join(named)


def _names(tree: ast.Module, has_classes: bool) -> Iterator[tuple[str, int]]:
    """The functions and classes of a file, and the variables of its functions, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and has_classes:
            yield node.name, node.lineno
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno
            for part in ast.walk(node):
                if isinstance(part, ast.arg):
                    yield part.arg, part.lineno
                elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield part.id, part.lineno


def _is_participle(name: str) -> bool:
    words = re.sub("([a-z])([A-Z])", r"\1_\2", name).lower().strip("_").split("_")
    is_question = len(words) > 1 and words[0] in YES_NO.split()
    if name in OTHERS.split() or is_question or words[-1] in f"{ADJECTIVES} {NOUNS}".split():
        return False
    return words[-1].endswith("ed") or words[-1] in PARTICIPLES.split()


@pytest.mark.parametrize("name", ["found", "_linked", "seats_chosen", "Kept"])
def test_participles_are_recognized(name: str) -> None:
    """In whatever style they are written."""
    assert _is_participle(name)


@pytest.mark.parametrize("name", ["matches", "is_linked", "speed", "ConnectedSlicers", "sampled"])
def test_nouns_and_questions_are_none(name: str) -> None:
    """Nor are the words of the field."""
    assert not _is_participle(name)
