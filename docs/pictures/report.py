#!/usr/bin/env python3
"""Takes report.png, a cluster of a report on `testdata`, and sources.png, a page of one text, in a headless Chromium.

    python -m venv target/report && target/report/bin/pip install -r bin/tests/report/requirements.txt
    target/report/bin/python docs/pictures/report.py target/release/dedupdb
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
TESTDATA = HERE.parent.parent / "testdata"

# The cluster that is shown, by the name of one of its files.
SHOWN = "meeting-notes-february"

# When every file was last changed, in seconds since 1970, so that each run draws the same picture.
TIME = 1_767_225_600


def report(program: Path, folder: Path) -> Path:
    """A report on a copy of `testdata`."""
    shutil.copytree(TESTDATA, folder / "testdata")
    for file in folder.rglob("*"):
        os.utime(file, (TIME, TIME))
    page = folder / "report.html"
    subprocess.run([program, "-q", "report", "testdata/folder", "-o", page], cwd=folder, check=True)
    return page


def sources(program: Path, folder: Path) -> Path:
    """A page of one text of the copy."""
    page = folder / "sources.html"
    asked = ["--sources", "testdata/query.txt", "--against", "testdata/folder/news"]
    subprocess.run([program, "-q", "report", *asked, "-o", page], cwd=folder, check=True)
    return page


def main() -> None:
    program = Path(sys.argv[1]).resolve()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 960, "height": 900}, color_scheme="light", timezone_id="UTC")
        page.goto(report(program, Path(folder)).as_uri())
        page.locator("#find").fill(SHOWN)
        page.get_by_text("1 cluster").first.wait_for()
        cluster = page.locator("#list > li").first
        cluster.locator("summary").click()
        cluster.get_by_role("button", name="Compare").first.click()
        page.mouse.move(0, 0)
        cluster.screenshot(path=HERE / "report.png")
        page.goto(sources(program, Path(folder)).as_uri())
        end = page.locator("#passage-1").bounding_box()
        page.screenshot(path=HERE / "sources.png", full_page=True, clip={"x": 0, "y": 0, "width": 960, "height": end["y"]})
        browser.close()


if __name__ == "__main__":
    main()
