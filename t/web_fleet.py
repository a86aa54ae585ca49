# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses the page of cpi-web on the store of a fleet, and compares it with cpi. Speaks TAP.

    web_fleet.py URL CPI STORE TESTS

TESTS were there before. The store has machines h00001 to h00005 in cluster frankfurt with release 4.2, and h00006 to
h00008 in dublin with release 4.3.
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


def command(*words):
    run = subprocess.run([CPI, *words, "--db", STORE, "--format=json"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True)
    return json.loads(run.stdout)


def choose(page, kind, value):
    page.js("""const s = document.querySelector(`#host [data-kind=${arguments[0]}]`);
        s.value = arguments[1]; s.dispatchEvent(new Event("change"));""", kind, value)
    page.settle()


def shown(page, kind):
    return page.js("""return [...(document.querySelector(`#host [data-kind=${arguments[0]}]`)?.options ?? [])]
        .map(o => o.value)""", kind)


def fields(page):
    return page.js("""return [...document.querySelectorAll(".hostmap button")]
        .map(b => [b.dataset.host, Number(b.dataset.value)])""")


page = Page(URL)
page.open("range=all")
page.wait("document.querySelector('#host [data-kind=release]')")
hosts = [h["host"] for h in command("fleet", "hosts")["hosts"]]
result(shown(page, "host") == ["", *hosts], "the page has a choice of the machines", shown(page, "host"))
result(shown(page, "cluster") == ["", "dublin", "frankfurt"] and shown(page, "release") == ["", "4.2", "4.3"],
       "and of clusters and releases", shown(page, "cluster"), shown(page, "release"))
result(page.js("return document.querySelectorAll('#tabs button').length") == 7, "there is a seventh view")

choose(page, "release", "4.2")
rows = command("prof", "--epoch", "all", "--release", "4.2")["rows"]
result(page.state().get("filters") == "only:release:4.2", "a choice is a filter in the address", page.state())
seconds = sorted((r["time_ns"] for r in rows), reverse=True)
result([float(v) for v in page.values("time")] == seconds, "the rows of Where are those of the release",
       seconds, page.values("time"))
choose(page, "release", "")
result("filters" not in page.state(), "the first choice takes it back", page.state())

page.press("7")
page.wait("document.querySelectorAll('.hostmap button').length")
page.settle()
top = {r["host"]: r["cpus"] for r in command("fleet", "top", "--by", "host", "--epoch", "2000-01-01..")["rows"]}
order = sorted(top, key=lambda h: -top[h])
got = fields(page)
result(sorted(h for h, _ in got) == hosts and all(abs(v - top[h]) <= 1e-12 for h, v in got) and
       [v for _, v in got] == sorted((v for _, v in got), reverse=True),
       "the map has the CPUs of cpi fleet top, the greatest first", got, top)
result(page.texts("host") == order or [top[h] for h in page.texts("host")] == [top[h] for h in order],
       "the table has the machines in the same order", page.texts("host"))
samples = {h["host"]: h["samples"] for h in command("fleet", "hosts")["hosts"]}
page.press("g", "g", "g", "g")
got = dict(fields(page))
result(page.state().get("measure") == "samples" and got == samples, "g shows the next measure", page.state(), got)
page.press("m", "ArrowRight")
second = fields(page)[1][0]
result(page.js("return document.activeElement.dataset.host") == second and
       page.js("return document.querySelector('#main tr[aria-selected=true] td').textContent") == second,
       "arrows go through the map and select in the table", second)
page.press("Enter")
result(page.state().get("filters") == f"only:host:{second}" and "view" not in page.state(),
       "Enter shows the machine alone in Where", page.state())
page.open("range=all&view=hosts&filters=only:cluster:dublin")
page.wait("document.querySelectorAll('.hostmap button').length")
result([h for h, _ in sorted(fields(page))] == hosts[5:], "an address with a cluster shows its machines", fields(page))

for dark in (False, True):
    page.resize(390, 800)
    page.scheme(dark)
    page.settle()
    wide = page.js("return document.documentElement.scrollWidth")
    names = page.js("""return [...document.querySelectorAll("#main td[data-column=host]")]
        .every(td => td.getBoundingClientRect().width > 60)""")
    result(wide <= 390 and names, f"at 390 pixels nothing is cut ({'dark' if dark else 'light'})", wide, names)
result(page.console() == [] and page.js("return window.refused") == [], "the console is empty", page.console())
page.close()
