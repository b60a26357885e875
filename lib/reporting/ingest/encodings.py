"""The encoding of a text, and its bytes in UTF-8."""

import codecs
import re
from collections.abc import Iterable, Iterator

import charset_normalizer

from lib.wire.errors import ImportRefused

UTF_8 = "utf-8"
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
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
_LONE_LETTER = re.compile(rb"(?<=[A-Za-z])[\x80-\xff](?![\x80-\xff])|(?<![\x80-\xff])[\x80-\xff](?=[A-Za-z])")
_INVALID = "\udcff"
_GUESSED_BYTES = 1 << 18


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
            return UTF_8 if _is_mostly_utf_8(chunk) else _guess_encoding(chunk)
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
        for number, chunk in enumerate(chunks):
            yield chunk.removeprefix(codecs.BOM_UTF8) if number == 0 else chunk
        return
    codecs.register_error("tranche-invalid", _invalid)
    decoder = codecs.getincrementaldecoder(encoding)(errors="tranche-invalid")
    for chunk in chunks:
        yield decoder.decode(chunk).encode(UTF_8, "surrogateescape")
    yield decoder.decode(b"", final=True).encode(UTF_8, "surrogateescape")


def is_utf_8(data: bytes) -> bool:
    """Whether bytes are a text in UTF-8."""
    if data.isascii():
        return True
    try:
        data.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True


def _byte_order_mark(chunk: bytes) -> str | None:
    return next((name for mark, name in _BYTE_ORDER_MARKS.items() if chunk.startswith(mark)), None)


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


def _guess_encoding(chunk: bytes) -> str:
    sample = b"\n".join(line for line in chunk.splitlines() if not line.isascii())[:_GUESSED_BYTES]
    best = charset_normalizer.from_bytes(sample, cp_isolation=_CANDIDATES).best()
    is_latin = best is None or best.encoding in _LATIN
    if best and not is_latin and (best.encoding == "cp1254" or not _has_lone_letters(sample)):
        return best.encoding
    central = len(_IN_CENTRAL_EUROPEAN_WORDS.findall(sample))
    return "cp1250" if central > 0.1 * sum(byte > 127 for byte in sample) else "cp1252"


def _has_lone_letters(sample: bytes) -> bool:
    """Whether most bytes that are not ASCII stand alone beside Latin letters, as in Köln: in no other script.

    Of a few such words alone, charset_normalizer makes Chinese.
    """
    runs, lone = len(re.findall(rb"[\x80-\xff]+", sample)), len(_LONE_LETTER.findall(sample))
    return lone > 0.6 * runs


def _invalid(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _INVALID, error.end
