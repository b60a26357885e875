"""What leaves the desk. You may ignore what is behind these names; others import them from here.

    snapshots                    a module: the values of a document (Snapshot, Board, Table, Chart…)
    page                         a module: a document as one HTML file, which makes no network requests
    render                       a module: a document as a file of any kind (HTML, PDF, PNG); a chart as PNG
    letters                      a module: the values of a mail (Letter, FigureTable, Link…)
    tell                         mail something to a person, soon; False without an address or a mail server
    LinkPages(settings, …)       the pages of share links: which is open, to whom; others make their content
    Unsubscriber                 the address in a mail that ends such mails
    posting(settings, writer)    during a block: mails that are due, as a MailWriter writes them, are sent
    watching(settings)           during a block: alerts that are due are checked, and told to the webhook

`tell` raises StoreUnavailable, a share link what its content does. What draws is imported with the first
picture: matplotlib takes a second and 45 MB.
"""

from lib.share.alerts.watch import watching
from lib.share.link_pages import LinkPages
from lib.share.mail import letter as letters
from lib.share.mail.outbox import tell
from lib.share.mail.post import MailWriter, posting
from lib.share.mail.unsubscribe import Unsubscriber
from lib.share.snapshot import models as snapshots
from lib.share.snapshot import page, render

__all__ = [
    "LinkPages",
    "MailWriter",
    "Unsubscriber",
    "letters",
    "page",
    "posting",
    "render",
    "snapshots",
    "tell",
    "watching",
]
