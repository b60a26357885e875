"""Checksums of a layout's files: a CRC-32 of every 64 KiB.

Opening a file checks its size and some blocks, the first, the last and others by chance: a small file is
checked whole, a large one in milliseconds. `tranche verify` checks every block. What a file has beyond its
size was appended for a later layout (earlier.py); it is neither read nor checked.
"""

import base64
import random
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

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
    def of(cls, path: Path, earlier: "Sum | None" = None, same: int = 0) -> "Sum":
        """Read the file, except for blocks within its first `same` bytes: those are as in `earlier`."""
        crcs = earlier.crcs[: same // BLOCK].tolist() if earlier else []
        with path.open("rb") as file:
            file.seek(len(crcs) * BLOCK)
            while block := file.read(BLOCK):
                crcs.append(zlib.crc32(block))
        packed = np.array(crcs, dtype="<u4").tobytes()
        return cls(path.stat().st_size, base64.b64encode(packed).decode("ascii"))

    @property
    def crcs(self) -> npt.NDArray[np.uint32]:
        """The CRC-32 of each block."""
        return np.frombuffer(base64.b64decode(self.blocks), "<u4")

    def check_size(self, path: Path) -> None:
        """Raise Damaged where the file is missing, or shorter."""
        try:
            size = path.stat().st_size
        except OSError as error:
            raise Damaged(f"{path.name}: {error.strerror}") from None
        if size < self.size:
            raise Damaged(f"{path.name} has {size:,} bytes instead of {self.size:,}")

    def check(self, path: Path, whole: bool = False) -> None:
        """Raise Damaged where a block, of some or of the `whole` file, is not as it was written."""
        self.check_size(path)
        self._check(path, _places(len(self.crcs), whole))

    def check_edge(self, path: Path, at: int) -> None:
        """The same for the block that the byte `at` cuts in two."""
        self.check_size(path)
        if at % BLOCK:
            self._check(path, [at // BLOCK])

    def _check(self, path: Path, blocks: list[int]) -> None:
        crcs = self.crcs
        try:
            with path.open("rb") as file:
                for number in blocks:
                    start = number * BLOCK
                    file.seek(start)
                    if zlib.crc32(file.read(min(BLOCK, self.size - start))) != crcs[number]:
                        raise Damaged(f"{path.name} is changed within {BLOCK:,} bytes of {start:,}")
        except OSError as error:
            raise Damaged(f"{path.name}: {error.strerror}") from None


def _places(blocks: int, whole: bool) -> list[int]:
    if whole or blocks <= SAMPLED:
        return list(range(blocks))
    return [0, *sorted(random.sample(range(1, blocks - 1), SAMPLED - 2)), blocks - 1]
