"""Mail at a running desk: sent in the background, and stopped through all that is in front of the route."""

from pathlib import Path

import httpx
from conftest import desk_over
from keeping import keeper
from mail_server import Mailbox, mail_server

from lib.serving import connect
from lib.settings import Settings
from lib.share import Unsubscriber, tell
from lib.views import Schedule
from mail.conftest import with_addresses


def test_a_running_desk_sends_and_stops(own_home: Path) -> None:
    """A desk sends what waits; the link of a mail ends it without a sign-in, at the desk's host alone."""
    mailbox = Mailbox()
    with mail_server(mailbox) as given:
        settings = with_addresses(Settings(home=own_home, demo=True, **given))
        installation = connect.installation(settings)
        engine, viewer = installation.access.store.engine, installation.people.require("viewer")
        mails = keeper(settings)("viewer").mails
        subscription = mails.add(None, Schedule("alerts"))
        tell(engine, settings, viewer, "Hello", "A text")
        stop = Unsubscriber.of(engine, installation.access.audit, "").address(subscription)
        names = ("smtp_host", "smtp_port", "smtp_security", "mail_from")
        environment = {f"TRANCHE_{name.upper()}": str(given[name]) for name in names}
        with desk_over(own_home, **environment) as (desk, _):
            page = httpx.get(f"{desk}{stop}")
            assert page.status_code == 200 and "frame-ancestors" in page.headers["content-security-policy"]
            assert httpx.post(f"{desk}{stop}", headers={"Host": "evil.example"}).status_code == 421
            assert len(mails.mine()) == 1
            answer = httpx.post(f"{desk}{stop}", data={"List-Unsubscribe": "One-Click"})
            assert answer.status_code == 200 and "is stopped" in answer.text
            assert mails.mine() == []
            assert mailbox.arrived.wait(60)
    assert mailbox.only()["Subject"] == "Hello"
