// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * flame_canvas.js - draws boxes on a canvas that is as large as what is seen, whatever the
 * height of the graph. Boxes narrower than half a pixel are drawn as one; text is cut by
 * counting letters, so a frame of 20,000 boxes measures nothing.
 */
import { el, plain, base } from "./dom.js";
import { inkOn, palette } from "./hues.js";
import { levelsOf } from "./flame_tree.js";

const HIGH = 18; // of a box
const LETTER = 6.65; // of the 11-pixel fixed font
const ZOOM_MS = 120;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");

/** The number of the last box of a level, sorted by x0, that begins at x or before; or 0. */
function indexAt(level, x) {
  let low = 0;
  let high = level.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (level[middle].x0 <= x)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/** The list of a key, which is made where it is not there. */
function listOf(map, key) {
  let list = map.get(key);
  if (!list)
    map.set(key, list = []);
  return list;
}

/** The box of a level that has x; null beside all. */
function find(level, x) {
  const box = level[indexAt(level, x)];
  return box && box.x0 <= x && x < box.x1 ? box : null;
}

/**
 * @param {Object} options
 * @param {function(Object): string} options.colour name of a box's colour in palette()
 * @param {function(Object|null, MouseEvent=): void} options.hover
 * @param {function(Object): void} options.select
 * @param {function(Object): void} options.zoom
 */
export function createFlame({ label, colour, hover, select, zoom }) {
  const canvas = el("canvas", { role: "img", tabindex: 0, "aria-label": label, "data-what": "box" });
  const spacer = el("div", { class: "flamespace" }, canvas);
  const node = el("div", { class: "flamebox" }, spacer);
  const draw2d = canvas.getContext("2d", { alpha: false });
  let colours = palette();
  const inks = new Map(); // colour → what can be read on it
  let levels = [];
  let upwards = false;
  let seen = { x0: 0, x1: 1 };
  let chosen = null;
  let found = null; // has(box): whether a search found it
  let pending = 0;
  let skipped = 0; // levels from the root on
  let motion = 0;

  let measured = null; // the size, and scrollTop: to ask for them lays out the page
  let scrolled = 0;

  const size = () => (measured ??= [node.clientWidth, Math.max(HIGH, node.clientHeight)]);
  const height = () => Math.max(1, levels.length - skipped) * HIGH;

  function ask() {
    pending ||= requestAnimationFrame(paint);
  }

  /** Top of a level on the canvas. */
  function topOf(depth, high) {
    const row = depth - skipped;
    const at = upwards ? Math.max(height(), high) - (row + 1) * HIGH : row * HIGH;
    return at - scrolled;
  }

  function paint() {
    cancelAnimationFrame(pending); // a second one in the same frame would draw the same
    pending = 0;
    const [wide, high] = size();
    const ratio = devicePixelRatio || 1;
    if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(high * ratio);
      canvas.style.width = `${wide}px`;
      canvas.style.height = `${high}px`;
    }
    draw2d.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw2d.fillStyle = colours.paper;
    draw2d.fillRect(0, 0, wide, high);
    draw2d.font = "11px ui-monospace, 'DejaVu Sans Mono', monospace";
    draw2d.textBaseline = "middle";
    const scale = wide / (seen.x1 - seen.x0);
    const layers = { bright: new Map(), faint: new Map(), texts: new Map() };
    for (let depth = skipped; depth < levels.length; depth++) {
      const top = topOf(depth, high);
      if (top > -HIGH && top < high)
        takeLevel(levels[depth], top, scale, wide, layers);
    }
    paintLayers(layers);
    if (chosen?.depth >= skipped)
      paintChosen(scale, wide, high);
  }

  /** Setting a colour costs as much as drawing a box, so each is set once. */
  function paintLayers({ bright, faint, texts }) {
    for (const [alpha, fills] of [[0.25, faint], [1, bright]]) {
      draw2d.globalAlpha = alpha;
      for (const [fill, list] of fills) {
        draw2d.fillStyle = fill;
        for (let i = 0; i < list.length; i += 3)
          draw2d.fillRect(list[i], list[i + 1], list[i + 2], HIGH - 1);
      }
    }
    for (const [ink, list] of texts) {
      draw2d.fillStyle = ink;
      for (const { text, left, top } of list)
        draw2d.fillText(text, left, top);
    }
  }

  function paintChosen(scale, wide, high) {
    const left = Math.max(-1, (chosen.x0 - seen.x0) * scale);
    const right = Math.min(wide + 1, (chosen.x1 - seen.x0) * scale);
    if (right <= left)
      return;
    draw2d.strokeStyle = colours.ink;
    draw2d.lineWidth = 2;
    draw2d.strokeRect(left + 1, topOf(chosen.depth, high) + 1, Math.max(1, right - left - 2.6), HIGH - 3);
  }

  /** What a level has in sight, by layer: rectangles (left, top, width) by colour, and texts by ink. */
  function takeLevel(level, top, scale, wide, layers) {
    let run = -1; // left end of narrow boxes that stand together
    for (let i = indexAt(level, seen.x0); i < level.length; i++) {
      const box = level[i];
      const left = (box.x0 - seen.x0) * scale;
      const right = (box.x1 - seen.x0) * scale;
      if (left > wide)
        break;
      if (right < 0)
        continue;
      if (right - left < 0.5) {
        if (run < 0 || left - run > 1) {
          listOf(layers.bright, colours.other).push(left, top, 0.7);
          run = left;
        }
        continue;
      }
      takeBox(box, Math.max(-1, left), top, Math.min(wide + 1, right) - Math.max(-1, left), layers);
    }
  }

  function takeBox(box, left, top, wide, layers) {
    const fill = colours[colour(box)] ?? colours.other;
    const faint = found && !found.has(box);
    listOf(faint ? layers.faint : layers.bright, fill).push(left, top, Math.max(0.5, wide - 0.6));
    const letters = Math.floor((wide - 6) / LETTER);
    if (letters < 3)
      return;
    const name = box.shown ??= plain(box.procedure);
    listOf(layers.texts, faint ? colours.quiet : inkFor(fill)).push({ left: Math.max(0, left) + 3, top: top + HIGH / 2,
      text: name.length > letters ? name.slice(0, letters - 1) + "…" : name });
  }

  function inkFor(fill) {
    if (!inks.has(fill))
      inks.set(fill, inkOn(fill));
    return inks.get(fill);
  }

  function boxAtPoint(event) {
    const area = canvas.getBoundingClientRect();
    const [wide, high] = size();
    const y = event.clientY - area.top + node.scrollTop;
    const depth = Math.floor((upwards ? Math.max(height(), high) - y : y) / HIGH) + skipped;
    const x = seen.x0 + (event.clientX - area.left) / wide * (seen.x1 - seen.x0);
    return levels[depth] ? find(levels[depth], x) : null;
  }

  function moveTo(target) {
    cancelAnimationFrame(motion);
    const from = { ...seen };
    const started = performance.now();
    const step = now => {
      const part = still.matches ? 1 : Math.min(1, Math.max(0, now - started) / ZOOM_MS);
      const ease = part * (2 - part);
      seen = { x0: from.x0 + (target.x0 - from.x0) * ease, x1: from.x1 + (target.x1 - from.x1) * ease };
      paint();
      if (part < 1)
        motion = requestAnimationFrame(step);
    };
    motion = requestAnimationFrame(step);
  }

  function keepInSight(box) {
    const [, high] = size();
    scrolled = node.scrollTop;
    const top = topOf(box.depth, high);
    if (top < 0)
      node.scrollTop += top;
    else if (top + HIGH > high)
      node.scrollTop += top + HIGH - high;
    scrolled = node.scrollTop;
  }

  function choose(box) {
    chosen = box;
    if (box)
      keepInSight(box);
    ask();
    if (box)
      select(box);
  }

  /** The box beside a box on its level. */
  function beside(box, step) {
    const level = levels[box.depth];
    return level[level.indexOf(box) + step] ?? box;
  }

  canvas.addEventListener("pointermove", event => hover(boxAtPoint(event), event));
  canvas.addEventListener("pointerleave", () => hover(null));
  canvas.addEventListener("click", event => {
    const box = boxAtPoint(event);
    if (box)
      choose(box);
  });
  canvas.addEventListener("dblclick", event => {
    const box = boxAtPoint(event);
    if (box)
      zoom(box);
  });
  canvas.addEventListener("keydown", event => {
    const box = chosen ?? levels[skipped]?.[0];
    if (!box || event.ctrlKey || event.altKey || event.metaKey)
      return;
    const inwards = box.children[0] ?? box;
    const outwards = box.parent && box.parent.depth >= skipped ? box.parent : box;
    const next = { ArrowLeft: () => beside(box, -1), ArrowRight: () => beside(box, 1),
      ArrowUp: () => (upwards ? inwards : outwards), ArrowDown: () => (upwards ? outwards : inwards) };
    if (next[event.key])
      choose(next[event.key]());
    else if (event.key === "Enter")
      zoom(box);
    else
      return;
    event.preventDefault();
    event.stopPropagation();
  });
  node.addEventListener("scroll", () => {
    scrolled = node.scrollTop;
    ask();
  }, { passive: true });
  new ResizeObserver(() => {
    measured = null;
    ask();
  }).observe(node);
  dark.addEventListener("change", () => {
    colours = palette();
    ask();
  });

  return {
    node,
    canvas,
    /** skip: levels from the root on that are not drawn. */
    show(root, { up = false, at = root, skip = 0 } = {}) {
      const former = chosen;
      const turned = !levels.length || up !== upwards;
      levels = levelsOf(root);
      skipped = skip;
      upwards = up;
      spacer.style.height = `${height()}px`;
      seen = { x0: at.x0, x1: at.x1 };
      chosen = former && levels[former.depth]?.find(b => b.procedure === former.procedure &&
        b.image === former.image && b.parent?.procedure === former.parent?.procedure) || null;
      colours = palette();
      if (up && turned)
        requestAnimationFrame(() => {
          node.scrollTop = node.scrollHeight;
          scrolled = node.scrollTop;
        });
      ask();
    },
    zoomTo: moveTo,
    recolour: ask,
    mark(boxes) {
      found = boxes;
      ask();
    },
    choose,
    chosen: () => chosen,
    /** Draws at once and says how long it took, for the benchmark. */
    paint() {
      const started = performance.now();
      paint();
      return performance.now() - started;
    },
  };
}
