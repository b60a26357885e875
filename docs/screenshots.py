"""The picture in the README: the demo's Audience page, as a browser shows it.

    make screenshots

Makes a demo of its own in a temporary folder, so that nothing of yours is in the picture.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
SCREEN = {"width": 1440, "height": 900}
COUNTRY = "bid_context_wrapper.user.geo.country"
LINK = f"/audience?project=demo&slicer=delivery&split={COUNTRY}"


def main() -> None:
    """Take the picture."""
    with tempfile.TemporaryDirectory() as home, desk(Path(home)) as address, sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport=SCREEN, locale="en-US", color_scheme="light")
        page.goto(address + LINK)
        page.get_by_role("button", name="Viewer", exact=True).click()
        wait_until_drawn(page)
        page.screenshot(path=HERE / "audience.png")
        browser.close()


@contextmanager
def desk(home: Path) -> Iterator[str]:
    """A desk with the demo in `home`; gives its address once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"TRANCHE_HOME": str(home), "TRANCHE_PORT": str(port)}
    root = HERE.parent
    subprocess.run(
        [str(Path(sys.executable).with_name("tranche")), "demo"],
        check=True,
        cwd=root,
        env=environment,
        stdout=sys.stderr,
    )
    server = subprocess.Popen(
        [sys.executable, "app.py"], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        next(line for line in server.stdout or () if "Tranche is at" in line)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_until_drawn(page: Page) -> None:
    """Wait for the chart, for the table, and until nothing is awaited any more."""
    page.locator(".js-plotly-plot").last.wait_for()
    page.get_by_test_id("stDataFrame").first.wait_for()
    page.get_by_test_id("stSkeleton").first.wait_for(state="hidden")
    page.wait_for_timeout(2_000)


if __name__ == "__main__":
    main()
