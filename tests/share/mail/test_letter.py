"""What a mail is made of: nothing breaks out of a header or of the HTML, and mail programs can show it."""

import email
import re
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail_server import page, plain

from lib.share.mail.letter import Attachment, FigureRow, FigureTable, Letter, Link, Picture, Remark, message

PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")
STOP = "https://desk.example/mail/stop?token=1-abc"
HOSTILE = (
    "x\r\nBcc: eve@evil.example",
    "x\nContent-Type: text/html\n\n<h1>",
    "x\r\n\r\nbody",
    "<img src=x onerror=alert(1)>",
    "\u202egnp.exe",
    "=?utf-8?q?=0D=0ABcc:_eve@evil.example?=",
    "a\u2028b\x00c\ud800d",
    "日本語 ümläut 🎈" * 30,
)
ELEMENTS = {
    "html", "head", "meta", "title", "body", "table", "tr", "td", "span", "div", "br", "a", "img",
}  # fmt: skip


def parsed(letter: Letter, stop: str = STOP) -> EmailMessage:
    """The mail as a mail program reads it."""
    mail = message(letter, "desk@desk.example", "ada@reader.example", stop)
    return email.message_from_bytes(bytes(mail), policy=default)  # type: ignore[return-value]


def everywhere(text: str) -> Letter:
    """A letter with this text in each place that has one."""
    return Letter(
        text,
        [
            text,
            FigureTable([FigureRow(text, text, text)], text),
            Remark(text),
            Picture(PNG, text),
            Link(text, STOP),
        ],
        [Attachment(f"{text}.html", "text/html", b"<p>")],
    )


class Elements(HTMLParser):
    """The elements of a page, and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One element."""
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def check(text: str) -> None:
    """Check that a mail with this text everywhere has the headers and the elements of any mail."""
    mail, usual = parsed(everywhere(text)), parsed(everywhere("x"))
    assert mail.keys() == usual.keys()
    assert mail["To"] == "ada@reader.example" and mail["Bcc"] is None
    assert [part.get_content_type() for part in mail.walk()] == [
        part.get_content_type() for part in usual.walk()
    ]
    assert Elements(page(mail)).names == ELEMENTS == Elements(page(usual)).names
    assert Elements(page(mail)).attributes == Elements(page(usual)).attributes


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_texts(text: str) -> None:
    """A name with line breaks, headers, elements or marks of direction adds none of these to a mail."""
    check(text)


@given(st.text(st.characters(), min_size=1, max_size=200))
def test_any_text_stays_a_text(text: str) -> None:
    """Nor does any other text."""
    check(text)


def test_subjects_keep_their_letters() -> None:
    """A subject of any script arrives as it was; a long one is cut."""
    assert parsed(Letter("Ümläut 日本語: 14–20 Nov", ["x"]))["Subject"] == "Ümläut 日本語: 14–20 Nov"
    assert len(parsed(Letter("x" * 500, ["x"]))["Subject"]) == 150


def test_mail_programs_can_show_it() -> None:
    """The HTML has tables and inline styles alone; its picture is in the mail, and nothing is asked for."""
    mail = parsed(everywhere("A text"))
    html = page(mail)
    assert not re.search(r"<style|<script|<link|class=|http://|url\(", html)
    (name,) = re.findall(r'src="cid:([^"]+)"', html)
    (picture,) = [part for part in mail.walk() if part.get_content_type() == "image/png"]
    assert picture["Content-ID"] == f"<{name}>" and picture.get_content() == PNG
    assert [file.get_filename() for file in mail.iter_attachments()] == ["A text.html"]
    assert max(map(len, bytes(mail).splitlines())) <= 998


def test_the_text_says_all_that_the_page_says() -> None:
    """The part in plain text has the figures, remarks, links and what the picture shows."""
    rows = FigureTable([FigureRow("Spend", "$12", "+3 %")], "Figures")
    mail = parsed(
        Letter(
            "x",
            [
                "Hello",
                rows,
                Remark("small"),
                Picture(PNG, "A chart"),
                Link("Open", "https://a.example/?x=1&y=2"),
            ],
        )
    )
    text = plain(mail)
    for part in (
        "Hello",
        "Figures",
        "  Spend: $12 (+3 %)",
        "small",
        "[A chart]",
        "Open: https://a.example/?x=1&y=2",
        STOP,
    ):
        assert part in text


def test_how_mails_are_stopped() -> None:
    """A mail that comes again and again has both headers of RFC 8058; one without https has no one-click."""
    mail = parsed(Letter("x", ["x"]))
    assert mail["List-Unsubscribe"] == f"<{STOP}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert STOP.replace("&", "&amp;") in page(mail)
    plain_http = parsed(Letter("x", ["x"]), "http://localhost:8501/mail/stop?token=1-abc")
    assert plain_http["List-Unsubscribe"] and plain_http["List-Unsubscribe-Post"] is None
    assert parsed(Letter("x", ["x"]), "")["List-Unsubscribe"] is None
