# SPDX-License-Identifier: GPL-2.0-or-later
"""How long frames of a large flame graph take: web_frames.py URL [BOXES]

The page's own view gets a made-up tree of BOXES (20,000), and is used by the mouse and by
keys: a pointer over it, zooms, a search letter by letter, steps from box to box, scrolls,
an image hidden. For each it prints the median and the slowest frame, and the longest task
of the page in it, in ms. A screen of 60 Hz has 16.7 ms for each frame.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from web_browser import Page

# Answers "tree" in the server's place.
ANSWER = """
window.boxes = BOXES;
const real = window.fetch;
window.fetch = (url, ...rest) => {
    if (!String(url).includes("/tree?"))
        return real(url, ...rest);
    let seed = 1;
    const random = n => (seed = (seed * 48271) % 2147483647) % n;
    const rows = [];
    for (let id = 0; id < boxes; id++) {
        const parent = id < 4 ? null : random(id < 400 ? id : 400 + (id >> 1));
        rows.push({ id, parent: parent !== null && parent < id ? parent : null, samples: 0,
            self_samples: 1 + random(50), procedure: `procedure_${id}`, image: `/usr/lib/lib${random(9)}.so`,
            kind: "library" });
    }
    for (let id = boxes - 1; id >= 0; id--) {
        rows[id].samples += rows[id].self_samples;
        if (rows[id].parent !== null)
            rows[rows[id].parent].samples += rows[id].samples;
    }
    const samples = rows.filter(r => r.parent === null).reduce((a, r) => a + r.samples, 0);
    return Promise.resolve(new Response(JSON.stringify({ rows, samples, event: "cpu-clock" })));
};
"""

# Does one thing in each of 60 frames. A frame's time is what the page computes in it: the
# thing itself, what was asked to be drawn by the one before, and the layout.
MEASURE = """
const [name, done] = arguments;
const main = document.querySelector("#main canvas"), input = document.getElementById("search");
const area = main.getBoundingClientRect();
const send = (node, type, x, y) => node.dispatchEvent(new PointerEvent(type, { bubbles: true,
    clientX: area.x + x * area.width, clientY: area.y + y * area.height }));
const key = text => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: text, bubbles: true }));
const steps = {
    "pointer over boxes": i => send(main, "pointermove", (i * 37 % 60) / 60, (i * 17 % 60) / 60),
    "zoom in and out": i => {
        if (i % 20 === 0)
            send(main, "dblclick", 0.1 + i / 100, 0.15);
        else if (i % 20 === 10)
            key("Escape");
    },
    "search, letter by letter": i => {
        input.value = "procedure_1234".slice(0, 1 + i % 14);
        input.dispatchEvent(new Event("input", { bubbles: true }));
    },
    "from box to box": i => { main.focus(); key(["ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp"][i % 4]); },
    "scroll": i => { main.closest(".flamebox").scrollTop = 10 * i; },
    "hide an image": i => { if (i % 20 === 0) document.querySelector(".images .image").click(); },
};
const times = [], tasks = [0];
const observer = new PerformanceObserver(list => tasks.push(...list.getEntries().map(e => e.duration)));
observer.observe({ type: "longtask" });
const channel = new MessageChannel();
let i = 0, began = 0;
channel.port1.onmessage = () => {
    times.push(performance.now() - began);
    if (times.length < 61)
        return;
    setTimeout(() => {
        observer.disconnect();
        times.sort((a, b) => a - b);
        done({ median: times[times.length >> 1], slowest: times[times.length - 1], longest: Math.max(...tasks) });
    }, 100);
};
function frame() {
    began = performance.now();
    if (i < 60) {
        requestAnimationFrame(frame); // ahead of what the step asks for
        steps[name](i++);
    }
    channel.port2.postMessage(0);
}
requestAnimationFrame(frame);
"""

STEPS = ["pointer over boxes", "zoom in and out", "search, letter by letter", "from box to box", "scroll",
         "hide an image"]


def main():
    page = Page(sys.argv[1])
    boxes = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                                {"source": ANSWER.replace("BOXES", str(boxes))})
    try:
        for name in STEPS:
            page.open("range=last&view=flame")
            took = page.driver.execute_async_script(MEASURE, name)
            print(f"{name:<26} median {took['median']:5.1f}, slowest {took['slowest']:5.1f}, longest task "
                  f"{took['longest']:5.1f}" if took["longest"] else
                  f"{name:<26} median {took['median']:5.1f}, slowest {took['slowest']:5.1f}, no task of 50 or more")
    finally:
        page.close()


main()
