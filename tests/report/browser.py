"""A real Chromium, installed from Debian's package when it is missing and we may."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
)


@functools.cache
def find() -> tuple[str | None, str]:
    """The browser, or None and why there is none."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found:
        return found, ""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return None, "no Chromium here, and only root can install Debian's package"
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-qq", "-y", "chromium"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    found = shutil.which("chromium")
    return found, "" if found else f"Chromium could not be installed: {done.stderr.strip()[-300:]}"


def run(browser: str, url: str, *options: str) -> tuple[str, str]:
    """Call the browser with a fresh profile; return what it printed and what it logged."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *QUIET, f"--user-data-dir={profile}", *options, url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout, done.stderr


def dom(browser: str, page: Path, view: str = "") -> tuple[str, list[str]]:
    """The page as it is after its scripts ran, and the messages that it put on the console."""
    out, log = run(browser, page.as_uri() + view, "--virtual-time-budget=3000", "--dump-dom")
    return out, [line for line in log.splitlines() if "CONSOLE" in line]
