# SPDX-License-Identifier: GPL-2.0-or-later
"""How long a frame of a large flame graph takes: web_frames.py URL [BOXES]

Draws a made-up tree on the page's own canvas 120 times while it zooms, and prints the
median and the slowest frame. A screen of 60 Hz has 16.7 ms for each.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from web_browser import Page

MEASURE = """
const [wanted, done] = arguments;
(async () => {
    const { buildTree, levelsOf } = await import(new URL("flame_tree.js", location.href));
    const { createFlame } = await import(new URL("flame_canvas.js", location.href));
    let seed = 1;
    const random = n => (seed = (seed * 48271) % 2147483647) % n;
    const rows = [];
    for (let id = 0; id < wanted; id++) {
        const parent = id < 4 ? null : random(id < 400 ? id : 400 + (id >> 1));
        rows.push({ id, parent: parent !== null && parent < id ? parent : null, samples: 0, self_samples: 1 + random(50),
            procedure: `procedure_${id}`, image: `/usr/lib/lib${random(9)}.so`, kind: "library" });
    }
    for (let id = wanted - 1; id >= 0; id--) {
        rows[id].samples += rows[id].self_samples;
        if (rows[id].parent !== null) rows[rows[id].parent].samples += rows[id].samples;
    }
    const built = performance.now();
    const root = buildTree([rows]);
    const build = performance.now() - built;
    const flame = createFlame({ label: "", colour: b => "i" + (b.depth % 7), hover() {}, select() {}, zoom() {} });
    document.getElementById("main").replaceChildren(flame.node);
    flame.show(root);
    await new Promise(requestAnimationFrame);
    const times = [];
    for (let i = 0; i < 120; i++) {
        flame.node.scrollTop = i;
        await new Promise(requestAnimationFrame);
        times.push(flame.paint());
    }
    times.sort((a, b) => a - b);
    done({ boxes: levelsOf(root).flat().length - 1, build, median: times[60], slowest: times[119] });
})().catch(e => done({ error: String(e) }));
"""

page = Page(sys.argv[1])
try:
    page.open()
    print(page.driver.execute_async_script(MEASURE, int(sys.argv[2]) if len(sys.argv) > 2 else 20000))
finally:
    page.close()
