"""A mail from its parts: as plain text, and as HTML of tables and inline styles, as mail programs need it.

Parts are a text, figures, a list, a picture and a link. Texts are escaped, and colors are those of the mail
program, so that light and dark are its own. What comes from people (names of views, values of fields) can't
break out: a header is one line (RFC 5322, 2.2), and the HTML has no element of theirs.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from html import escape
from typing import Literal

from lib.figures.palette import FONT, GRAY, LIGHT
from lib.wire.text import straight

LONGEST_SUBJECT, WIDTH = 150, 600
Tone = Literal["plain", "good", "bad", "quiet"]
COLORS: dict[Tone, str] = {
    "plain": "inherit",
    "good": LIGHT["green"],
    "bad": LIGHT["red"],
    "quiet": "inherit",
}
QUIET, SMALL, LINE = "opacity:.75", "font-size:13px", f"border-top:1px solid {GRAY}"
HEAD = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">'
    '<meta name="supported-color-schemes" content="light dark">'
)
TABLE = '<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"'


@dataclass(frozen=True)
class FigureRow:
    """A line of figures: its label, its value, and a remark below, in a color that says good or bad news."""

    label: str
    value: str
    remark: str = ""
    tone: Tone = "plain"


@dataclass(frozen=True)
class FigureTable:
    """Lines of figures under a title (which may be empty)."""

    rows: Sequence[FigureRow]
    title: str = ""


@dataclass(frozen=True)
class Remark:
    """A text in small print."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A PNG, twice as many pixels as it is shown in, and what it shows in words."""

    png: bytes
    alt: str


@dataclass(frozen=True)
class Link:
    """A button that leads somewhere."""

    label: str
    address: str


@dataclass(frozen=True)
class SmallLink(Link):
    """A link in small print."""


@dataclass(frozen=True)
class Attachment:
    """A file: its name, `text/html` or another type, and its content."""

    name: str
    kind: str
    content: bytes


Part = str | FigureTable | Remark | Picture | Link | SmallLink


@dataclass(frozen=True)
class Letter:
    """What a mail says: the subject, the parts in their order, and files."""

    subject: str
    parts: Sequence[Part]
    files: Sequence[Attachment] = ()


def message(
    letter: Letter, sender: str, recipient: str, stop: str = "", message_id: str = ""
) -> EmailMessage:
    """The mail. `stop` is the address that ends such mails (https for the one-click header of RFC 8058).

    `message_id` is that of an earlier try, the same of which is another copy (RFC 5322, 3.6.4).
    """
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = _in_header(letter.subject)[:LONGEST_SUBJECT]
    mail["From"], mail["To"] = sender, recipient
    mail["Date"] = format_datetime(datetime.now(UTC))
    mail["Message-ID"] = message_id or new_message_id(sender)
    mail["Auto-Submitted"] = "auto-generated"
    if stop:
        mail["List-Unsubscribe"] = f"<{stop}>"
        if stop.startswith("https://"):
            mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    parts: list[Part] = [*letter.parts, *([SmallLink("Stop these mails", stop)] if stop else [])]
    mail.set_content("\n\n".join(filter(None, map(_as_text, parts))) + "\n")
    pictures = [(part, make_msgid(domain="tranche.invalid")) for part in parts if isinstance(part, Picture)]
    names = iter([name for _, name in pictures])
    blocks = "".join(
        f'<tr><td style="padding:6px 0;word-break:break-word">{_as_html(part, names)}</td></tr>'
        for part in parts
    )
    mail.add_alternative(
        f"{HEAD}<title>{_html(letter.subject)}</title></head>"
        f'<body style="margin:0;padding:16px;font-family:{FONT};font-size:15px;line-height:1.45">'
        f'{TABLE} style="max-width:{WIDTH}px;margin:0 auto">{blocks}</table></body></html>',
        subtype="html",
    )
    page = mail.get_payload()[1]  # type: ignore[index]
    for picture, name in pictures:
        page.add_related(picture.png, "image", "png", cid=name, filename="chart.png", disposition="inline")  # type: ignore[union-attr]
    for file in letter.files:
        main, _, sub = file.kind.partition("/")
        mail.add_attachment(file.content, maintype=main, subtype=sub, filename=_in_header(file.name))
        if main == "text":
            [*mail.iter_attachments()][-1].set_param("charset", "utf-8")
    return mail


def new_message_id(sender: str) -> str:
    """A Message-ID of the sender's domain, which no other mail has."""
    return make_msgid(domain=sender.rpartition("@")[2])


def one_line(text: str) -> str:
    """The text in one line, without control characters and marks that change the direction of reading."""
    visible = "".join(
        " " if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") else character
        for character in text
    )
    return " ".join(straight(visible).split())


def _in_header(text: str) -> str:
    """The same for a header, where an encoded word (RFC 2047) would be decoded, line breaks and all."""
    return one_line(text).replace("=?", "= ?")


def _as_text(part: Part) -> str:
    match part:
        case str():
            return one_line(part)
        case Remark():
            return one_line(part.text)
        case Picture():
            return f"[{one_line(part.alt)}]"
        case Link():
            return f"{one_line(part.label)}: {part.address}"
        case FigureTable():
            lines = [
                f"  {one_line(f'{row.label}: {row.value}')}"
                f"{f' ({one_line(row.remark)})' if row.remark else ''}"
                for row in part.rows
            ]
            return "\n".join([*([one_line(part.title)] if part.title else []), *lines])


def _as_html(part: Part, names: Iterator[str]) -> str:
    match part:
        case str():
            return _html(part)
        case Remark():
            return f'<span style="{SMALL};{QUIET}">{_html(part.text)}</span>'
        case SmallLink():
            style = f"{SMALL};{QUIET};color:inherit"
            return f'<a href="{escape(part.address)}" style="{style}">{_html(part.label)}</a>'
        case Picture():
            source = f"cid:{next(names).strip('<>')}"
            return (
                f'<img src="{source}" alt="{_html(part.alt)}" width="{WIDTH}" '
                f'style="display:block;width:100%;height:auto;border-radius:4px;background:{LIGHT["background"]}">'
            )
        case Link():
            style = f"display:inline-block;padding:9px 16px;border-radius:4px;background:{LIGHT['primary']}"
            style += f";color:{LIGHT['background']};text-decoration:none"
            return f'<a href="{escape(part.address)}" style="{style}">{_html(part.label)}</a>'
        case FigureTable():
            title = (
                f'<div style="font-weight:600;padding:6px 0">{_html(part.title)}</div>' if part.title else ""
            )
            return f"{title}{TABLE}>{''.join(map(_row, part.rows))}</table>"


def _row(row: FigureRow) -> str:
    dim = f";{QUIET}" if row.tone == "quiet" else ""
    style = f"{SMALL};color:{COLORS[row.tone]}{dim}"
    remark = f'<br><span style="{style}">{_html(row.remark)}</span>' if row.remark else ""
    value = f'<span style="font-weight:600;white-space:nowrap">{_html(row.value)}</span>'
    label, cell = f"padding:7px 8px 7px 0;{LINE}", f"padding:7px 0;{LINE}"
    return (
        f'<tr><td valign="top" style="{label}">{_html(row.label)}</td>'
        f'<td valign="top" align="right" style="{cell}">{value}{remark}</td></tr>'
    )


def _html(text: str) -> str:
    return escape(one_line(text))
