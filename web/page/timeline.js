// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * timeline.js - draws the time line: stacked areas, labels, gaps, and the brushes A and B.
 * What it draws comes from timedata.js. Dragging picks A, with shift B; with the keyboard
 * the arrows move a cursor, shift and an arrow widen it, a and b take it.
 */
import { svg, put, plain, vars } from "./dom.js";
import { clock, digits, span } from "./format.js";

const HIGH = 76; // of the areas
const AXIS = 18; // below them
const TOP = 14; // above them, for labels
const EPOCHS = 200; // whose beginnings are marked
const MARGIN = { left: 36, right: 12 };

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
  43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

/** Times of round figures between from and to, at most `most` of them. */
export function ticks(from, to, most) {
  const step = 1000 * (STEPS.find(s => (to - from) / (1000 * s) <= most) ?? STEPS[STEPS.length - 1]);
  const list = [];
  for (let t = Math.ceil(from / step) * step; t <= to && list.length < 100; t += step)
    list.push(t);
  return { list, step };
}

function tickText(t, step) {
  if (step >= 2592000e3)
    return new Date(t).toISOString().slice(0, 7);
  if (step >= 86400e3)
    return clock(t, { day: true }).replace(/ \d\d:\d\d$/, "");
  return clock(t, { seconds: step < 60000 });
}

/** The top of the axis: 1, 2 or 5 times a power of ten above most. */
function roundUp(most) {
  if (most <= 0)
    return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(f => f * power >= most * 0.999);
}

/** The path of an area between two courses; it breaks where an interval has no epoch. */
function areaPath(intervals, low, high, x, y) {
  let path = "";
  for (let i = 0; i < intervals.length; i++) {
    if (high[i] === null)
      continue;
    const left = x(intervals[i].from).toFixed(1);
    const right = x(intervals[i].to).toFixed(1);
    path += `M${left} ${y(low[i]).toFixed(1)}V${y(high[i]).toFixed(1)}H${right}V${y(low[i]).toFixed(1)}Z`;
  }
  return path;
}

/** @returns {{area: Object, low: number[], high: (number|null)[]}[]} and the greatest sum */
export function stack(data) {
  let below = data.intervals.map(() => 0);
  let most = 0;
  const layers = data.areas.map(area => {
    const high = area.values.map((v, i) => (v === null || v === undefined ? null : below[i] + v));
    const layer = { area, low: below, high };
    below = high.map((v, i) => v ?? below[i]);
    most = Math.max(most, ...below);
    return layer;
  });
  return { layers, most };
}

/**
 * @param {Object} options
 * @param {Element} options.root
 * @param {function(Object): string} options.hue name of an area's colour
 * @param {function("a"|"b", {from: number, to: number}): void} options.pick
 * @param {function(string): void} options.say what the pointer or cursor is on
 */
export function createTimeLine({ root, hue, pick, say }) {
  let data = null;
  let sides = { a: null, b: null };
  let scale = null;
  let cursor = null; // {at, to}: numbers of intervals
  let drag = null;

  const width = () => Math.max(280, root.clientWidth);

  function draw() {
    if (!data?.intervals.length)
      return;
    const wide = width();
    const span_ = data.to - data.from || 1;
    const inner = wide - MARGIN.left - MARGIN.right;
    const x = t => MARGIN.left + (t - data.from) / span_ * inner;
    const { layers, most } = stack(data);
    const top = roundUp(most);
    const y = v => TOP + HIGH - v / top * HIGH;
    scale = { x, t: px => data.from + (px - MARGIN.left) / inner * span_ };
    const picture = svg("svg", { class: "timeline", width: wide, height: TOP + HIGH + AXIS,
      viewBox: `0 0 ${wide} ${TOP + HIGH + AXIS}`, tabindex: 0, role: "application",
      "aria-label": `CPU time from ${span(data.from, data.to)}; arrows move, shift widens, a and b pick, t shows the table`,
      "data-what": "brush" },
    hatch(),
    data.gaps.map(g => svg("rect", { class: "gap", x: x(Math.max(g.from, data.from)).toFixed(1),
      y: TOP, width: Math.max(1, x(Math.min(g.to, data.to)) - x(Math.max(g.from, data.from))).toFixed(1),
      height: HIGH }, svg("title", {}, `gap: no samples from ${span(g.from, g.to)}`))),
    layers.map(({ area, low, high }) => vars(svg("path", { class: `area k-${area.kind}`,
      d: areaPath(data.intervals, low, high, x, y) }, svg("title", {}, plain(area.name))),
    { "--hue": `var(--${area.kind === "row" ? hue(area) : area.kind})` })),
    axis(x, y, top, wide), marks(x, wide),
    svg("g", { class: "brushes" }), svg("rect", { class: "cursor", y: TOP, height: HIGH, width: 0 }));
    listen(picture);
    const focused = root.contains(document.activeElement);
    put(root, picture);
    if (focused)
      picture.focus({ preventScroll: true });
    drawBrushes();
    drawCursor();
  }

  function hatch() {
    return svg("defs", {}, svg("pattern", { id: "hatch", width: 5, height: 5,
      patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { width: 2, height: 5 })));
  }

  function axis(x, y, top, wide) {
    const { list, step } = ticks(data.from, data.to, Math.floor(wide / 90));
    return svg("g", { class: "axis" },
      svg("line", { x1: MARGIN.left, x2: wide - MARGIN.right, y1: TOP + HIGH + 0.5, y2: TOP + HIGH + 0.5 }),
      list.map(t => [svg("line", { x1: x(t), x2: x(t), y1: TOP + HIGH, y2: TOP + HIGH + 4 }),
        svg("text", { x: Math.min(x(t), wide - 30), y: TOP + HIGH + 15, "text-anchor": "middle" },
          tickText(t, step))]),
      svg("text", { x: MARGIN.left - 4, y: TOP + 8, "text-anchor": "end" }, String(Number(top.toPrecision(2)))),
      svg("text", { x: MARGIN.left - 4, y: TOP + HIGH, "text-anchor": "end" }, "0"),
      svg("text", { x: 2, y: 10 }, "CPUs"));
  }

  function marks(x, wide) {
    const free = { label: MARGIN.left }; // labels above, marks inside
    const ticks_ = data.count > EPOCHS ? [] : data.epochs.map(e => Math.max(MARGIN.left,
      x(Date.parse(e.from))));
    const named = [...data.labels.map(l => ({ at: l.from, name: l.name, sign: "◂", kind: "label" })),
      ...data.marks.map(m => ({ ...m, sign: m.kind === "mark" ? "▾" : "↻", kind: `event ${m.kind}` }))].sort((p, q) => p.at - q.at);
    return svg("g", { class: "marks" }, ticks_.map(at => svg("line", { class: "epoch", x1: at, x2: at,
      y1: TOP - 3, y2: TOP })), named.map(({ at: time, name, sign, kind }) => {
      const at = Math.max(x(time), MARGIN.left);
      const room = Math.floor((wide - at - 16) / 6.5); // letters to the right of it
      let text = plain(name).slice(0, 24);
      const long = 16 + text.length * 6.5;
      const row = kind === "label" ? kind : "event";
      free[row] ??= MARGIN.left;
      const left = at + long > wide && at - long >= free[row]; // no room on the right
      const shown = left || (at >= free[row] && room > 1);
      if (shown && !left && text.length > room)
        text = `${text.slice(0, room - 1)}…`;
      if (shown)
        free[row] = left ? at : at + long;
      return svg("g", { class: kind }, svg("title", {}, `${clock(time, { day: true, seconds: true })} ${plain(name)}`),
        svg("line", { x1: at, x2: at, y1: TOP - 3, y2: TOP + HIGH }),
        shown ? svg("text", { x: left ? at - 3 : at + 3, y: row === "event" ? TOP + 9 : TOP - 4,
          "text-anchor": left ? "end" : "start" }, left ? `${text} ${sign === "◂" ? "▸" : sign}` :
          `${sign} ${text}`) : null);
    }));
  }

  function drawBrushes() {
    const group = root.querySelector(".brushes");
    if (!group)
      return;
    const high = TOP + HIGH;
    put(group, Object.entries({ ...sides, ...(drag ? { [drag.side]: drag } : {}) })
      .filter(([, s]) => s && s.to >= data.from && s.from <= data.to).map(([name, s]) => {
        const left = scale.x(Math.max(s.from, data.from));
        const right = scale.x(Math.min(s.to, data.to));
        return svg("g", { class: `brush ${name}` },
          svg("rect", { x: left, y: TOP, width: Math.max(2, right - left), height: HIGH }),
          svg("text", { x: left + 3, y: high - 4 }, name.toUpperCase()));
      }));
  }

  function drawCursor() {
    const box = root.querySelector(".cursor");
    if (!box || !cursor)
      return;
    const [from, to] = ends();
    box.setAttribute("x", scale.x(from));
    box.setAttribute("width", Math.max(1, scale.x(to) - scale.x(from)));
    describe(Math.min(cursor.at, cursor.to), Math.max(cursor.at, cursor.to));
  }

  const ends = () => [data.intervals[Math.min(cursor.at, cursor.to)].from,
    data.intervals[Math.max(cursor.at, cursor.to)].to];

  function describe(first, last) {
    const { from } = data.intervals[first];
    const { to } = data.intervals[last];
    const parts = data.areas.map(a => {
      const values = a.values.slice(first, last + 1).filter(v => v !== null && v !== undefined);
      return [a.name, values.reduce((x, y) => x + y, 0) / Math.max(1, values.length), values.length];
    }).filter(p => p[1] > 0).sort((p, q) => q[1] - p[1]).slice(0, 6);
    const marks = data.marks.filter(m => m.at >= from && m.at < to).map(m =>
      `${m.kind === "mark" ? "▾" : "↻"} ${plain(m.name)} · `).join("");
    say(`${span(from, to)}: ${marks}${parts.length ? parts.map(([name, v]) =>
      `${plain(name).split("/").pop()} ${digits(v)}`).join(" · ") + " CPUs" : "no epoch"}`);
  }

  const indexAt = t => {
    const i = data.intervals.findIndex(v => t < v.to);
    return i < 0 ? data.intervals.length - 1 : i;
  };

  /** Whole intervals that a drag from one time to another touches. */
  const snapped = (one, other) => ({
    from: data.intervals[indexAt(Math.min(one, other))].from,
    to: data.intervals[indexAt(Math.max(one, other))].to,
  });

  function listen(picture) {
    const at = event => scale.t(event.clientX - picture.getBoundingClientRect().left);
    picture.addEventListener("pointerdown", event => {
      if (event.button !== 0)
        return;
      picture.setPointerCapture(event.pointerId);
      drag = { start: at(event), side: event.shiftKey ? "b" : "a", moved: false,
        ...snapped(at(event), at(event)) };
    });
    picture.addEventListener("pointermove", event => {
      const i = indexAt(at(event));
      describe(i, i);
      if (!drag)
        return;
      drag.moved = true;
      Object.assign(drag, snapped(drag.start, at(event)));
      drawBrushes();
    });
    picture.addEventListener("pointerup", event => {
      if (!drag)
        return;
      const { side, from, to } = { ...drag, ...snapped(drag.start, at(event)) };
      drag = null;
      pick(side, { from, to });
    });
    picture.addEventListener("pointercancel", () => {
      drag = null;
      drawBrushes();
    });
    picture.addEventListener("keydown", moveCursor);
  }

  function moveCursor(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const side = event.key.toLowerCase();
    if (step) {
      const last = data.intervals.length - 1;
      const at = cursor ? Math.min(last, Math.max(0, cursor.at + step)) : step > 0 ? 0 : last;
      cursor = { at, to: event.shiftKey && cursor ? cursor.to : at };
      drawCursor();
    } else if (cursor && (side === "a" || side === "b")) {
      const [from, to] = ends();
      pick(side, { from, to });
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  let wide = 0;
  new ResizeObserver(() => {
    if (root.clientWidth !== wide) {
      wide = root.clientWidth;
      draw();
    }
  }).observe(root);

  return {
    /** @param {import("./timedata.js").TimeLine} fresh */
    show(fresh, newSides) {
      data = fresh;
      sides = newSides;
      if (cursor && cursor.at >= data.intervals.length)
        cursor = null;
      draw();
    },
    brush(newSides) {
      sides = newSides;
      drawBrushes();
    },
    svg: () => root.querySelector("svg"),
  };
}
