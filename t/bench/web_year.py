# SPDX-License-Identifier: GPL-2.0-or-later
"""One round of web_year: lines "NAME<tab>SECONDS".

    web_year.py year URL             a page of everything, of a day
    web_year.py why URL PROCEDURE    a procedure twice: as a new page, and within one page
"""
import os
import sys
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from web_browser import Page

# Notes when an element that matches is first drawn, in ms since the address was opened.
NOTE = """
window.seen = {};
const wanted = { timeline: ".timeline .area", table: "#main tbody tr[data-index]", why: ".side-asm tr.insn" };
const look = () => {
    for (const [name, selector] of Object.entries(wanted))
        if (!(name in window.seen) && document.querySelector(selector))
            window.seen[name] = performance.now();
    requestAnimationFrame(look);
};
look();
"""

# Changes what is chosen within the page, and waits until it is drawn.
CHANGE = """
const [hash, wanted, done] = arguments;
const start = performance.now();
history.pushState(null, "", "#" + hash);
dispatchEvent(new PopStateEvent("popstate"));
const look = () => document.querySelector(wanted) && !document.querySelector("#main [aria-busy=true]") ?
    done((performance.now() - start) / 1000) : requestAnimationFrame(look);
requestAnimationFrame(look);
"""


def note(name, seconds):
    print(f"{name}\t{seconds:.4f}")


def paint(page):
    return page.js("return performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1000


def look(page, choice, what):
    page.driver.get("about:blank")
    page.driver.get(f"{page.url}#{choice}")
    page.wait(f"window.seen.{what} && performance.getEntriesByName('first-contentful-paint').length")
    return page.js(f"return window.seen.{what}") / 1000


def year(page):
    took = look(page, "range=all", "timeline")
    note("everything: first paint", paint(page))
    note("everything: time line, new page", took)
    note("everything: time line, page again", look(page, "range=all", "timeline"))
    took = look(page, "range=-24..last", "table")
    note("a day: first paint", paint(page))
    note("a day: table, new page", took)
    page.settle()
    note("another day: table, within the page", page.driver.execute_async_script(
        CHANGE, "range=-72..-49", "#main tbody tr[data-index]"))


def why(page, procedure):
    code = f"range=all&view=why&proc={quote(procedure)}"
    note("why, first, new page", look(page, code, "why"))
    page.settle()
    note("why, second, new page", look(page, code, "why"))
    page.settle()
    page.driver.execute_async_script(CHANGE, "range=all", "#main tbody tr[data-index]")
    page.settle()
    note("why, again, within the page", page.driver.execute_async_script(CHANGE, code, ".side-asm tr.insn"))


def main():
    page = Page(sys.argv[2])
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOTE})
    try:
        if sys.argv[1] == "year":
            year(page)
        else:
            why(page, sys.argv[3])
    finally:
        page.close()


main()
