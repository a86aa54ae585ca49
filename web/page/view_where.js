// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * view_where.js - where the time went: one row for each procedure, image, command, … The
 * shares come first, from `prof`; courses over time and CPI follow and fill their cells.
 */
import { el, plain, base, put } from "./dom.js";
import { figure, percent, digits, timeUnit, estimate, count, clock } from "./format.js";
import { createTable, flatTable } from "./table.js";
import { createLoader, notice } from "./loader.js";
import { filterOptions, passes, withFilter } from "./filters.js";
import { shownEpochs } from "./state.js";
import { sparkline, bar } from "./spark.js";
import { truthLine } from "./truth.js";
import { what } from "./explain.js";
import { plotSheet } from "./plots.js";
import { MAX_EPOCHS } from "./timedata.js";

const GROUPS = { procedure: "procedure", image: "image", line: "source line", comm: "command",
  container: "container", unit: "unit", label: "label", host: "machine" };
const COURSES = 300; // rows whose course is asked for
const CPIS = 12; // rows whose CPI is asked for

const keyOf = row => JSON.stringify([row.procedure, row.inlined, row.image, row.build_id, row.file,
  row.line, row.comm, row.container, row.container_name, row.pod, row.unit, row.label, row.host]);

/** The name that a search looks at. */
const nameOf = (row, by) => (by === "procedure" ? `${row.procedure} ${row.image}` :
  by === "line" ? `${row.file ?? ""}:${row.line ?? "?"} ${row.procedure} ${row.image}` :
    by === "container" ? `${row.container_name ?? ""} ${row.container}` : String(row[by] ?? ""));

/** Whether a name is searched for; "!" in front takes those that do not match. Null: all. */
export function toSearch(text) {
  const not = text.startsWith("!");
  const pattern = text.slice(not ? 1 : 0) ? toRegExp(text.slice(not ? 1 : 0)) : null;
  return pattern && (name => pattern.test(name) !== not);
}

/** A search as a regular expression; null where it is none (yet). */
export function toRegExp(text) {
  try {
    return new RegExp(text, "i");
  } catch {
    return null;
  }
}

/** How a procedure of a stripped image is called: gzip+0x4710. */
export function procedureName(row) {
  const stripped = /^\[(0x[0-9a-f]+)\]$/.exec(row.procedure ?? "");
  return stripped ? `${base(row.image)}+${stripped[1]}` : row.procedure;
}

/** How the commands take a procedure: IMAGE:PROC or IMAGE:0xOFFSET, so that no other is meant. */
export function procedureArgs(procedure, image) {
  const name = /^\[(0x[0-9a-f]+)\]$/.exec(procedure)?.[1] ?? procedure;
  return { arg: image ? `${image}:${name}` : name };
}

export function create(ctx) {
  const truth = el("div", {});
  const search = el("input", { type: "search", id: "search", placeholder: "search (regex, !not)  /",
    "aria-label": "Search by regular expression; with ! in front, what does not match", spellcheck: "false",
    input: () => ctx.store.set({ q: search.value }) });
  const matched = el("output", { class: "quiet", ...what("matched") });
  const group = el("select", { id: "group", "aria-label": "Group by",
    change: () => ctx.store.set({ by: group.value }) },
  Object.entries(GROUPS).map(([value, text]) => el("option", { value }, text)));
  const cpi = el("button", { type: "button", "aria-pressed": "false", ...what("cpi"),
    click: () => ctx.store.set({ cpi: !ctx.store.get().cpi }) }, "CPI");
  const idle = el("button", { type: "button", "aria-pressed": "false", ...what("truth"),
    click: () => ctx.store.set({ idle: !ctx.store.get().idle }) }, "idle");
  const place = el("div", { class: "place" });
  const node = el("section", { class: "view", "aria-label": "Where" }, truth,
    el("div", { class: "tools" }, search, matched, el("span", { class: "push" }),
      el("label", { for: "group" }, "group by"), group, cpi, idle), place);
  const loader = createLoader(place);
  const courses = createLoader(node, true);
  let report = null;
  let over = new Map(); // key → course
  let intervals = []; // of the courses
  let cpis = new Map(); // key → summary, or an error's text
  let cpiRun = null;
  const table = createTable({
    caption: "Where the time went",
    key: keyOf,
    select: row => ctx.pick(row),
    open: row => open(row),
    sort: order => ctx.store.set({ sort: order }),
  });

  function open(row) {
    const state = ctx.store.get();
    if (row.procedure && row.image)
      ctx.store.set({ view: "why", proc: row.procedure, image: row.image });
    else if (row[state.by])
      ctx.store.set({ filters: withFilter(state.filters, "only", state.by, row[state.by]),
        by: "procedure" });
  }

  function cpiCell(row) {
    const s = cpis.get(keyOf(row));
    if (!s)
      return "";
    if (typeof s === "string")
      return el("span", { class: "quiet", title: s }, "unknown");
    return el("span", { class: "n", "data-value": JSON.stringify([s.best_case_cpi, s.actual_cpi]),
      title: `best case ${s.best_case_cpi}, actual ${s.actual_cpi}` },
    s.actual_cpi === null ? "unknown" : estimate(s.actual_cpi, s.actual_cpi_interval, digits, "least"));
  }

  function columns(state, rows) {
    const most = Math.max(0, ...rows.slice(0, 2000).map(r => r.percent ?? 0));
    const timed = rows.some(r => r.time_ns !== null);
    const [size, unit] = timeUnit(Math.max(1, ...rows.slice(0, 2000).map(r => r.time_ns ?? 0)));
    const event = Object.keys(rows[0]?.samples ?? {})[0];
    const name = { id: state.by, title: GROUPS[state.by], what: state.by === "procedure" ?
      "procedure" : "context", grow: { image: "w5", procedure: "w6", line: "w5", container: "w5" }[state.by] ?? "wide",
      sort: r => nameOf(r, state.by) };
    const text = (value, title) => el("span", { title: plain(title ?? value) }, plain(value ?? "[unknown]"));
    const image = r => [ctx.swatch(r.image), text(base(r.image), r.image)];
    return [
      { id: "share", title: "share", unit: "%", what: "share", number: true, grow: "w3",
        sort: r => r.percent, cell: r => [bar((r.percent ?? 0) / (most || 1)),
          figure(r.percent, percent(r.percent), "%")] },
      timed ? { id: "time", title: "time", unit, what: "time", number: true, grow: "w1",
        sort: r => r.time_ns, cell: r => figure(r.time_ns, digits((r.time_ns ?? 0) / size), "ns") } :
        { id: "time", title: "samples", what: "samples", number: true, grow: "w1",
          sort: r => r.samples[event], cell: r => figure(r.samples[event], count(r.samples[event])) },
      { id: "over", title: "over time", what: "overtime", grow: "w3", cell: r => {
        const course = over.get(keyOf(r));
        return course ? sparkline(course) : "";
      } },
      state.cpi && state.by === "procedure" ? { id: "cpi", title: "CPI", what: "cpi", number: true,
        grow: "w2", sort: r => cpis.get(keyOf(r))?.actual_cpi, cell: cpiCell } : null,
      state.by === "procedure" ? { ...name, cell: r => text(procedureName(r)) } :
        state.by === "line" ? { ...name, cell: r => text(r.file ? `${base(r.file)}:${r.line}` : "?",
          `${r.file}:${r.line}`) } :
          { ...name, cell: r => (state.by === "image" ? image(r) : state.by === "container" ?
            text(r.container_name ?? r.container, r.container) : text(r[state.by])) },
      state.by === "line" ? { id: "procedure", title: "procedure", what: "procedure", grow: "wide",
        sort: r => r.procedure, cell: r => text(procedureName(r)) } : null,
      state.by === "procedure" || state.by === "line" ? { id: "image", title: "image", what: "image",
        grow: "wide", sort: r => r.image, cell: image } :
        state.by === "image" ? { id: "path", title: "path", what: "image", grow: "wide",
          sort: r => r.image, cell: r => text(r.image) } :
          state.by === "container" ? { id: "runtime", title: "runtime", what: "context", grow: "w2",
            sort: r => r.runtime, cell: r => text(r.runtime ?? "") } : null,
    ].filter(Boolean);
  }

  /** The small time lines as figures: CPUs in each interval. */
  function coursesTable(state, rows) {
    const known = rows.filter(r => over.get(keyOf(r)));
    return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Over time as a table" },
      flatTable("CPUs in use over time", [[GROUPS[state.by], state.by === "procedure" ? "procedure" : "context"],
        ...intervals.map(i => [clock(Date.parse(i.from), { day: true, seconds: true }), "overtime", true])],
      known.map(r => [plain(state.by === "procedure" ? procedureName(r) : state.by === "line" ? `${base(r.file)}:${r.line}` :
        r[state.by] ?? "[unknown]"), ...over.get(keyOf(r)).map(v => figure(v, v === null ? "no epoch" : digits(v), "CPUs"))])));
  }

  function draw(state) {
    if (!report)
      return;
    const matches = toSearch(state.q);
    search.setAttribute("aria-invalid", String(Boolean(state.q && !matches)));
    const rows = report.rows.filter(r => passes(state.filters, r) &&
      (!matches || matches(nameOf(r, state.by))));
    const total = rows.reduce((a, r) => a + (r.percent ?? 0), 0);
    matched.textContent = state.q || rows.length < report.rows.length ?
      `${rows.length} of ${report.rows.length} rows, ${percent(total)} %` : `${rows.length} rows`;
    put(truth, truthLine(report));
    if (!rows.length)
      put(place, report.rows.length ? notice("No row matches.", "Change the search (/), or take back a filter (u).") :
        notice("These epochs have no samples of this kind.",
          "Choose a longer range above, or take back a filter (u)."));
    else if (state.table && over.size)
      put(place, coursesTable(state, rows));
    else {
      if (table.node.parentNode !== place)
        put(place, table.node);
      table.show(columns(state, rows), rows, state.sort);
    }
    loadCpis(state, rows);
  }

  /** CPI of the busiest rows, one after the other; each costs an analysis. */
  async function loadCpis(state, rows) {
    if (!state.cpi || state.by !== "procedure" || cpiRun)
      return;
    cpiRun = new AbortController();
    const { signal } = cpiRun;
    try {
      for (const row of rows.slice(0, CPIS)) {
        if (cpis.has(keyOf(row)) || !row.procedure || !row.image)
          continue;
        let summary;
        try {
          summary = (await ctx.api.json("sum", { epoch: shownEpochs(state), ...filterOptions(
            state.filters), ...procedureArgs(row.procedure, row.image) }, signal)).summary;
        } catch (error) {
          if (error.name === "AbortError")
            return;
          summary = plain(error.message);
        }
        cpis.set(keyOf(row), summary);
        draw(ctx.store.get());
      }
    } finally {
      cpiRun = null;
    }
  }

  function options(state) {
    return { epoch: shownEpochs(state), by: state.by, idle: state.idle,
      ...filterOptions(state.filters) };
  }

  function update(state, { live }) {
    search.value = document.activeElement === search ? search.value : state.q;
    group.value = state.by;
    cpi.setAttribute("aria-pressed", String(state.cpi));
    idle.setAttribute("aria-pressed", String(state.idle));
    if (!live) {
      cpiRun?.abort();
      cpis = new Map();
    }
    loader.run(signal => ctx.api.json("prof", { ...options(state), "max-epochs": MAX_EPOCHS }, signal), answer => {
      report = answer;
      draw(ctx.store.get());
      courses.run(signal => ctx.api.json("prof", { ...options(state), "over-time": true,
        "max-epochs": MAX_EPOCHS, limit: COURSES }, signal), fuller => {
        over = new Map(fuller.rows.map(r => [keyOf(r), r.over_time]));
        intervals = fuller.intervals ?? [];
        draw(ctx.store.get());
      });
    });
  }

  return {
    node,
    update,
    /** Whether a change of state needs an answer of the server; else draw() is enough. */
    needs: ["by", "idle"],
    draw,
    keys: () => [
      { key: "/", text: "search", run: () => search.select() || search.focus() },
      { key: "g", text: "group by the next kind", run: () => ctx.store.set({ by:
        Object.keys(GROUPS)[(Object.keys(GROUPS).indexOf(ctx.store.get().by) + 1) % Object.keys(GROUPS).length] }) },
      { key: "c", text: "show or hide CPI", run: () => cpi.click() },
      { key: "Enter", text: "open: why a procedure, or only this command, image, …",
        run: () => table.selected() && open(table.selected()) },
      { key: "y", text: "copy the selected row as text", run: () => table.selected() &&
        ctx.copy(Object.values(table.selected()).filter(v => typeof v !== "object").join("\t")) },
    ],
    focus: () => table.focus(),
    selected: () => table.selected(),
    sheet: () => plotSheet("#main .spark", ctx.store.get().by),
    saves: state => [
      { name: "CSV", report: "prof", options: { ...options(state), format: "csv", limit: 100000 } },
      { name: "JSON", report: "prof", options: options(state) },
    ],
    stop() {
      loader.stop();
      courses.stop();
      cpiRun?.abort();
    },
  };
}
