"""Checksums of a layout's files: a CRC-32 of every 64 KiB.

No block of a mapped file is used before it was verified: an array verifies the blocks that a question reads
of it, unless that is done (engine.py verifies all of them in the background, and again after a time). A file
that was written to since, or whose times were set, starts over. What a file has beyond its size was appended
for a later layout (earlier.py); it is neither read nor verified.

zlib's CRC-32 runs at 2 GB/s a thread without holding the interpreter's lock, and needs no further library.
"""

import base64
import math
import os
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

BLOCK = 1 << 16

Blocks = npt.NDArray[np.int64]
Scalar = TypeVar("Scalar", bound=np.generic)


class DamagedLayout(Exception):
    """A file of a layout that is not as it was written; `reason` names it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class OtherFormat(DamagedLayout):
    """A layout that another version of the program wrote."""


class ReplacedLayout(Exception):
    """Another file has taken the place of one that was opened: the layout was rebuilt or removed."""


class FileState(NamedTuple):
    """Changes with every change of a file: the change time can't be put back, as the others can."""

    device: int
    inode: int
    size: int
    mtime: int
    ctime: int

    @classmethod
    def of(cls, status: os.stat_result) -> "FileState":
        """The state in this answer of the file system."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


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
        content = np.array(crcs, dtype="<u4").tobytes()
        return cls(path.stat().st_size, base64.b64encode(content).decode("ascii"))

    @property
    def crcs(self) -> npt.NDArray[np.uint32]:
        """The CRC-32 of each block."""
        return np.frombuffer(base64.b64decode(self.blocks), "<u4")

    def check(self, path: Path) -> None:
        """Raise DamagedLayout unless every byte of the file is as it was written."""
        StoredFile(path, self).verify()

    def check_edge(self, path: Path, at: int) -> None:
        """The same for the block that the byte `at` cuts in two."""
        if at % BLOCK:
            StoredFile(path, self).verify(slice(at // BLOCK, at // BLOCK + 1))


class StoredFile:
    """A file of a layout, and which of its blocks are verified. Safe among threads.

    It is opened by its name whenever blocks are read. Raises ReplacedLayout where that is another file by
    then; DamagedLayout where it is missing, shorter, or not as it was written.
    """

    def __init__(self, path: Path, checksum: Sum) -> None:
        self.path, self._size, self._crcs = path, checksum.size, checksum.crcs
        self._lock = threading.Lock()
        self._state = self._read_state()
        self._verified_blocks = np.zeros(len(self._crcs), dtype=bool)
        self.is_verified = not len(self._crcs)

    def map(self, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        """The file's beginning as an array, mapped and read-only; nothing of it is verified by this."""
        # its size was looked at: to read a map beyond the end of its file kills the process (SIGBUS)
        with self._open() as file:
            return np.asarray(np.memmap(file, dtype, "r", shape=shape))

    def refresh(self) -> bool:
        """Whether the file is unchanged; otherwise all of its blocks need to be verified anew."""
        state = self._read_state()
        if state == self._state:
            return True
        self._check_identity(state)
        with self._lock:
            self._state = state
            self._verified_blocks = np.zeros(len(self._crcs), dtype=bool)
            self.is_verified = not len(self._crcs)
        return False

    def verify(self, blocks: slice | Blocks = slice(None), again: bool = False) -> None:
        """Verify those of these blocks that aren't verified yet, or all of them `again`."""
        flags = self._verified_blocks
        numbers = np.arange(len(flags))[blocks]
        unread = numbers if again else np.unique(numbers[~flags[numbers]])
        if len(unread):
            with self._open() as file:
                for number in unread.tolist():
                    self._verify(file.fileno(), number)
                    flags[number] = True
        with self._lock:
            self.is_verified = bool(self._verified_blocks.all())

    def _verify(self, handle: int, number: int) -> None:
        start = number * BLOCK
        try:
            content = os.pread(handle, min(BLOCK, self._size - start), start)
        except OSError as error:
            raise DamagedLayout(f"{self.path.name}: {error.strerror}") from None
        if zlib.crc32(content) != self._crcs[number]:
            raise DamagedLayout(f"{self.path.name} is changed within {BLOCK:,} bytes of {start:,}")

    def _open(self) -> Any:
        try:
            file = self.path.open("rb", buffering=0)
        except OSError as error:
            raise DamagedLayout(f"{self.path.name}: {error.strerror}") from None
        try:
            self._check_identity(FileState.of(os.fstat(file.fileno())))
        except ReplacedLayout:
            file.close()
            raise
        return file

    def _read_state(self) -> FileState:
        try:
            state = FileState.of(self.path.stat())
        except OSError as error:
            raise DamagedLayout(f"{self.path.name}: {error.strerror}") from None
        if state.size < self._size:
            raise DamagedLayout(f"{self.path.name} has {state.size:,} bytes instead of {self._size:,}")
        return state

    def _check_identity(self, state: FileState) -> None:
        if (state.device, state.inode) != (self._state.device, self._state.inode):
            raise ReplacedLayout


class VerifiedArray(Generic[Scalar]):
    """An array in a file, read by a slice or by places along its first axis: verified, then returned."""

    def __init__(self, file: StoredFile, dtype: str, shape: tuple[int, ...]) -> None:
        self._file, self.dtype = file, np.dtype(dtype)
        self._array: npt.NDArray[Scalar] = np.zeros(shape, dtype) if 0 in shape else file.map(dtype, shape)
        self._width = self.dtype.itemsize * math.prod(shape[1:])

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, places: Any) -> npt.NDArray[Scalar]:
        if not self._file.is_verified:
            if isinstance(places, slice):
                start, stop, _ = places.indices(len(self))
                self._file.verify(slice(start * self._width // BLOCK, -(-stop * self._width // BLOCK)))
            else:
                first = np.atleast_1d(np.asarray(places, np.int64)) * self._width
                last = (first + self._width - 1) // BLOCK
                steps = np.arange(-(-self._width // BLOCK) + 1)
                self._file.verify(np.minimum((first // BLOCK)[:, None] + steps, last[:, None]).ravel())
        values: npt.NDArray[Scalar] = self._array[places]
        return values
