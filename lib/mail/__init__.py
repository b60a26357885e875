"""Mail: saved views and alerts that come by mail, and what the desk tells a person.

`tell(engine, settings, person, subject, *parts)` mails something to a person: parts are texts, `Rows`,
`Remark`, `Picture` and `Link`.
"""

from lib.mail.letter import Attachment, Letter, Link, Part, Picture, Remark, Row, Rows
from lib.mail.outbox import tell
from lib.mail.post import Writer, posting
from lib.mail.server import MailServer
from lib.mail.unsubscribe import PATH, Unsubscriber

__all__ = [
    "PATH", "Attachment", "Letter", "Link", "MailServer", "Part", "Picture", "Remark", "Row", "Rows",
    "Unsubscriber", "Writer", "posting", "tell",
]  # fmt: skip
