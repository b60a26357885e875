"""Checksums of a layout's files: a CRC-32 of every 64 KiB.

Opening a file checks its size and some blocks, the first, the last and others by chance: a small file is
checked whole, a large one in milliseconds. `tranche verify` checks every block.
"""

import base64
import random
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

BLOCK = 1 << 16
SAMPLED = 32


class Damaged(Exception):
    """A file of a layout that is not as it was written; `reason` names it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Sum:
    """A file's size, and the CRC-32 of each of its blocks: 32 bits, little-endian, as Base64."""

    size: int
    blocks: str

    @classmethod
    def of(cls, path: Path) -> "Sum":
        """Read the whole file."""
        crcs = []
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                crcs.append(zlib.crc32(block))
        packed = np.array(crcs, dtype="<u4").tobytes()
        return cls(path.stat().st_size, base64.b64encode(packed).decode("ascii"))

    def check_size(self, path: Path) -> None:
        """Raise Damaged where the file is missing, or of another size."""
        try:
            size = path.stat().st_size
        except OSError as error:
            raise Damaged(f"{path.name}: {error.strerror}") from None
        if size != self.size:
            raise Damaged(f"{path.name} has {size:,} bytes instead of {self.size:,}")

    def check(self, path: Path, whole: bool = False) -> None:
        """Raise Damaged where a block, of some or of the `whole` file, is not as it was written."""
        self.check_size(path)
        crcs = np.frombuffer(base64.b64decode(self.blocks), "<u4")
        try:
            with path.open("rb") as file:
                for number in _places(len(crcs), whole):
                    file.seek(number * BLOCK)
                    if zlib.crc32(file.read(BLOCK)) != crcs[number]:
                        raise Damaged(f"{path.name} is changed within {BLOCK:,} bytes of {number * BLOCK:,}")
        except OSError as error:
            raise Damaged(f"{path.name}: {error.strerror}") from None


def of_folder(folder: Path) -> dict[str, Sum]:
    """The checksums of all files in a folder, by name."""
    return {path.name: Sum.of(path) for path in sorted(folder.iterdir())}


def _places(blocks: int, whole: bool) -> list[int]:
    if whole or blocks <= SAMPLED:
        return list(range(blocks))
    return [0, *sorted(random.sample(range(1, blocks - 1), SAMPLED - 2)), blocks - 1]
