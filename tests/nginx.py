"""The nginx of `deploy/` in front of two desks."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from documents import ROOT

WHOLE = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1; worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {desks}
}}
"""


@contextmanager
def nginx(folder: Path, port: int, desks: list[str]) -> Iterator[str]:
    """The address of nginx before these desks, configured as in `deploy/` but for TLS."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        pytest.skip("NOT RUN: deploy/nginx.conf needs nginx (Debian's package nginx-light)")
    block = (ROOT / "deploy" / "nginx.conf").read_text("utf-8")
    block = re.sub(r" +ssl_certificate.*\n", "", block).replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    block = block.replace("server_name desk.example;", "").replace("Secure; ", "")
    block = block.replace("Host $host;", "Host $http_host;")  # a port that is not the scheme's own
    for documented, desk in zip(("127.0.0.1:8501", "127.0.0.1:8502"), desks, strict=True):
        block = block.replace(documented, urlsplit(desk).netloc)
    file = folder / "nginx.conf"
    file.write_text(WHOLE.format(folder=folder, desks=block))
    command = [program, "-p", folder, "-c", file]
    subprocess.run([*command, "-t"], check=True)
    with subprocess.Popen(command) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            httpx.Client(transport=httpx.HTTPTransport(retries=6)).get(f"{address}/healthz")
            yield address
        finally:
            process.terminate()
