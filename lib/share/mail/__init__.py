"""Mail: saved views and alerts that come by mail, and what the desk tells a person.

`tell(engine, settings, person, subject, *parts)` mails something to a person: parts are texts, `FigureTable`,
`Remark`, `Picture` and `Link`.
"""

from lib.serving.mail_server import MailServer
from lib.share.mail.letter import Attachment, FigureRow, FigureTable, Letter, Link, Part, Picture, Remark
from lib.share.mail.outbox import send, tell
from lib.share.mail.post import MailWriter, posting
from lib.share.mail.unsubscribe import PATH, Unsubscriber

__all__ = [
    "PATH",
    "Attachment",
    "FigureRow",
    "FigureTable",
    "Letter",
    "Link",
    "MailServer",
    "MailWriter",
    "Part",
    "Picture",
    "Remark",
    "Unsubscriber",
    "posting",
    "send",
    "tell",
]  # fmt: skip
