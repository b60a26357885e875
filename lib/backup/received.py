"""Reading an archive that came from outside: every member is checked while it is unpacked into a new folder.

Nothing of it is executed. A member that could be written anywhere but into that folder, or that is anything
but a plain file, is refused.
"""

import hashlib
import os
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

from pydantic import ValidationError

from lib import private
from lib.backup.contents import DATABASE, HOME, MANIFEST, Damage, Inventory, Member

PIECE_BYTES = 1 << 20
LARGEST_MANIFEST = 256 << 20


def receive(archive: Path, folder: Path) -> Inventory:
    """Unpack an archive into an empty folder and return its manifest, which all files agree with.

    Damage says what is wrong. Files are their owner's alone, whatever the archive says of them.
    """
    try:
        with tarfile.open(archive, mode="r:") as tar:
            found, contents = _unpacked(tar, folder)
    except (tarfile.TarError, EOFError) as error:
        raise Damage(f"{archive} is no backup, or damaged: {error}") from None
    except UnicodeError:
        raise Damage(f"{archive} is no backup, or damaged: a name can't be read") from None
    if contents is None:
        raise Damage(f"{archive} is not whole: its last part, {MANIFEST}, is missing")
    _compare(found, contents.members)
    return contents


def _unpacked(tar: tarfile.TarFile, folder: Path) -> tuple[dict[str, Member], Inventory | None]:
    found: dict[str, Member] = {}
    for member in tar:
        name = _checked(member, found)
        content = tar.extractfile(member)
        if content is None:
            raise Damage(f"The member '{_shown(name)}' is no plain file")
        if name == MANIFEST:
            return found, _manifest(content, member.size)
        found[name] = _written(content, member.size, folder / name)
    return found, None


def _checked(member: tarfile.TarInfo, found: dict[str, Member]) -> str:
    """The name of a member that may be written; Damage for every other one."""
    name, path = member.name, PurePosixPath(member.name)
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        raise Damage(f"The member '{_shown(name)}' is no plain file (a link, a device, a folder): refused")
    is_below = len(path.parts) > 1 and path.parts[0] in (HOME, DATABASE)
    is_plain = path.as_posix() == name and ".." not in path.parts and name.isprintable() and "\\" not in name
    if name != MANIFEST and not (is_below and is_plain and not path.is_absolute()):
        raise Damage(f"The member '{_shown(name)}' would be written outside of the data directory: refused")
    if name in found:
        raise Damage(f"The member '{_shown(name)}' is there twice")
    return name


def _manifest(content: IO[bytes], size: int) -> Inventory:
    if size > LARGEST_MANIFEST:
        raise Damage(f"{MANIFEST} is larger than {LARGEST_MANIFEST:,} bytes")
    try:
        return Inventory.model_validate_json(content.read())
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or MANIFEST
        raise Damage(
            f"{MANIFEST} can't be read: {_shown(where)}: {first['msg']}. It is damaged, or of a later "
            "version of Tranche"
        ) from None


def _written(content: IO[bytes], size: int, path: Path) -> Member:
    digest, written = hashlib.sha256(), 0
    try:
        path.parent.mkdir(mode=private.FOLDER_MODE, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, private.FILE_MODE)
    except (FileExistsError, NotADirectoryError):
        raise Damage(f"The member '{_shown(path.name)}' is a file and a folder at once") from None
    with os.fdopen(handle, "wb") as file:
        while piece := content.read(PIECE_BYTES):
            file.write(piece)
            digest.update(piece)
            written += len(piece)
    if written != size:
        raise Damage(f"The archive ends within '{_shown(path.name)}'")
    return Member(size=size, sha256=digest.hexdigest())


def _compare(found: dict[str, Member], stated: dict[str, Member]) -> None:
    """Damage for the first member that is not as the manifest states it."""
    for name in sorted(found.keys() | stated.keys()):
        if name not in stated:
            raise Damage(f"The member '{_shown(name)}' is not in {MANIFEST}")
        if name not in found:
            raise Damage(f"The member '{_shown(name)}' is missing")
        if found[name] != stated[name]:
            raise Damage(f"The member '{_shown(name)}' is damaged: its SHA-256 digest is another one")


def _shown(name: str) -> str:
    """A name from outside, fit for a line of a terminal."""
    return "".join(character if character.isprintable() else "?" for character in name)[:200]
