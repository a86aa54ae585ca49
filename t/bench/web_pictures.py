# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of all views of the page: web_pictures.py URL CODE_URL PROCEDURE IMAGE FOLDER"""
import os
import sys
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from web_browser import Page

URL, CODE_URL, PROCEDURE, IMAGE, FOLDER = sys.argv[1:6]
SIDES = "a=2026-01-02T03:05..2026-01-02T03:25&b=2026-01-02T03:35..2026-01-02T03:55"
CODE = f"proc={quote(PROCEDURE)}&image={quote(IMAGE)}"
VIEWS = [("where", URL, "", False), ("flame", URL, "&view=flame", False),
         ("why", CODE_URL, f"&view=why&{CODE}", False),
         ("changed", URL, f"&view=changed&{SIDES}", True),
         ("runs", URL, "&view=runs", False), ("health", CODE_URL, "&view=health", False)]


def main():
    page = Page(URL, 1120, 640)
    try:
        for name, url, choice, dark in VIEWS:
            page.scheme(dark)
            page.url = url
            page.open("range=all" + choice)
            if name == "runs":
                page.js("document.querySelector('#main tbody tr').click()")
                page.settle()
            page.driver.save_screenshot(os.path.join(FOLDER, f"web-{name}.png"))
    finally:
        page.close()


main()
