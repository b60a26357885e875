"""What leaves the desk. You may ignore what is behind these names; others import them from here.

    snapshots                    a module: the values of a document (Snapshot, Board, Table, Chart…)
    page                         a module: a document as one HTML file, which makes no network requests
    render                       a module: a document as a file of any kind (HTML, PDF, PNG); a chart as PNG
    tell                         mail something to a person, soon; False without an address or a mail server
    Documents(settings)          the figures of a question or a board as a document, as a person sees them
    dossiers                     a module: the tables of a deal's dossier, as its buyer reads them
    LinkPages(settings)          the pages of share links: which is open, to whom, and what it shows
    Unsubscriber                 the address in a mail that ends such mails
    posting(settings)            during a block: mails that are due are written and sent
    watching(settings)           during a block: alerts that are due are checked, and told to the webhook

`tell` raises StoreUnavailable, a share link what its content does. What draws is imported with the first
picture: matplotlib takes a second and 45 MB.
"""

from lib.share.alerts.watch import watching
from lib.share.documents import dossier as dossiers
from lib.share.documents.documents import Documents
from lib.share.link_pages import LinkPages
from lib.share.mail.outbox import tell
from lib.share.mail.post import posting
from lib.share.mail.unsubscribe import Unsubscriber
from lib.share.snapshot import models as snapshots
from lib.share.snapshot import page, render

__all__ = [
    "Documents",
    "LinkPages",
    "Unsubscriber",
    "dossiers",
    "page",
    "posting",
    "render",
    "snapshots",
    "tell",
    "watching",
]
