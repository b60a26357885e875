"""Slicers on disk: definitions, rows and mappings, below one root.

In `<project>/<slicer>/` stand

    manifest.json                           what counts (slicer.py)
    rows/day=2026-01-31/<import>.parquet    rows as imported, by day in the slicer's own zone
    mappings/<digest>.json                  code → description
    layout/<version>/                       the engine's resident layout: a cache
    lock                                    held while an import writes

and whatever else is found in rows or mappings was left behind by an import that did not finish.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

from lib.slicers.definition import Definition
from lib.slicers.warehouse.slicer import (
    MANIFEST,
    StoredSlicer,
    mark,
    read_manifest,
    replace_manifest,
    stored_slicer,
    sync_folder,
)
from lib.slicers.warehouse.writer import Mode, Writer, reserve, slicer_lock, writing
from lib.wire import private
from lib.wire.errors import AccessError, BadRequest, Misconfigured
from lib.wire.text import DOTS

__all__ = ["Mode", "StoredSlicer", "Warehouse", "Writer"]
_NAME_LENGTH, _FOLDER_LENGTH = 80, 250


class Warehouse:
    """All slicers below one root folder."""

    def __init__(
        self,
        root: Path,
        current: Callable[[StoredSlicer], StoredSlicer] = lambda slicer: slicer,
        earlier: Callable[[], Sequence[tuple[str, str]]] = lambda: (),
    ) -> None:
        """`current` gives a slicer whose rows lie in a database the days that its table has now.

        `earlier` gives the slicers that there were when somebody last looked.
        """
        self.root, self._current, self._earlier = root, current, earlier

    def slicers(self) -> list[tuple[str, str]]:
        """Project and name of every slicer, sorted."""
        manifests = self.root.glob(f"*/*/{MANIFEST}")
        return sorted((unquote(path.parent.parent.name), unquote(path.parent.name)) for path in manifests)

    def check(self) -> None:
        """Misconfigured where the folder has no slicer, though some are known: it vanished, or is empty."""
        if not self.slicers() and (slicers := self._earlier()):
            count = "a slicer" if len(slicers) == 1 else f"{len(slicers)} slicers"
            raise Misconfigured(
                f"The folder that had {count} is missing or empty; `tranche check` names the folder"
            )

    def has(self, project: str, slicer: str) -> bool:
        """Whether there is such a slicer."""
        return (self._folder(project, slicer) / MANIFEST).exists()

    def definition(self, project: str, slicer: str) -> Definition:
        """The definition of a slicer, without asking any database. Errors as of `open`."""
        return self._slicer(project, slicer).definition

    def open(self, project: str, slicer: str) -> StoredSlicer:
        """The slicer as it is now. AccessError when there is none of that name, Misconfigured as `check`."""
        stored_slicer = self._slicer(project, slicer)
        return stored_slicer if stored_slicer.definition.source is None else self._current(stored_slicer)

    def _slicer(self, project: str, slicer: str) -> StoredSlicer:
        try:
            folder = self._folder(project, slicer)
        except BadRequest:
            raise AccessError from None
        state = mark(folder / MANIFEST)
        if state is None:
            self.check()
            raise AccessError
        return stored_slicer(folder, project, slicer, state)

    @contextmanager
    def lock(self, project: str, slicer: str) -> Iterator[None]:
        """Keep others from changing the slicer during the block; ImportRefused where one is at it already.

        A name that has no slicer afterwards leaves no folder behind.
        """
        folder = private.folder(self._folder(project, slicer))
        with reserve(folder, f"{project}/{slicer}"):
            try:
                yield
            finally:
                if not (folder / MANIFEST).exists():
                    shutil.rmtree(folder)
                    _remove_empty(folder.parent)

    @contextmanager
    def writer(
        self,
        project: str,
        slicer: str,
        definition: Definition,
        mappings: Mapping[str, Mapping[str, str]] | None = None,
        mode: Mode = "create",
    ) -> Iterator[Writer]:
        """A Writer into the slicer, one at a time; leaving without a commit leaves the slicer as it was.

        `mappings` (name → code → description) are added to those that the slicer has. ImportRefused when
        the mode does not suit what is there, another import is writing, or a mapping is missing.
        """
        folder = self._folder(project, slicer)
        with writing(folder, f"{project}/{slicer}", definition, mappings or {}, mode) as writer:
            yield writer

    def connect(
        self,
        project: str,
        slicer: str,
        definition: Definition,
        mappings: Mapping[str, Mapping[str, str]] | None = None,
        replace: bool = False,
    ) -> None:
        """Put a slicer in place whose rows stay in the table of its `source`. ImportRefused as `writer`."""
        mode: Mode = "replace" if replace and self.has(project, slicer) else "create"
        with self.writer(project, slicer, definition, mappings, mode) as writer:
            writer.connect()

    def confirm(self, project: str, slicer: str) -> list[str]:
        """Take the marks of guesses off a slicer's fields; the names of these. Errors as of `remove`."""
        with self._change(project, slicer) as folder:
            manifest = read_manifest(folder)
            names = manifest.definition.guesses if manifest else []
            if manifest and names:
                definition = manifest.definition.without_guesses()
                replace_manifest(folder, manifest.model_copy(update={"definition": definition}))
        return names

    @contextmanager
    def remove(self, project: str, slicer: str) -> Iterator[None]:
        """Remove a slicer and its rows at the end of the block, which an error ends without a change.

        BadRequest where there is none, ImportRefused while an import is running.
        """
        with self._change(project, slicer) as folder:
            yield
            # first, so that a removal that ends half-way leaves no slicer with some of its rows
            (folder / MANIFEST).unlink()
            shutil.rmtree(folder)
        _remove_empty(folder.parent)

    @contextmanager
    def rename(self, project: str, slicer: str, to_project: str, to_slicer: str) -> Iterator[None]:
        """Give a slicer another name at the end of the block; see `remove`. BadRequest for a name in use."""
        target = self._folder(to_project, to_slicer)
        if target.exists():
            raise BadRequest(f"There is a slicer {to_project}/{to_slicer} already")
        with self._change(project, slicer) as folder:
            yield
            private.folder(target.parent)
            folder.rename(target)
            for parent in (target.parent, folder.parent):
                sync_folder(parent)
        _remove_empty(folder.parent)

    @contextmanager
    def _change(self, project: str, slicer: str) -> Iterator[Path]:
        folder = self._folder(project, slicer)
        if not (folder / MANIFEST).exists():
            raise BadRequest(f"There is no slicer {project}/{slicer}")
        with slicer_lock(folder, f"{project}/{slicer}"):
            yield folder

    def _folder(self, project: str, slicer: str) -> Path:
        return self.root / _folder_name("project", project) / _folder_name("slicer", slicer)


def _remove_empty(folder: Path) -> None:
    """Remove the folder of a project that has no slicers any more."""
    if not any(folder.iterdir()):
        folder.rmdir()


def _folder_name(kind: str, name: str) -> str:
    """A name as the name of a folder: any text but dots, without slashes, asterisks or control characters."""
    if not name or name != name.strip() or len(name) > _NAME_LENGTH:
        raise BadRequest(
            f"A {kind}'s name has 1 to {_NAME_LENGTH} characters, no spaces around them: '{name}'"
        )
    if any(character in "/*\\" or not character.isprintable() for character in name):
        raise BadRequest(f"A {kind}'s name can't contain slashes, asterisks or control characters: {name!r}")
    if name in DOTS:
        raise BadRequest(f"A {kind}'s name can't be '{name}', which means a folder; use letters")
    folder = quote(name, safe=" ")
    if len(folder) > _FOLDER_LENGTH:
        raise BadRequest(f"A {kind}'s name may have fewer letters that are not plain: '{name}'")
    return f"%2E{folder[1:]}" if folder.startswith(".") else folder
