# SPDX-License-Identifier: GPL-2.0-or-later
"""Looks at the map of machines by CPI and by cost, and compares it with cpi. Speaks TAP.

    web_fleet_cpi.py URL CPI STORE TESTS

TESTS were there before. The store has machines a to c with a CPI, and d with too few samples.
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from web_browser import Page

URL, CPI, STORE = sys.argv[1:4]
number = int(sys.argv[4])


def result(good, name, *notes):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for text in ([] if good else notes):
        print("#", str(text)[:1500].replace("\n", "\n# "))
    sys.stdout.flush()


def top(*words):
    run = subprocess.run([CPI, "fleet", "top", "--db", STORE, "--by", "host", "--epoch", "2000-01-01..", "--cpi",
                          *words, "--format=json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return {r["host"]: r for r in json.loads(run.stdout)["rows"]}


def fields(page):
    return page.js("""return [...document.querySelectorAll(".hostmap button")]
        .map(b => [b.dataset.host, b.dataset.value === "" ? null : Number(b.dataset.value)])""")


page = Page(URL)
page.open("range=all&view=hosts&measure=cpi")
page.wait("document.querySelectorAll('.hostmap button').length")
want = top()
result(fields(page) == [[h, want[h]["cpi"]] for h in "acbd"] and want["d"]["cpi"] is None,
       "the map has the CPI of cpi fleet top, the greatest first, and unknown ones last", fields(page), want)
titles = page.js("return [...document.querySelectorAll('.hostmap button')].map(b => b.title)")
low, high = (float(v) for v in titles[0].split("CPI ")[1].split(" ")[0].split("\u2013"))
result(abs(low / want["a"]["cpi_low"] - 1) < 0.006 and abs(high / want["a"]["cpi_high"] - 1) < 0.006 and
       titles[3].endswith("not known"), "a field shows its interval, or that it is unknown", titles, want["a"])

page.js("""const p = document.querySelector("#price"); p.value = "50"; p.dispatchEvent(new Event("change"));""")
page.settle()
page.press("g")
want = top("--price", "50")
got = dict(fields(page))
result(page.state().get("price") == "50" and page.state().get("measure") == "money",
       "the price is in the address, and g shows the next measure", page.state())
result({h: r["cost"] for h, r in want.items()} == got, "with a price the map has the cost of cpi fleet top", got, want)

page.js("""const p = document.querySelector("#price"), m = document.querySelector("#measure");
    p.focus(); p.value = "7"; m.value = "cpi"; m.dispatchEvent(new Event("change"));""")
page.settle()
result(page.state().get("measure") == "cpi" and page.js("return document.querySelector('#price').value") == "7",
       "a price that is being typed stays when the view is drawn again", page.state())
result(page.console() == [] and page.js("return window.refused") == [], "the console is empty", page.console())
page.close()
