"""The server: the desk and the APIs on one port."""

import gc

if __name__ == "__main__":
    gc.disable()  # until all is imported: a fifth of the time of a start

import importlib
import logging
import os
import sys
import threading
import webbrowser
from argparse import ArgumentParser
from asyncio import create_task, get_running_loop
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import click
import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp

from lib.agents import agent_route
from lib.figures import palette
from lib.figures.overview.overview_answers import OverviewAnswers
from lib.serving import connect
from lib.serving.front import (
    BROWSER_HEADER,
    CompanyRoutes,
    DeskDocument,
    DeskRoutes,
    DeskSocket,
    Preloads,
    SignInRoutes,
    guard,
    inline_scripts,
    logs,
    server,
    streamlit_parts,
)
from lib.serving.front.closed_sessions import ClosedSessions
from lib.serving.front.overview_route import OverviewRoute, RouteLimits
from lib.serving.front.request_pace import RequestPace
from lib.serving.front.shared_route import MailRoute, SharedRoute
from lib.serving.health_watch import computing
from lib.serving.operations import OpenTabs
from lib.settings import Settings
from lib.share import LinkPages, Unsubscriber, posting, watching
from lib.ui import streamlit_compat
from lib.ui.audience import overview
from lib.ui.kit import sign_in, sign_in_methods
from lib.ui.kit.media import OwnedMedia, script_owner
from lib.wire import private
from lib.wire.apis import Apis
from lib.wire.errors import TrancheError

log = logging.getLogger("tranche")
DESK = Path(__file__).parent / "lib" / "desk.py"
COLORS = f"{palette.variables(palette.LIGHT, 'light-')} {palette.variables(palette.DARK, 'dark-')}"
STYLE = f":root {{ {COLORS} }}\n" + (Path(__file__).parent / "lib/ui/kit/style.css").read_text("utf-8")
HEAVY = ("pandas", "pyarrow.parquet", "plotly.graph_objects", "scipy.sparse", "captcha.image", "jwt")
DOWNLOADS = 64  # at the same time: Streamlit makes them, and sends large tables, on the loop's own threads
REMOTE_THREADS, REMOTE_SHARE = 128, 8  # overviews that wait for a remote service, in all and of one person
DEMO = "This is a demo: it listens on this machine alone; sign in as viewer, manager or admin, password demo."


@asynccontextmanager
async def preload(_: st.App) -> AsyncIterator[None]:
    """Import what the first visitor would wait for, and keep it out of each rerun's garbage collection."""
    for module in HEAVY:
        importlib.import_module(module)
    get_running_loop().set_default_executor(ThreadPoolExecutor(DOWNLOADS, "download"))
    logs.together()
    server.give_back()
    gc.freeze()
    gc.enable()
    sessions = ClosedSessions(st.get_option("server.disconnectedSessionTTL"), sign_in.is_signed_in)
    streamlit_compat.store_closed_sessions(sessions)
    streamlit_compat.finish_callbacks()
    streamlit_compat.look_up_single_values()
    streamlit_compat.replace_media(lambda files: OwnedMedia(files, script_owner))
    ending = create_task(sessions.end_in_time())
    yield
    ending.cancel()


def _may_read(installation: connect.Installation, file: str, cookies: str) -> bool:
    """Whether a media file was made for the browser and the person of this `Cookie` header."""
    media, owner = streamlit_compat.media(), installation.cookies.owner(cookies)
    return isinstance(media, OwnedMedia) and owner is not None and media.belongs_to(file, owner)


def _overview_limits(settings: Settings) -> RouteLimits:
    """As many answers at a time as queries; more where they are waited for while another machine computes."""
    if settings.remote.base_url:
        return RouteLimits(REMOTE_THREADS, REMOTE_SHARE, settings.remote.answer_seconds)
    return RouteLimits(settings.query_threads, settings.query_share, settings.deadline_seconds)


def application(settings: Settings) -> ASGIApp:
    """The desk and the APIs in front of it, as one application behind the checks of every request."""
    installation = connect.installation(settings)
    access = installation.access
    streamlit_compat.set_option("server.trustedUserHeaders", {BROWSER_HEADER: "tranche_browser"})
    apis, tabs = Middleware(Apis, api=installation.api), Middleware(OpenTabs, meter=installation.meter)
    provider = _company(installation)
    routes = Middleware(DeskRoutes, has_company=bool(provider))
    signing_in = Middleware(
        SignInRoutes,
        cookies=installation.cookies,
        may_read=partial(_may_read, installation),
        origins=settings.origins,
    )
    overview_route = Middleware(
        OverviewRoute,
        person_of=installation.cookies.person,
        answers=OverviewAnswers(settings),
        limits=_overview_limits(settings),
        origins=settings.origins,
        tally=access.desk_tally,
    )
    pages = LinkPages(settings)
    shares = Middleware(SharedRoute, pages, tally=access.desk_tally)
    stop = Unsubscriber.of(access.store.engine, access.audit, settings.address).stop
    mail = Middleware(MailRoute, stop, access.desk_tally)
    modules = {overview.FILE: overview.SCRIPT}
    figures = {"audience": overview.ADDRESS}
    document = Middleware(DeskDocument, Preloads(streamlit_compat.STATIC), STYLE, modules, figures)
    socket = Middleware(
        DeskSocket,
        streamlit_compat.protocol(),
        installation.has_session,
        settings.visitors,
        streamlit_compat.knows_session,
        hold=visitors.hold if (visitors := access.desk_tally("visitors")) else None,
    )
    agents = Middleware(agent_route, settings=settings)
    use = rates.use if (rates := access.desk_tally("rate")) else None
    pace = Middleware(RequestPace, installation.cookies.has_signed, use=use)
    apart = [pace, apis, agents, shares, signing_in, overview_route, mail]
    middleware = [*apart, routes, socket, *provider, tabs, document]
    desk = st.App(DESK, middleware=middleware, lifespan=preload, secrets=installation.secrets or None)
    # The scripts of the page that Streamlit serves.
    scripts = inline_scripts(streamlit_parts.page(streamlit_compat.STATIC))
    return guard(desk, settings.network, scripts)


def _company(installation: connect.Installation) -> list[Middleware]:
    """What stands around Streamlit's routes of a company sign-in, if there is one that can be checked.

    Streamlit signs the cookie in which a sign-in begins with an option, since it is made before the secrets
    are read: all desks over a database need the same.
    """
    if installation.company is None:
        return []
    streamlit_compat.set_option("server.cookieSecret", installation.secrets["auth"]["cookie_secret"])
    provider = installation.settings.company.oidc
    if provider and not sign_in_methods.bind(provider.issuer, provider.client_id, provider.algorithms):
        return []
    address, seconds = installation.settings.company_address, installation.settings.session_hours * 3600
    return [Middleware(CompanyRoutes, address=address, seconds=seconds)]


def report(failure: threading.ExceptHookArgs) -> None:
    """Report what a thread failed with. A timer of Streamlit whose run was stopped has not failed."""
    if not streamlit_compat.is_stop(failure.exc_value):
        if failure.exc_value is None:
            return
        kind, thread = failure.exc_type, failure.thread.name if failure.thread else "a thread"
        log.error("%s failed", thread, exc_info=(kind, failure.exc_value, failure.exc_traceback))


def __getattr__(name: str) -> object:
    """`streamlit run app.py` asks for the application: start the desk in its place, with all its checks."""
    if name != "desk":
        raise AttributeError(name)
    click.echo("The settings of Tranche hold, not options of Streamlit: this is python app.py")
    os.execv(sys.executable, [sys.executable, str(Path(__file__).resolve())])  # noqa: S606


def main() -> None:
    """Serve until stopped."""
    ArgumentParser(description="The desk and the APIs, on one port.", allow_abbrev=False).parse_args()
    threading.excepthook = report
    try:
        private.closed_to_others()
        settings = Settings.current()
        logs.log(settings.log_level, settings.log_format)
        with (
            connect.one_desk(settings),
            watching(settings),
            computing(settings),
            connect.deal_pushes(settings),
            posting(settings),
        ):
            server.run(application(settings), settings.network, partial(_ready, settings))
    except TrancheError as error:
        sys.exit(error.reason)
    except KeyboardInterrupt:
        click.echo("Stopped.")


def _ready(settings: Settings, address: str) -> None:
    if settings.demo:
        click.echo(DEMO)
    for warning in (*connect.startup_warnings(settings), *streamlit_compat.check()):
        click.echo(warning, err=True)
    click.echo(f"Tranche is at {address}  (stop with Ctrl+C)")
    has_display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    if sys.stdout.isatty() and (sys.platform == "darwin" or has_display):
        webbrowser.open(address)


if __name__ == "__main__":
    main()
