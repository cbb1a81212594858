"""The proxies of deploy/ run: reports and answers pass, and nothing about people that a collector has no use for."""

from __future__ import annotations

import datetime as dt
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests import ROOT

DEPLOY, UNPACKED = ROOT / "deploy", ROOT / "build" / "proxies"
ADDRESS, COLLECTOR = "reports.example.org", "127.0.0.1:8321"  # the names in nginx.conf
TELLING = ("X-Forwarded-For", "User-Agent", "Cookie", "Referer")


def program(name: str) -> str:
    """Where a proxy is; without it the test is skipped."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") or next(
        (str(path) for path in UNPACKED.rglob(name) if path.is_file() and os.access(path, os.X_OK)), None
    )
    if found is None:
        pytest.skip(f"{name} is missing: run `make proxies`")
    return found


class Behind(NamedTuple):
    """What stands behind the proxy: it keeps the requests that reach it."""

    port: int
    requests: list[tuple[str, str, dict[str, str], bytes]]


@pytest.fixture
def behind() -> Iterator[Behind]:
    requests: list[tuple[str, str, dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append((self.command, self.path, dict(self.headers), body))
            self.send_response(202)
            self.end_headers()

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Behind(server.server_port, requests)
    server.shutdown()
    server.server_close()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost that nobody else has signed, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return paths


def replaced(text: str, changes: dict[str, str]) -> str:
    """The text with its names changed, each of which must be there."""
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


def ask(url: str, data: bytes | None = None, trust: Path | None = None) -> int:
    """The status of an answer; the request says all that a browser might."""
    headers = dict.fromkeys(TELLING[1:], "a person's") | {"X-Forwarded-For": "203.0.113.7"}
    context = None if trust is None else ssl.create_default_context(cafile=str(trust))
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20, context=context) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def until_it_answers(process: subprocess.Popen[Any], port: int) -> None:
    for _ in range(400):
        assert process.poll() is None, process.communicate()
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the proxy does not listen")


def check(url: str, behind: Behind, trust: Path | None = None) -> None:
    """What goes in at the front, and what comes out behind."""
    assert ask(f"{url}/v1/reports", bytes(200_000), trust) == 202
    assert ask(f"{url}/v1/collections", None, trust) == 202
    assert ask(f"{url}/metrics", None, trust) == 404
    (method, path, headers, body), (_, other, *_) = behind.requests
    assert (method, path, len(body), other) == ("POST", "/v1/reports", 200_000, "/v1/collections")
    assert headers["Host"] == url.partition("//")[2]
    told = {name.title(): value for name, value in headers.items() if name.title() in TELLING and value}
    assert told in ({}, {"User-Agent": "Go-http-client/1.1"})  # Caddy is written in Go, and says so of itself


def test_nginx_forwards_reports_over_tls_and_nothing_about_people(tmp_path: Path, behind: Behind) -> None:
    nginx, port, (public, private) = program("nginx"), free_port(), certificate(tmp_path)
    site = replaced(
        (DEPLOY / "nginx.conf").read_text(),
        {
            f"/etc/ssl/{ADDRESS}.pem": str(public),
            f"/etc/ssl/private/{ADDRESS}.key": str(private),
            ADDRESS: "localhost",
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            COLLECTOR: f"127.0.0.1:{behind.port}",
        },
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {tmp_path / kind};\n" for kind in kinds)
    user = "user root;\n" if os.geteuid() == 0 else ""
    whole = f"{user}daemon off;\npid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{folders}{site}}}\n"
    (tmp_path / "nginx.conf").write_text(whole)
    command = [nginx, "-e", str(tmp_path / "errors"), "-c", str(tmp_path / "nginx.conf")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        until_it_answers(process, port)
        check(f"https://localhost:{port}", behind, public)
        assert ask(f"https://localhost:{port}/v1/batches", bytes(2**26 + 1), public) == 413
    finally:
        process.terminate()
        said = process.communicate(timeout=20)[0]
    assert said == b""


def test_caddy_forwards_reports_and_nothing_about_people(tmp_path: Path, behind: Behind) -> None:
    caddy, port = program("caddy"), free_port()
    site = replaced((DEPLOY / "Caddyfile").read_text(), {"dynamic a collector 8321": f"to 127.0.0.1:{behind.port}"})
    (tmp_path / "Caddyfile").write_text(f"{{\n\tadmin off\n}}\n{site}")
    # TLS is Caddy's own part: it fetches certificates for names that the world knows
    environment = {"DENIABLE_SITE": f"http://localhost:{port}", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    command = [caddy, "run", "--adapter", "caddyfile", "--config", str(tmp_path / "Caddyfile")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **environment}
    )
    try:
        until_it_answers(process, port)
        check(f"http://localhost:{port}", behind)
    finally:
        process.terminate()
        said = process.communicate(timeout=20)[0]
    assert not re.search(rb"203\.0\.113\.7|a person's|/v1/reports", said)  # no log of requests


def test_the_container_gets_all_that_the_package_is_made_of(tmp_path: Path) -> None:
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [
        words[1:-1]
        for line in (DEPLOY / "Containerfile").read_text().splitlines()
        if (words := line.split()) and words[0] == "COPY" and not words[1].startswith("--")
    ]
    for names in copied:
        for name in names:
            assert name in allowed, name
            target = tmp_path / name
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / name, target)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "dist").glob("deniable-*.whl"))) == 1
