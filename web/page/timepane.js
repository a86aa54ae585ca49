// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * timepane.js - the top of the page: the time line or the heat map, their legend and
 * table, and what A and B are.
 */
import { byId, el, plain, base, put, vars } from "./dom.js";
import { digits, span, spec, clock } from "./format.js";
import { createLoader, notice } from "./loader.js";
import { loadTimeLine } from "./timedata.js";
import { createTimeLine } from "./timeline.js";
import { drawHeat, heatTable, loadHeat } from "./heat.js";

const LINES = ["image", "comm", "container", "label", "host"];

/** The two times that a specification names, in ms; null for one of another kind. */
export function timesOf(text) {
  const [from, to] = text.split("..").map(part => Date.parse(part.endsWith("Z") ? part : part + "Z"));
  return Number.isFinite(from) && Number.isFinite(to) ? { from, to } : null;
}

/** Areas of the time line that this state draws its data for. */
const asked = (state, former) => ["range", "line", "filters", "idle"].some(
  name => JSON.stringify(state[name]) !== JSON.stringify(former[name]));

export function createTimePane(ctx) {
  const { store, api, hues } = ctx;
  const root = byId("time-picture");
  const loader = createLoader(root);
  const select = byId("line-by");
  const heat = byId("heat");
  const listeners = [];
  const place = el("div", { class: "line" });
  let line = null;
  const hue = area => (line?.by === "image" ? hues.of(area.name) :
    ["i0", "i1", "i2", "i5", "i6", "i4"][line.areas.indexOf(area)] ?? "other");
  const picture = createTimeLine({ root: place, hue, pick, say: ctx.say });

  function pick(side, { from, to }) {
    store.set({ [side]: `${spec(from)}..${spec(to)}` });
  }

  const sides = state => ({ a: timesOf(state.a), b: timesOf(state.b) });

  function legend() {
    put(byId("legend"), line.areas.map(area => vars(el("span", { class: `k-${area.kind}`,
      title: plain(area.name) }, plain(base(area.name))),
    { "--hue": `var(--${area.kind === "row" ? hue(area) : area.kind})` })));
  }

  const marksIn = v => line.marks.filter(m => m.at >= v.from && m.at < v.to).map(m => plain(m.name));

  function tableOf() {
    return el("div", { class: "scroll timetable", tabindex: 0, role: "region", "aria-label": "Time line as a table" },
      el("table", { "aria-label": "Time line" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "from (UTC)"),
        line.areas.map(a => el("th", { scope: "col", class: "r" }, plain(base(a.name)),
          el("span", { class: "unit" }, " CPUs"))),
        line.marks.length ? el("th", { scope: "col" }, "marks") : null)),
      el("tbody", {}, line.intervals.map((v, i) => el("tr", { "data-what": "areas" },
        el("td", {}, clock(v.from, { day: true, seconds: true })),
        line.areas.map(a => el("td", { class: "r n", "data-value": a.values[i] ?? "" },
          a.values[i] === null ? "no epoch" : digits(a.values[i]))),
        line.marks.length ? el("td", {}, marksIn(v).join(", ")) : null)))));
  }

  function draw(state) {
    heat.setAttribute("aria-pressed", String(state.heat));
    select.value = state.line;
    put(byId("brushed"), ["a", "b"].filter(side => state[side]).map(side => {
      const times = timesOf(state[side]);
      return el("span", { class: `side ${side}` }, `${side.toUpperCase()} `,
        times ? span(times.from, times.to) : plain(state[side]),
        el("button", { type: "button", "aria-label": `clear ${side.toUpperCase()}`,
          click: () => store.set({ [side]: "" }) }, "×"));
    }));
    if (!line)
      return;
    if (!line.intervals.length || !line.areas.length) {
      put(root, notice("No samples in these epochs.", "Choose a longer range: recent, -1d, all.",
        "If the database is new: start cpid, or record a command with cpi record."));
      return;
    }
    if (state.heat) {
      line.areas.forEach(hue); // images have their colours in each view
      put(byId("legend"));
      return;
    }
    if (state.table) {
      put(root, tableOf());
    } else {
      if (place.parentNode !== root)
        put(root, place);
      picture.show(line, sides(state));
    }
    legend();
  }

  function loadMap(state) {
    if (state.heat && line?.intervals.length)
      loader.run(signal => loadHeat(api, state, line, signal), rows => (store.get().table ?
        put(root, heatTable(rows)) : drawHeat(root, rows, pick, ctx.say)));
  }

  function take(fresh) {
    line = fresh;
    draw(store.get());
    for (const call of listeners)
      call(line);
  }

  function update(state) {
    loader.run(signal => loadTimeLine(api, state, signal), fresh => {
      take(fresh);
      loadMap(store.get());
    });
  }

  store.subscribe((state, former) => {
    if (asked(state, former))
      update(state);
    else if (state.heat !== former.heat || state.table !== former.table) {
      loader.stop();
      draw(state);
      loadMap(state);
    } else if (state.a !== former.a || state.b !== former.b)
      draw(state);
  });
  select.addEventListener("change", () => store.set({ line: select.value }));
  heat.addEventListener("click", () => store.set({ heat: !store.get().heat }));

  return {
    update,
    onData: call => listeners.push(call),
    line: () => line,
    svg: () => root.querySelector("svg"),
    focus: () => root.querySelector("svg, [tabindex='0']")?.focus(),
    next() {
      store.set({ line: LINES[(LINES.indexOf(store.get().line) + 1) % LINES.length] });
    },
    /** Makes a side of what the views show now. */
    take(side) {
      const state = store.get();
      const text = state.a || (line?.intervals.length ? `${spec(line.from)}..${spec(line.to)}` :
        state.range);
      store.set({ [side]: text });
    },
    /** Moves A, or the range without A, by its own length. */
    move(direction) {
      const state = store.get();
      const times = state.a ? timesOf(state.a) : line && { from: line.from, to: line.to };
      if (!times)
        return;
      const by = direction * (times.to - times.from);
      store.set({ [state.a ? "a" : "range"]: `${spec(times.from + by)}..${spec(times.to + by)}` });
    },
  };
}
