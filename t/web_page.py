# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses the page of cpi-web as a reader would, and compares it with the commands. Speaks TAP.

    web_page.py URL CPI DATABASE PROCEDURE IMAGE views|rest|short|values [AXE]

The database has epochs labelled before and after, call stacks, and hostile names.
PROCEDURE of IMAGE has code that can be read. views are what each view shows, rest is what
all have in common, short is one look at each view; values needs a recording with values of
PROCEDURE. AXE is axe.min.js, where it is installed.
"""
import base64
import collections
import json
import os
import re
import sqlite3
import subprocess
import sys
import urllib.request
from urllib.parse import parse_qs, quote, urlsplit

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import web_saved
from web_browser import Page

URL, CPI, DATABASE, PROCEDURE, IMAGE, HOW = sys.argv[1:7]
AXE = sys.argv[7] if len(sys.argv) > 7 else None
VIEWS = ["where", "flame", "why", "changed", "runs", "health"]
RANGE = "range=all"
SIDES = "a=before&b=after"
number = 0


def result(good, name, *notes):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for text in ([] if good else notes):
        print("#", str(text)[:1500].replace("\n", "\n# "))
    sys.stdout.flush()


def skip(name, reason):
    global number
    number += 1
    print(f"ok {number} - {name} # SKIP {reason}")


def command(*words):
    run = subprocess.run([CPI, words[0], "--db", DATABASE, *words[1:]], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True)
    return json.loads(run.stdout)


def exact(value):
    """A number as JavaScript writes it into data-value."""
    return "" if value is None else json.dumps(value) if isinstance(value, int) else \
        re.sub(r"\.0$", "", repr(float(value)))


def same_numbers(shown, expected):
    return len(shown) == len(expected) and all(
        s == "" and e is None or s != "" and e is not None and float(s) == float(e)
        for s, e in zip(shown, expected))


def check_where(page):
    page.open(RANGE)
    report = command("prof", "--epoch", "all", "--format", "json")
    rows = sorted(report["rows"], key=lambda r: -r["time_ns"])
    result(same_numbers(page.values("time"), [r["time_ns"] for r in rows]),
           "Where: each time is the command's", page.values("time"), rows[:5])
    result(sorted(page.values("share"), key=float) ==
           sorted((exact(r["percent"]) for r in rows), key=float), "Where: each share is the command's")
    for by in ("image", "comm", "container", "line"):
        page.open(f"{RANGE}&by={by}")
        want = [r["time_ns"] for r in command("prof", "--epoch", "all", "--by", by, "--format", "json")["rows"]]
        result(same_numbers(sorted(page.values("time"), key=float), sorted(want)),
               f"Where by {by}: each time is the command's", page.values("time"), want)
    page.open(f"{RANGE}&q=^ga")
    result(page.js("return document.querySelectorAll('#main tbody tr[data-index]').length") ==
           len([r for r in rows if re.match("ga", f"{r['procedure']} {r['image']}", re.I)]),
           "Where: the search is a regular expression")
    page.open(f"{RANGE}&q=(")
    result(page.js("return document.getElementById('search').getAttribute('aria-invalid')") == "true",
           "Where: an expression that is none yet is marked")
    page.open(f"{RANGE}&q=no+such+name")
    result("Change the search" in page.js("return document.querySelector('#main .notice').textContent"),
           "Where: an empty table says what to do")
    page.open(RANGE)
    page.js("document.querySelector('th[data-column=procedure] button').click()")
    page.settle()
    names = page.texts("procedure")
    result(names == sorted(names, key=lambda n: [ord(c) for c in n]) and page.state()["sort"] == "procedure",
           "Where: a title sorts", names)


def check_not(page):
    page.open(RANGE)
    names = page.texts("procedure")
    page.open(f"{RANGE}&q={quote('!^target_')}")
    result(page.texts("procedure") == [n for n in names if not n.startswith("target_")] != names,
           "a search with ! shows what does not match", page.texts("procedure"), names)
    page.open(f"{RANGE}&q={quote('!(')}")
    result(page.js("return document.getElementById('search').getAttribute('aria-invalid')") == "true",
           "... and says when it is no expression")


def check_marks(page):
    """Marks that cpi mark has made are on the time line, and in its table."""
    epochs = command("prof", "--epoch", "all", "--format", "json")["epochs"]
    subprocess.run([CPI, "mark", "--db", DATABASE, "--at", epochs[1]["to"], "release 4.2"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    page.open(RANGE)
    shown = page.js("return [...document.querySelectorAll('.marks .mark title')].map(n => n.textContent)")
    result(len(shown) == 1 and shown[0].endswith("release 4.2"), "a mark is on the time line", shown)
    page.press("t")
    cells = page.js("return [...document.querySelectorAll('.timetable tbody td:last-child')].map(n => n.textContent)")
    result(sum("release 4.2" in c for c in cells) == 1, "... and in its table", cells)
    page.press("t")
    report = command("prof", "--epoch", "all", "--over-time", "--format", "json")
    for kind, name in (("restart", "restarts"), ("start", "collector_starts")):
        drawn = page.js(f"return document.querySelectorAll('.marks .{kind}').length")
        result(drawn == len(report[name]) > 0, f"{name.replace('_', ' ')} are on the time line", drawn, report[name])
    page.press("t")
    page.press("t")


def check_live(page):
    """A range that ends now follows, and keeps what is on the screen."""
    with sqlite3.connect(DATABASE) as db:
        newest = db.execute("SELECT id, open, label FROM epoch ORDER BY from_ns DESC, id DESC").fetchone()
        db.execute("UPDATE epoch SET open = 1 WHERE id = ?", newest[:1])
    db.close()
    page.open("range=1..")
    page.js("""document.querySelectorAll('#main tbody tr')[1].click();
        window.kept = [document.querySelector('#main table'), document.activeElement.textContent];
        window.emptied = 0;
        new MutationObserver(() => { window.emptied += !document.querySelector('#main tbody tr'); })
            .observe(document.getElementById('main'), { childList: true, subtree: true });""")
    result(page.js("return !document.getElementById('live').hidden"), "an open epoch makes the range live")
    subprocess.run([CPI, "epoch", "label", "--db", DATABASE, str(newest[0]), "follows"], check=True)
    followed = page.wait("[...document.querySelectorAll('.timeline .marks title')].some("
                         "n => n.textContent.endsWith('follows'))")
    page.settle()
    result(followed, "what changes in it is shown without a touch")
    result(page.js("""return document.querySelector('#main table') === window.kept[0] &&
        document.activeElement.textContent === window.kept[1] && window.emptied === 0"""),
           "... and table, selection and focus stay", page.js("return window.emptied"))
    with sqlite3.connect(DATABASE) as db:
        db.execute("UPDATE epoch SET open = ?, label = ? WHERE id = ?", (newest[1], newest[2], newest[0]))
    db.close()


def check_filters(page):
    page.open(RANGE)
    page.js("document.querySelector('#main tbody tr').click()")
    first = page.texts("procedure")[0]
    image = page.js("return document.querySelector('#main tbody td[data-column=image] [title]').title")
    page.press("x")
    result(first not in page.texts("procedure") and page.state()["filters"].startswith("hide:procedure"),
           "x hides the selected procedure", page.state())
    page.js("document.querySelector('#main tbody tr').click()")
    page.press("F")
    want = command("prof", "--epoch", "all", "--image", image, "--format", "json")["rows"]
    shown = sorted(page.values("time"), key=float)
    result(same_numbers(shown, sorted(r["time_ns"] for r in want if r["procedure"] != first)),
           "F reads the image alone, and what is hidden stays hidden", shown, want)
    page.press("u")
    result("only" not in page.state()["filters"], "u takes back the last filter")
    page.press("u")
    result("filters" not in page.state() and first in page.texts("procedure"),
           "and once more the one before")
    page.js("document.querySelector('#main tbody tr').click()")
    page.press("f")
    result(page.texts("procedure") == [first], "f shows the selected procedure alone")
    page.js("document.querySelector('.chip button').click()")
    page.settle()
    result("filters" not in page.state(), "the chip's button takes the filter back")
    page.js("document.querySelector('#main tbody tr').click()")
    page.press("X")
    result(image not in page.js("""return [...document.querySelectorAll(
        '#main td[data-column=image] [title]')].map(n => n.title)"""), "X hides the image")


def check_time(page):
    page.open(RANGE)
    report = command("prof", "--epoch", "all", "--by", "image", "--over-time", "--format", "json")
    page.press("t")
    cells = page.js("""return [...document.querySelectorAll('.timetable tbody tr')].map(
        tr => [...tr.querySelectorAll('[data-value]')].map(n => n.dataset.value))""")
    busiest = [exact(v) for v in report["rows"][0]["over_time"]]
    result([row[0] for row in cells] == busiest, "the time line's table has the command's figures",
           cells[:3], busiest[:3])
    page.press("t")
    page.drag(".timeline", 0.3, 0.5)
    page.drag(".timeline", 0.7, 0.9, shift=True)
    state = page.state()
    result(".." in state.get("a", "") and ".." in state.get("b", ""), "dragging picks A, with shift B", state)
    want = command("prof", "--epoch", state["a"], "--format", "json")["rows"]
    result(same_numbers(sorted(page.values("time"), key=float), sorted(r["time_ns"] for r in want)),
           "the table shows A")
    page.press("]")
    result(page.state()["a"] > state["a"], "] moves A later")
    page.press("[")
    result(page.state()["a"] == state["a"], "[ moves it back")
    page.press("Escape", "Escape")
    result("a" not in page.state() and "b" not in page.state(), "Escape clears B, then A")
    page.press("w", "ArrowRight", "ArrowRight", "a")
    result(".." in page.state().get("a", ""), "the keyboard picks A, too")
    page.press("Escape", "h")
    result(page.js("return document.querySelectorAll('.heatmap .field').length") > 3,
           "h shows the heat map")
    page.js("document.querySelector('.heatmap [role=button]').focus()")
    page.press("ArrowRight", "b")
    result(".." in page.state().get("b", ""), "the heat map picks B by the keyboard")
    page.press("Escape", "h")
    page.press("d")
    result(page.state().get("line") == "comm" and page.js("return document.querySelector('.timeline') !== null"),
           "d changes what the areas are")


def check_flame(page):
    page.open(f"{RANGE}&view=flame&table=1")
    report = command("tree", "--epoch", "all", "--threshold", "0.02", "--format", "json")
    counts = collections.Counter(page.values("samples"))
    result(counts == collections.Counter(str(r["samples"]) for r in report["rows"]),
           "Flame: the table has the boxes of cpi tree", counts, report["rows"][:3])
    result(collections.Counter(page.values("share")) == collections.Counter(exact(r["percent"])
                                                                            for r in report["rows"]),
           "Flame: each share is the command's")
    page.press("t")
    result(page.js("return document.querySelector('#main canvas').height") > 100, "t shows the picture again")
    page.press("/")
    page.press("g", "a", "m")
    result("matches" in page.js("return document.querySelector('#main output').textContent"),
           "the search says what it found")
    page.press("Enter")
    details = page.js("return document.querySelector('.details').textContent")
    result("gamma" in details, "Enter goes to the next match", details)
    page.press("Escape", "Enter")
    result("gamma" in page.state().get("zoom", ""), "Enter zooms to the box", page.state())
    page.press("Escape")
    result("gamma" not in page.state().get("zoom", ""), "Escape zooms out")
    page.press("Escape", "Escape", "p")
    result(page.state().get("shape") == "sandwich" and page.js(
        "return document.querySelectorAll('#main canvas').length") == 2, "p shows callers and callees")
    page.press("v", "m", "c", "k")
    state = page.state()
    result(state.get("shape") is None and state.get("inverted") == "1" and state.get("commands") == "1" and
           state.get("dock") == "1", "v, m, c and k change shape, root, commands and tooltip", state)
    page.open(f"{RANGE}&view=flame")
    page.js("document.querySelector('.image').click()")
    page.settle()
    result("hideimages" in page.state(), "an image of the legend is hidden by a click")
    check_from(page)
    check_folded(page)


def check_from(page):
    """Stacks begin with the outermost match; without one they are not shown."""
    page.open(f"{RANGE}&view=flame&fq=^f")
    page.js("document.querySelector('#main canvas').focus()")
    page.press("S", "t")
    shown = list(zip(page.texts("procedure"), page.values("samples")))
    rows = command("tree", "--epoch", "all", "--threshold", "0.02", "--format", "json")["rows"]
    outer = [r for r in rows if r["procedure"] == "f"]
    below = {r["id"] for r in outer}
    for row in rows:
        if row["parent"] in below:
            below.add(row["id"])
    result(page.state().get("filters") == "from:match:^f" and "fq" not in page.state() and
           shown[0] == ("f", str(outer[0]["samples"])) and len(shown) == len(below),
           "S shows call stacks from the match of the search on", page.state(), shown, len(below))
    page.press("u", "S")
    result("filters" not in page.state() and "Search first" in page.js(
        "return document.getElementById('what').textContent"), "u takes it back, and without a search S says why not")


# a calls b and itself; in b, a calls c and itself once more.
RECURSION = """
const rows = [[0, null, "main", 100, 0], [1, 0, "a", 90, 10], [2, 1, "b", 60, 20], [3, 2, "a", 40, 5],
    [4, 3, "c", 25, 25], [5, 3, "a", 10, 10], [6, 1, "a", 20, 20], [7, 0, "d", 10, 10]].map(
    ([id, parent, procedure, samples, self_samples]) => ({ id, parent, procedure, samples, self_samples, image: "x",
        kind: "library" }));
const list = box => [[box.procedure, box.samples, box.self], ...box.children.flatMap(list)];
return import(new URL("page.js", location.href)).then(({ modules: { "flame_tree.js": { buildTree } } }) =>
    list(buildTree([rows], () => false, null, true)));
"""


def check_folded(page):
    page.open(f"{RANGE}&view=flame")
    page.press("R")
    result(page.state().get("folded") == "1" and page.js(
        "return document.getElementById('flame-folded').getAttribute('aria-pressed')") == "true",
           "R folds recursive calls", page.state())
    boxes = page.js(RECURSION)
    result(boxes == [["all", 100, 0], ["main", 100, 0], ["a", 90, 45], ["c", 25, 25], ["b", 20, 20], ["d", 10, 10]],
           "a procedure has one box on a stack, and no sample counts twice", boxes)


def check_why(page):
    page.open(f"{RANGE}&view=why&proc={quote(PROCEDURE)}&image={quote(IMAGE)}&whole=1")
    of = f"{IMAGE}:{PROCEDURE}"
    listed = command("list", of, "--epoch", "all", "--all", "--format", "json")
    calc = command("calc", of, "--epoch", "all", "--all", "--format", "json")
    event = next(iter(listed["total"]))
    shown = page.js("""return [...document.querySelectorAll('.side-asm tr.insn')].map(tr =>
        [tr.dataset.key, tr.children[1].firstElementChild.dataset.value,
         tr.children[0].querySelector('.n').dataset.value])""")
    want = [[i["offset"], str(i["samples"][event]), exact(i["blamed_samples"])]
            for b in calc["blocks"] for i in b["instructions"]]
    result(shown == want, "Why: samples of each instruction are the command's", shown[:4], want[:4])
    blocks = page.js("""return [...document.querySelectorAll('.side-asm tr.block')].map(tr =>
        [...tr.querySelectorAll('[data-value]')].map(n => n.dataset.value))""")
    result([[float(v) for v in b] for b in blocks] == [[b["frequency"], b["best_case_cpi"], b["actual_cpi"]]
                                                       for b in calc["blocks"]],
           "Why: executions and CPI of each block are the command's", blocks[:2], calc["blocks"][:1])
    source = command("list", of, "--epoch", "all", "--source", "--all", "--format", "json")["lines"]
    rows = page.js("return [...document.querySelectorAll('.side-source tr.source')].map(tr => tr.dataset.line)")
    result(sorted(rows) == sorted(str(r["line"]) for r in source), "Why: the source has the command's lines",
           rows, source)
    linked = page.js("""
        const insn = [...document.querySelectorAll('.side-asm tr.insn[data-line]')][0];
        insn.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
        return [...document.querySelectorAll('.side-source .linked')].map(tr => tr.dataset.line)
            .includes(insn.dataset.line)""")
    result(linked, "Why: the pointer on an instruction marks its line")
    result(page.js("return document.querySelectorAll('.cycles tr').length") > 0, "Why: the cycle stack is there")
    page.press("v")
    result(page.js("return document.querySelector('.side-asm') === null"), "v shows the source alone")
    page.press("v", "v", "g")
    good = page.wait("document.querySelector('.graph')?.naturalWidth > 50")
    result(good, "g shows the control-flow graph")
    check_graph(page, of)
    page.press("Escape", "/")
    result("proc" not in page.state() and page.js("return document.querySelector('#main') !== null"),
           "/ goes to the list of stalls")


def check_graph(page, of):
    """The blocks in the picture lead to their code; the tables are cpi cfg's."""
    cfg = command("cfg", of, "--epoch", "all", "--format", "json")
    shown = page.js("""const box = document.querySelector('.graph').getBoundingClientRect();
        return [...document.querySelectorAll('.graphblock')].map(b => { const at = b.getBoundingClientRect();
            return [b.dataset.start, (at.x - box.x) / box.width, (at.y - box.y) / box.height]; })""")
    want = [[b["start"], b["box"]["x"], b["box"]["y"]] for b in cfg["blocks"]]
    result([s[0] for s in shown] == [w[0] for w in want] and all(
        abs(s[i] - w[i]) < 0.005 for s, w in zip(shown, want) for i in (1, 2)),
           "each block of the picture can be clicked", shown, want)
    page.press("t")
    tables = page.js("""return [...document.querySelectorAll('#main table.flat')].map(t => [...t.tBodies[0].rows].map(
        row => [row.cells[0].textContent, ...[...row.querySelectorAll('[data-value]')].map(n => n.dataset.value)]))""")
    blocks = [[b["start"], *(exact(v) for v in (b["instructions"], next(iter(b["samples"].values())), b["percent"],
               b["frequency"], b["best_case_cpi"], b["actual_cpi"]))] for b in cfg["blocks"]]
    edges = [[e["from"], *(exact(e[k]) for k in ("frequency", "taken_samples", "not_taken_samples"))]
             for e in cfg["edges"]]
    result(tables == [blocks, edges], "t shows the command's blocks and edges", tables, blocks, edges)
    page.press("t")
    start = cfg["blocks"][-1]["start"]
    page.js("document.querySelector(`.graphblock[data-start='${arguments[0]}']`).click()", start)
    page.settle()
    row = page.js("""const tr = document.querySelector('.side-asm tr.chosen'), box = tr.closest('.scroll').getBoundingClientRect();
        const at = tr.getBoundingClientRect();
        return [tr.dataset.key, at.top >= box.top && at.bottom <= box.bottom,
            tr.nextElementSibling.contains(document.activeElement) || document.activeElement.matches('.insn')]""")
    result(page.state().get("at") == start and "graph" not in page.state() and row == [f"b{start}", True, True],
           "a block of the picture opens its code", page.state(), row)


def check_lists(page):
    """What became slower and what ran more often stand apart, as the command says."""
    page.open(f"{RANGE}&view=where")
    change = """const real = window.fetch;
        window.fetch = async (url, ...rest) => { const answer = await real(url, ...rest);
            if (!String(url).includes('/diff?')) return answer;
            const report = await answer.json();
            window.verdicts = arguments[0];
            report.rows.slice(0, 4).forEach((row, i) => { row.found = 1; row.verdict = window.verdicts[i]; });
            window.report = report;
            return new Response(JSON.stringify(report)); };"""
    page.js(change, ["slower", "more often", "faster", "slower"])
    page.press("4")
    page.js(f"location.hash = '{RANGE}&view=changed&{SIDES}'; dispatchEvent(new PopStateEvent('popstate'))")
    page.settle()
    lists = page.js("""return Object.fromEntries(['slower', 'often', 'other', 'rest'].map(id => [id,
        [...document.querySelectorAll(`.scroll.${id} td[data-column=a] [data-value]`)].map(n => n.dataset.value)]))""")
    want = page.js("""const of = { slower: r => r.found && r.verdict === 'slower', often: r => r.found && r.verdict === 'more often',
            other: r => r.found && !['slower', 'more often'].includes(r.verdict), rest: r => !r.found };
        return Object.fromEntries(Object.entries(of).map(([id, f]) => [id,
            window.report.rows.filter(f).map(r => String(r.a_per_second ?? ''))]))""")
    result({k: sorted(v) for k, v in lists.items()} == {k: sorted(v) for k, v in want.items()} and
           len(lists["slower"]) == 2 and len(lists["often"]) == 1,
           "What changed: slower, more often, otherwise, and the rest are lists of their own", lists, want)
    page.open(f"{RANGE}&view=changed&{SIDES}")
    report = command("diff", "before", "after", "--threshold", "0.000001", "--format", "json")
    nr = page.js("return Object.fromEntries([...document.querySelectorAll('[data-list]')].map(n => [n.dataset.list, n.dataset.value]))")
    counts = collections.Counter({"slower": "slower", "more often": "often"}.get(r["verdict"], "other") if r["found"] else "rest"
                                 for r in report["rows"])
    result(nr == {k: str(counts.get(k, 0)) for k in ("slower", "often", "other", "rest")}, "... as many as the command says", nr, counts)


def check_rebuilt(page):
    """Instructions of a procedure that was rebuilt, side by side."""
    if not any(e["label"] == "rebuilt" for e in command("prof", "--epoch", "all", "--format", "json")["epochs"]):
        skip("instructions of a rebuilt procedure", "there is no compiler")
        return
    page.open(f"{RANGE}&view=changed&a=full&b=rebuilt&diffproc=target_hot")
    diff = command("diff", "full", "rebuilt", "target_hot", "--format", "json")
    rows = diff["instructions"]
    shown = list(zip(page.texts("address"), page.texts("b_address"), page.values("delta_ms_per_second")))
    want = [(r["address"] or "", r["b_address"] or "", exact(r["delta_ms_per_second"])) for r in rows]
    result(not diff["same_code"] and any(not r["address"] for r in rows) and shown == want,
           "What changed: instructions of a rebuilt procedure are the command's", shown[:4], want[:4])


def check_tables(page):
    """Each picture has its figures behind t."""
    page.open(f"{RANGE}&table=1&heat=1")
    report = command("prof", "--epoch", "all", "--by", "host", "--over-time", "--interval", "60s", "--format", "json")
    want = [None if rows[0] is None else sum(rows) for rows in zip(*(r["over_time"] for r in report["rows"]))]
    shown = page.js("return [...document.querySelectorAll('#time .flat [data-value]')].map(n => n.dataset.value)")
    result(same_numbers(shown, want), "the heat map's table has the command's intervals", shown, want)
    courses = command("prof", "--epoch", "all", "--over-time", "--limit", "300", "--format", "json")["rows"]
    rows = page.js("""return [...document.querySelectorAll('#main .flat tbody tr')].map(
        tr => [...tr.querySelectorAll('[data-value]')].map(n => n.dataset.value))""")
    shown = sorted([float(v) if v else -1 for v in row] for row in rows)
    result(shown == sorted([-1 if v is None else v for v in r["over_time"]] for r in courses) and rows,
           "the table of the small time lines has the command's courses", rows[:2], courses[:1])
    page.open(f"{RANGE}&view=changed&{SIDES}&table=1")
    report = command("diff", "before", "after", "--threshold", "0.000001", "--format", "json")
    result(sorted(zip(page.values("low"), page.values("high"))) == sorted(
        (exact(r["low_percent"]), exact(r["high_percent"])) for r in report["rows"]), "the intervals of What changed are in its table")
    page.open(f"{RANGE}&view=runs&table=1")
    report = command("stats", "--epoch", "all", "--format", "json")
    result(sorted(zip(page.values("min"), page.values("max"))) == sorted((exact(r["min"]), exact(r["max"])) for r in report["rows"]),
           "least and greatest of Runs are in its table")
    dots = page.js("return [...document.querySelectorAll('td[data-column=outliers] [data-epoch]')].map(n => [n.dataset.epoch, n.dataset.value])")
    result(sorted(dots) == sorted([o["epoch"], exact(o["value"])] for o in report["outliers"]) and dots,
           "... and its outliers", dots[:3])
    page.js("document.querySelector('#main tbody tr').click()")
    page.settle()
    result(page.js("return document.querySelectorAll('.runs-course .flat td').length") > 3, "... and the course of a row")


def read_link(page, href):
    """The file behind a link of the page, as it would be saved."""
    url = page.js("return new URL(arguments[0], location.href).href", href)
    options = parse_qs(urlsplit(url).query)
    with urllib.request.urlopen(url, timeout=60) as answer:
        data = answer.read()
    return options.get("format", ["json"])[0], data


PICTURES = """
const done = arguments[0];
(async () => {
    const files = [];
    const give = HTMLAnchorElement.prototype.click, make = URL.createObjectURL;
    HTMLAnchorElement.prototype.click = function () {};
    URL.createObjectURL = blob => { files.push(blob); return make.call(URL, blob); };
    const buttons = [...document.querySelectorAll("#save-list button")];
    buttons.forEach(b => b.click());
    const end = performance.now() + 20000;
    while (files.length < buttons.length && performance.now() < end)
        await new Promise(r => setTimeout(r, 20));
    HTMLAnchorElement.prototype.click = give;
    URL.createObjectURL = make;
    const text = async blob => { const b = new Uint8Array(await blob.arrayBuffer()); let s = "";
        for (let i = 0; i < b.length; i += 8192) s += String.fromCharCode(...b.subarray(i, i + 8192)); return btoa(s); };
    return [buttons.map(b => b.textContent), await Promise.all(files.map(async f => [f.type, await text(f)]))];
})().then(done);
"""


def check_files(page):
    """Everything that each view offers to save is a file of its kind."""
    code = f"proc={quote(PROCEDURE)}&image={quote(IMAGE)}"
    for choice, pictures in (("view=where", 4), ("view=where&heat=1", 4), ("view=flame", 3), (f"view=why&{code}", 2),
                             (f"view=why&graph=1&{code}", 3), (f"view=changed&{SIDES}", 4),
                             (f"view=changed&diffflame=1&{SIDES}", 3), ("view=runs", 4), ("view=health", 2)):
        page.open(f"{RANGE}&{choice}")
        if "graph" in choice:
            page.wait("document.querySelector('.graph')?.naturalWidth > 50")
        page.press("s")
        links = page.js("return [...document.querySelectorAll('#save-list a')].map(a => a.getAttribute('href'))")
        files = [(href, *read_link(page, href)) for href in links]
        names, drawn = page.driver.execute_async_script(PICTURES)
        files += [(kind, {"image/png": "png", "image/svg+xml": "svg"}[kind], base64.b64decode(data)) for kind, data in drawn]
        bad = [f"{name}: {web_saved.wrong(form, data)}" for name, form, data in files if web_saved.wrong(form, data)]
        result(not bad and len(drawn) == len(names) >= pictures and len(links) >= 6,
               f"{choice.split('&proc')[0]}: each of the {len(files)} files to save is valid", "\n".join(bad), names, len(drawn), links)
        page.press("Escape")


def check_changed(page):
    page.open(f"{RANGE}&view=changed&{SIDES}")
    report = command("diff", "before", "after", "--threshold", "0.000001", "--format", "json")
    shown = {json.dumps([float(v) if v else None for v in pair]) for pair in
             zip(page.values("a"), page.values("b"))}
    want = {json.dumps([float(r["a_per_second"]), float(r["b_per_second"])]) for r in report["rows"]}
    result(shown == want, "What changed: both sides are the command's", shown, want)
    found = page.js("return document.querySelectorAll('#main tr.v-found').length")
    result(found == sum(r["found"] for r in report["rows"]) and page.js(
        "return document.querySelector('#main tbody tr').className") == "v-found",
           "What changed: what is significant stands first", found)
    plots = page.js("return [...document.querySelectorAll('.forest')].map(n => n.dataset.value)")
    result(sorted(plots) == sorted(page.js("return arguments[0].map(r => JSON.stringify(r))", [
        [r["change_percent"], r["low_percent"], r["high_percent"]] for r in report["rows"]])),
           "What changed: each interval is drawn as the command has it", plots[:3])
    page.press("v")
    result(page.js("return document.querySelector('#main canvas') !== null"), "v shows both flame graphs as one")
    page.press("v", "%")
    result(page.state()["a"] == "after" and page.state()["b"] == "before", "% exchanges the sides")
    page.open(f"{RANGE}&view=changed")
    result("B" in page.js("return document.querySelector('#main .notice').textContent"),
           "What changed: without B it says what to do")


def check_both_flames(page):
    """The flame graph of both sides has the command's boxes and verdicts."""
    page.open(f"{RANGE}&view=changed&diffflame=1&table=1&{SIDES}")
    rows = command("flame", "before", "after", "--threshold", "0.05", "--format", "json")["rows"]
    shown = collections.Counter(zip(page.values("a_share"), page.values("b_share")))
    want = collections.Counter((exact(r["a_percent"]), exact(r["b_percent"])) for r in rows)
    result(shown == want, "both flame graphs: the table has the boxes of cpi flame A B", shown, want)
    found = page.js("""return [...document.querySelectorAll('#main td[data-column=verdict]')].filter(
        n => n.textContent.startsWith('significant: ')).length""")
    result(found == sum(r["shade"] > 0 for r in rows) > 0, "... and says which changed", found)


def check_heat(page):
    """Minutes by hour, from the command's intervals."""
    page.open(f"{RANGE}&heat=1")
    report = command("prof", "--epoch", "all", "--by", "host", "--over-time", "--interval", "60s", "--format", "json")
    want = [None if rows[0] is None else sum(rows) for rows in zip(*(r["over_time"] for r in report["rows"]))]
    shown = page.js("return [...document.querySelectorAll('.heatmap [data-row]')].map(n => n.dataset.value)")
    result(same_numbers(shown, want), "each field of the heat map is the command's interval", shown, want)
    scales = page.driver.execute_async_script("""const done = arguments[0];
        const line = (n, ms) => ({ from: 0, to: n * ms, epochs: Array.from({ length: n }, (_, i) => ({
            from: new Date(i * ms).toISOString(), to: new Date((i + 1) * ms).toISOString() })) });
        import(new URL("page.js", location.href)).then(({ modules: { "heat.js": { heatScale } } }) =>
            done([heatScale(line(600, 1000)), heatScale(line(1440, 60000))]));""")
    result([[s["row"], s["field"]] for s in scales] == [[60000, 1000], [3600000, 60000]],
           "its rows are minutes of seconds, or hours of minutes, as the epochs are long", scales)


def check_outliers(page):
    page.open(f"{RANGE}&view=runs")
    outliers = command("stats", "--epoch", "all", "--format", "json")["outliers"]
    dots = page.js("return [...document.querySelectorAll('.spread .outlier')].map(n => [n.dataset.epoch, n.dataset.value])")
    result(sorted(dots) == sorted([o["epoch"], exact(o["value"])] for o in outliers) and dots,
           "Runs: each outlier is a dot", dots[:5], outliers[:5])
    page.js("document.querySelector('.spread .outlier').dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    page.settle()
    result(page.state().get("view") is None and ".." in page.state().get("a", ""), "... which opens it", page.state())


def check_words(page):
    """Each figure has a sentence that says what it is."""
    unknown = []
    for view in [*VIEWS, "changed&diffflame=1&table=1", "flame&table=1", "health&table=1", "why&graph=1&table=1",
                 "where&table=1", "where&heat=1&table=1", "runs&table=1", "changed&table=1"]:
        page.open(f"{RANGE}&view={view}&{SIDES}" + (f"&proc={quote(PROCEDURE)}&image={quote(IMAGE)}"
                                                    if view.startswith("why") else ""))
        unknown += [f"{view}: {text}" for text in page.driver.execute_async_script("""
            const done = arguments[0];
            import(new URL("page.js", location.href)).then(({ modules: { "explain.js": { WORDS } } }) => done([...document.querySelectorAll(
                "#main .n, .timetable .n")].filter(n => !WORDS[n.closest("[data-what]")?.dataset.what])
                .map(n => n.parentNode.outerHTML.slice(0, 150))));""")]
    result(not unknown, "each figure says what it is", "\n".join(unknown[:10]))


def check_runs(page):
    page.open(f"{RANGE}&view=runs")
    report = command("stats", "--epoch", "all", "--format", "json")
    spreads = page.js("return [...document.querySelectorAll('.spread')].map(n => n.dataset.value)")
    want = page.js("return arguments[0].map(r => JSON.stringify(r))",
                   [[r["min"], r["mean"], r["std_dev"], r["max"]] for r in report["rows"]])
    result(sorted(spreads) == sorted(want), "Runs: each spread is the command's", spreads[:3], want[:3])
    page.js("document.querySelector('#main tbody tr').click()")
    page.settle()
    result(page.wait("document.querySelectorAll('.runbar').length > 1"), "Runs: a row has its course")
    page.js("document.querySelector('.runbar:not(:disabled)').click()")
    page.settle()
    result(page.state().get("view") is None and ".." in page.state().get("a", ""),
           "Runs: an interval is opened by a click", page.state())


def check_health(page):
    page.open(f"{RANGE}&view=health&table=1")
    status = command("status", "--format", "json")["database"]
    shown = page.js("""return Object.fromEntries([...document.querySelectorAll('#main [data-name]')].map(
        n => [n.dataset.name, n.dataset.value]))""")
    wrong = {k: (v, shown.get(k)) for k, v in status.items() if str(v) != shown.get(k)}
    result(not wrong, "Health: each figure of the database is the command's", wrong)
    page.press("t")
    text = page.js("return document.getElementById('main').innerText")
    result(all(word in text for word in ("Cost", "Unknown", "Gaps", "Database", "Versions", "restarted")),
           "Health: cost, unknown, gaps, restarts, database and versions are there", text)


# Changes the answers of a report before the page has them: (report, what to do with answer).
CHANGE = """const real = window.fetch, [name, change] = arguments, of = new Function("answer", change);
window.fetch = async (url, ...rest) => { const reply = await real(url, ...rest);
    if (!String(url).includes(`/${name}?`) && !String(url).endsWith(`/${name}`)) return reply;
    const answer = await reply.json();
    of(answer);
    return new Response(JSON.stringify(answer)); };"""


def open_changed(page, choice, *change):
    page.open(RANGE)
    page.js(CHANGE, *change)
    page.js("location.hash = arguments[0]; dispatchEvent(new PopStateEvent('popstate'))", f"{RANGE}&{choice}")
    page.settle()


def check_told(page):
    """What the page says about its figures: in all of time, with a filter, at the start."""
    samples = command("tree", "--epoch", "all", "--threshold", "0.02", "--format", "json")["samples"]
    open_changed(page, "view=flame", "tree", "answer.idle_samples = 40")
    told = page.js("return [...document.querySelectorAll('#main .truth [data-value]')].map(n => n.dataset.value)")
    result(told[:2] == [str(samples), "40"], "Flame: idle call stacks are not among those that are shown", told, samples)
    page.open(f"{RANGE}&filters=only:image:/usr/bin/other")
    report = command("prof", "--epoch", "all", "--image", "/usr/bin/other", "--format", "json")
    total = sum(r["samples"].get("cpu-clock", 0) for r in report["rows"])
    told = page.js("return [...document.querySelectorAll('.truth [title]')].map(n => n.title)")
    result(total and f"0 of {total} samples" in told, "with a filter, the line of truth is about its samples", told, total)
    open_changed(page, "view=health", "status", """answer.daemon = { version: "1", state: "sampling", uptime_s: 3,
        cpus: 2, rate_hz: 97, budget_percent: 0.5, db_bytes: 4096, retain_bytes_limit: 0 };""")
    text = page.js("return document.getElementById('main').innerText")
    result("Not measured yet." in text and "kept" not in text and "NaN" not in text and "then the oldest" not in text,
           "Health: a cost that is not measured yet is not called within the budget", text)
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    page.open(RANGE)
    days = page.driver.execute_async_script("""const done = arguments[0], at = (d, h) => Date.UTC(2026, 10, d, h);
        import(new URL("page.js", location.href)).then(({ modules: { "format.js": { span } } }) =>
            done([span(at(22, 14), at(22, 16)), span(at(22, 16), at(23, 2))]));""")
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
    result(days == ["22 Nov 14:00–16:00 UTC", "22 Nov 16:00–23 Nov 02:00 UTC"],
           "days are those of UTC in every zone", days)


def check_keys(page):
    page.open(RANGE)
    for i, view in enumerate(VIEWS):
        page.press(str(i + 1))
        selected = page.js("return document.querySelector('[role=tab][aria-selected=true]').dataset.view")
        result(selected == view, f"{i + 1} shows {view}", selected)
    page.press("1", "?")
    listed = page.js("return [...document.querySelectorAll('#help kbd')].map(k => k.textContent)")
    result(page.js("return document.getElementById('help').open") and
           set("123456?ieab[]hdwfxFXutlrs/gcy") <= set(listed), "? lists the keys", listed)
    page.press("Escape")
    page.press("i")
    result(page.js("return document.querySelectorAll('#meaning-list dt').length") > 8,
           "i says what the figures mean")
    page.press("Escape", "s")
    result(page.js("return document.querySelectorAll('#save-list a').length") >= 6, "s offers files")
    forms = page.js("return [...document.querySelectorAll('#save-list a')].map(a => a.getAttribute('href'))")
    bad = page.driver.execute_async_script("""
        const [urls, done] = arguments;
        Promise.all(urls.map(async u => { const r = await fetch(u); const b = await r.blob();
            return r.ok && b.size ? null : u + ' ' + r.status; }))
            .then(list => done(list.filter(Boolean)));""", forms)
    result(not bad, "each of the files can be had", bad)
    page.press("Escape")
    page.press("e")
    result(page.js("return document.activeElement.id") == "range", "e goes to the epochs")
    page.press("Escape")
    page.press("g")
    result(page.state().get("by") == "image", "g groups by the next kind")
    page.open(RANGE)
    page.press("c")
    result(page.state().get("cpi") == "1" and page.js(
        "return document.querySelector('th[data-column=cpi]') !== null"), "c shows CPI")
    page.open(RANGE)
    page.js("document.querySelector('#main tbody tr').click()")
    page.press("ArrowDown", "ArrowDown", "ArrowUp")
    result(page.js("return document.activeElement.dataset.index") == "1", "the arrows go through the table")
    page.press("Enter")
    result(page.state().get("view") == "why" and page.state().get("proc"), "Enter opens the row")
    page.press("Escape", "Escape")
    page.press("a")
    result(".." in page.state().get("a", ""), "a makes side A of what is shown")


def check_presets(page):
    """Views and filters under names, which stay in the browser."""
    page.open(f"{RANGE}&view=runs&runsby=image&filters=hide:image:prog")
    page.press("j")
    page.js("document.getElementById('preset-name').value = '<b>mine</b>'; document.getElementById('save-view').click()")
    page.js("document.getElementById('preset-name').value = 'no prog'; document.getElementById('save-filters').click()")
    page.open(f"{RANGE}&view=where")
    page.press("j")
    names = page.js("return [...document.querySelectorAll('#preset-list li .link')].map(n => n.textContent)")
    result(names == ["<b>mine</b>", "no prog"], "saved views are listed, as text", names)
    page.js("document.querySelectorAll('#preset-list li .link')[1].click()")
    page.settle()
    state = page.state()
    result(state.get("filters") == "hide:image:prog" and "view" not in state, "saved filters come back alone", state)
    page.press("j")
    page.js("document.querySelectorAll('#preset-list li .link')[0].click()")
    page.settle()
    state = page.state()
    result(state.get("view") == "runs" and state.get("runsby") == "image", "a saved view comes back whole", state)
    page.press("j")
    page.js("document.querySelector('#preset-list li button:last-child').click()")
    left = page.js("return document.querySelectorAll('#preset-list li').length")
    page.js("sessionStorage.setItem('cpi-views', '{\"no\": [list'); document.getElementById('presets').close()")
    page.press("j")
    result(left == 1 and page.js("return document.querySelectorAll('#preset-list li').length") == 0,
           "one can be removed, and what is no list is none", left)
    result(page.js("return localStorage.length") == 0, "nothing of this port stays in the browser")
    page.js("sessionStorage.clear()")
    page.press("Escape")


def check_pictures(page):
    """SVG and PNG of what is drawn are files that stand alone."""
    for view, wanted in (("where", 4), ("flame", 3)):
        page.open(f"{RANGE}&view={view}")
        page.js("""window.files = [];
            const make = URL.createObjectURL;
            URL.createObjectURL = blob => { window.files.push(blob); return make.call(URL, blob); };""")
        page.press("s")
        page.js("document.querySelectorAll('#save-list button').forEach(b => b.click())")
        page.wait(f"window.files.length >= {wanted}")
        files = page.driver.execute_async_script("""
            const done = arguments[0];
            Promise.all(window.files.map(async f => [f.type, f.size, f.type.includes('svg') ? await f.text() : '']))
                .then(done);""")
        types = sorted(f[0] for f in files)
        result(types == sorted(["image/svg+xml"] * (wanted // 2) + ["image/png"] * (wanted - wanted // 2)) and all(f[1] > 500 for f in files),
               f"{view}: the pictures can be saved", files)
        drawing = next((f[2] for f in files if "timeline" in f[2]), "")
        result("var(--i" not in drawing.split("</style>")[0] and "<path" in drawing,
               f"{view}: the drawing has its colours in it", drawing[:800])
        page.press("Escape")


def check_in_place(page):
    """New answers replace the old ones, as in a live range."""
    page.open(RANGE)
    page.js("document.querySelectorAll('#main tbody tr')[2].click()")
    before = page.js("return [document.activeElement.dataset.index, document.activeElement.textContent]")
    page.press("r")
    after = page.js("return [document.activeElement.dataset.index, document.activeElement.textContent]")
    result(before == after and before[0] == "2", "reading again keeps selection and focus", before, after)
    page.open(f"{RANGE}&cpi=1&q=target_hot")
    summary = command("sum", f"{IMAGE}:{PROCEDURE}", "--epoch", "all", "--format", "json")["summary"]
    page.wait("document.querySelector('td[data-column=cpi] [data-value]')")
    shown = page.values("cpi")
    result(shown and [float(v) for v in json.loads(shown[0])] ==
           [summary["best_case_cpi"], summary["actual_cpi"]], "CPI is the command's", shown, summary)
    shifts = page.driver.execute_async_script("""
        const done = arguments[0];
        const sum = { n: 0 };
        new PerformanceObserver(list => list.getEntries().forEach(e => { sum.n += e.value; }))
            .observe({ type: "layout-shift", buffered: true });
        setTimeout(() => done(sum.n), 100);""")
    result(shifts < 0.1, "the layout does not shift while answers come", shifts)


def check_reload(page):
    for choice in (f"{RANGE}&by=image&q=prog&sort=image", f"{RANGE}&view=flame&shape=flame&fq=gamma",
                   f"{RANGE}&view=changed&{SIDES}", f"{RANGE}&filters=hide:procedure:gamma",
                   f"{RANGE}&view=runs&runsby=image"):
        page.open(choice)
        before = page.js("return [location.hash, document.getElementById('main').innerText]")
        page.driver.refresh()
        page.settle()
        after = page.js("return [location.hash, document.getElementById('main').innerText]")
        result(before == after, f"after a reload all is as before: {choice}", before[0], after[0],
               before[1][:300], after[1][:300])
    page.open(RANGE)
    page.press("2")
    page.driver.back()
    page.settle()
    result(page.js("return document.querySelector('[aria-selected=true]').dataset.view") == "where",
           "the browser's Back goes back")


def check_narrow(page):
    page.resize(390, 844)
    for view in VIEWS:
        page.open(f"{RANGE}&view={view}&{SIDES}" + (f"&proc={quote(PROCEDURE)}&image={quote(IMAGE)}"
                                                    if view == "why" else ""))
        wide = page.js("return document.documentElement.scrollWidth")
        result(wide <= 390, f"390 pixels: {view} does not scroll sideways", wide)
    page.resize(1280, 800)


# WCAG's contrast of text that is shown with what is behind it.
CONTRAST = """
const rgb = text => { const p = text.match(/[\\d.]+/g).map(Number); return p.length > 3 ? p : [...p, 1]; };
const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 :
    ((c + 0.055) / 1.055) ** 2.4).reduce((a, c, i) => a + c * [0.2126, 0.7152, 0.0722][i], 0);
const behind = node => { for (let at = node; at; at = at.parentElement) {
    const c = rgb(getComputedStyle(at).backgroundColor); if (c[3] > 0.99) return c; } return [255, 255, 255, 1]; };
const low = new Set();
for (const node of document.querySelectorAll('body *')) {
    if (!node.offsetParent || ![...node.childNodes].some(c => c.nodeType === 3 && c.data.trim()))
        continue;
    if (node.disabled) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.add(`${node.tagName}.${node.className}: ${ratio.toFixed(2)}`);
}
return [...low];
"""


def check_schemes(page):
    for dark in (False, True):
        page.scheme(dark)
        low = []
        for view in VIEWS:
            page.open(f"{RANGE}&view={view}&{SIDES}" + (f"&proc={quote(PROCEDURE)}&image={quote(IMAGE)}"
                                                        if view == "why" else ""))
            low += [f"{view} {text}" for text in page.js(CONTRAST)]
        result(not low, f"text has a contrast of 4.5 at least, {'dark' if dark else 'light'}", low)
    paper = page.js("return getComputedStyle(document.body).backgroundColor")
    result(sum(int(c) for c in re.findall(r"\d+", paper)[:3]) < 150, "dark is dark", paper)
    page.scheme(False)


def check_machines(page):
    page.open(f"{RANGE}&filters=only:host:web1")
    want = command("prof", "--epoch", "all", "--host", "web1", "--format", "json")["rows"]
    result(same_numbers(sorted(page.values("time"), key=float), sorted(r["time_ns"] for r in want)) and
           page.js("return document.querySelector('.chip') !== null"), "a machine can be chosen alone")


def check_hostile(page):
    page.open(RANGE)
    names = page.js("""return [...document.querySelectorAll('#main td[data-column=procedure]')].map(
        n => n.textContent)""")
    result(any("<script>" in n for n in names) and any("<iframe>" in n for n in names),
           "hostile names are shown as text", names)
    for view in VIEWS:
        page.open(f"{RANGE}&view={view}&{SIDES}&table=1")
    result(page.js("return !window.attacked") and page.js(
        "return document.querySelectorAll('#main img:not(.graph), #main script, #main iframe').length") == 0,
           "hostile names do nothing")
    result(not any(re.search("[\u202a-\u202e\u2066-\u2069]", n) for n in names),
           "marks that turn text are not drawn", names)
    hash_ = quote("<img src=x onerror=pwned()>", safe="")
    page.open(f"range={hash_}&by={hash_}&view={hash_}&proc={hash_}&filters=hide:image:{hash_}")
    result(page.js("return !window.attacked && document.querySelector('#main .notice') !== null"),
           "a hostile address does nothing, and an error says what to do")
    page.console()  # the server's refusal of that range stands there
    page.open(RANGE)


def check_axe(page):
    if not AXE:
        skip("axe-core finds nothing serious", "axe.min.js is not installed: name it by AXE")
        return
    with open(AXE) as f:
        source = f.read()
    found = []
    for dark, narrow in ((False, False), (True, False), (False, True), (True, True)):
        page.scheme(dark)
        page.resize(390 if narrow else 1280, 844 if narrow else 800)
        for view, form in [(v, f) for v in VIEWS for f in ("", "&table=1")] + [("where", "&heat=1"), ("why", "&graph=1")]:
            page.open(f"{RANGE}&view={view}&{SIDES}{form}" + (f"&proc={quote(PROCEDURE)}&image={quote(IMAGE)}"
                                                              if view == "why" else ""))
            page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": source})
            report = page.driver.execute_async_script(
                "const done = arguments[0]; axe.run(document).then(r => done(r.violations))")
            found += [f"{view}{form} {v['impact']} {v['id']}: {v['nodes'][0]['html'][:200]}" for v in report
                      if v["impact"] in ("serious", "critical")]
    page.scheme(False)
    page.resize(1280, 800)
    result(not found, "axe-core finds nothing serious", "\n".join(found))


def check_quiet(page):
    requests = []
    for entry in page.driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            requests.append(message["params"]["request"]["url"])
    elsewhere = {u for u in requests if not u.startswith(URL) and not u.startswith(("data:", "blob:", "about:"))}
    result(len(requests) > 10 and not elsewhere, "nothing is asked of anybody else", elsewhere)
    result(not refused, "the content security policy refuses nothing", refused)
    result(not messages, "the console has no message", messages)


def check_views(page):
    """One look at each view, for a short pass."""
    for view, wanted in (("where", "table tbody tr"), ("flame", "canvas"), ("why", ".side-asm tr.bubble"),
                         ("changed", ".forest"), ("runs", ".spread"), ("health", ".card")):
        page.open(f"{RANGE}&view={view}" + (f"&{SIDES}" if view == "changed" else "") +
                  (f"&proc={quote(PROCEDURE)}&image={quote(IMAGE)}" if view == "why" else ""))
        result(page.js("return document.querySelector('#main ' + arguments[0]) !== null", wanted) and
               page.js("return document.querySelectorAll('.timeline .area').length") > 0,
               f"{view} shows what it is for", page.js("return document.body.innerText"))


def check_values(page):
    """Beside the code: shares of values, as cpi values says them, and its suggestions."""
    of = f"{IMAGE}:{PROCEDURE}"
    page.open(f"{RANGE}&view=why&proc={PROCEDURE}&image={quote(IMAGE, '')}")
    page.wait("document.querySelector('[aria-label=Values] .site')")
    shown = page.js("return [...document.querySelectorAll('[aria-label=Values] [data-value]')].map(n => n.dataset.value)")
    text = page.js("return document.querySelector('[aria-label=Values]').textContent")
    operands = command("values", of, "--epoch", "all", "--format", "json")["operands"]
    wanted = [exact(v["share"]) for o in operands for v in o["values"][:4]]
    result(wanted and not collections.Counter(wanted) - collections.Counter(shown),
           "Why: the shares of values are the command's", shown, wanted)
    suggested = [o["suggestion"] for o in operands if o["suggestion"] and o["values"]]
    result(suggested and all(s in text for s in suggested), "Why: what the command suggests stands there",
           suggested, text)


PARTS = {
    "values": [check_values],
    "short": [check_views, check_where, check_narrow],
    "views": [check_where, check_not, check_filters, check_time, check_heat, check_flame, check_why, check_changed, check_lists, check_rebuilt,
              check_both_flames, check_runs, check_outliers, check_health, check_told, check_machines, check_marks, check_tables],
    "rest": [check_keys, check_presets, check_pictures, check_files, check_in_place, check_reload, check_narrow, check_schemes, check_words,
             check_live, check_axe, check_hostile],
}
messages = []
refused = []


def main():
    page = Page(URL)
    try:
        for check in PARTS[HOW]:
            check(page)
            messages.extend(f"{check.__name__}: {m}" for m in page.console())
            refused.extend(page.js("return window.refused"))
        check_quiet(page)
        print(f"1..{number}")
    finally:
        page.close()


main()
