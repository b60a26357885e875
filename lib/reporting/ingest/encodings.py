"""Detect a file's character encoding and read it as UTF-8."""

import codecs
import re
from collections.abc import Iterable, Iterator

import charset_normalizer

from lib.wire.errors import ImportRefused

UTF_8 = "utf-8"
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CANDIDATES = [
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "koi8_r",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr",
]  # fmt: skip
_LATIN = {None, "cp1250", "cp1252"}
_IN_CENTRAL_EUROPEAN_WORDS = re.compile(
    rb"[A-Za-z][\x8a-\x8f\x9a\x9c-\x9f\xb3\xb9\xbe\xbf]|[\xa3\xa5\xaf][a-z]"
)
_INVALID = "\udcff"
_SAMPLE = 1 << 18


def find_encoding(name: str) -> str:
    """Python's name of an encoding that a person gave. ImportRefused when there is none of that name."""
    try:
        codec = codecs.lookup(name).name
        "".encode(codec)
    except (LookupError, TypeError):
        raise ImportRefused(
            f"There is no encoding '{name}'; write utf-8, cp1252, latin-1, utf-16 …"
        ) from None
    return "utf-8-sig" if codec == UTF_8 else codec


def shown_encoding(name: str) -> str:
    """An encoding's name as people know it."""
    return name.removesuffix("-sig").upper().replace("CP125", "Windows-125")


def recognize_encoding(chunks: Iterable[bytes]) -> str:
    """The encoding of a file, from its beginning and from the first piece of it that is not plain ASCII.

    A byte order mark decides; else UTF-8 where that fits, or nearly fits; else a guess.
    """
    for number, chunk in enumerate(chunks):
        if number == 0 and (encoding := _byte_order_mark(chunk) or _unmarked_utf_16(chunk)):
            return encoding
        if not chunk.isascii():
            return UTF_8 if _is_mostly_utf_8(chunk) else _guess(chunk)
    return UTF_8


def utf_8_chunks(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The text of `chunks` in UTF-8, without byte order mark.

    Bytes that mean nothing in `encoding` come out as bytes that are not UTF-8 either, so that whoever
    reads a row finds them.
    """
    if encoding == UTF_8:
        yield from chunks
        return
    if encoding == "utf-8-sig":
        yield from _without_mark(chunks)
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="tranche-invalid")
    for chunk in chunks:
        yield decoder.decode(chunk).encode(UTF_8, "surrogateescape")
    yield decoder.decode(b"", final=True).encode(UTF_8, "surrogateescape")


def _invalid(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _INVALID, error.end


codecs.register_error("tranche-invalid", _invalid)


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for number, chunk in enumerate(chunks):
        yield chunk.removeprefix(codecs.BOM_UTF8) if number == 0 else chunk


def _byte_order_mark(chunk: bytes) -> str | None:
    return next((name for mark, name in _MARKS.items() if chunk.startswith(mark)), None)


def _unmarked_utf_16(chunk: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of Latin text is zero."""
    even, odd = chunk[0:2000:2].count(0), chunk[1:2000:2].count(0)
    if max(even, odd) < 0.4 * len(chunk[:2000]) / 2:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _is_mostly_utf_8(chunk: bytes) -> bool:
    """Whether what is not ASCII is UTF-8 more often than not; a cut-off end does not count."""
    text = codecs.getincrementaldecoder(UTF_8)(errors="replace").decode(chunk)
    broken = text.count("\ufffd")
    return broken == 0 or sum(not character.isascii() for character in text) > 2 * broken


def _guess(chunk: bytes) -> str:
    sample = b"\n".join(line for line in chunk.splitlines() if not line.isascii())[:_SAMPLE]
    best = charset_normalizer.from_bytes(sample, cp_isolation=_CANDIDATES).best()
    if (best.encoding if best else None) not in _LATIN:
        return best.encoding if best else "cp1252"
    central = len(_IN_CENTRAL_EUROPEAN_WORDS.findall(sample))
    return "cp1250" if central > 0.1 * sum(byte > 127 for byte in sample) else "cp1252"
