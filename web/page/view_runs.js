// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * view_runs.js - how rows vary from epoch to epoch, after dcpistats. The selected row has
 * its course below, each interval of which can be opened.
 */
import { el, svg, plain, base, put } from "./dom.js";
import { figure, digits, percent, count, clock, span, spec } from "./format.js";
import { createLoader, notice } from "./loader.js";
import { createTable, flatTable } from "./table.js";
import { filterOptions, passes } from "./filters.js";
import { shownEpochs } from "./state.js";
import { procedureName } from "./view_where.js";
import { what } from "./explain.js";
import { plotSheet } from "./plots.js";

const KINDS = { procedure: "procedure", image: "image", comm: "command", line: "source line",
  container: "container", unit: "unit" };
const WIDE = 224;

/**
 * Least to most as a line, the mean as a dot, one deviation to each side as a box. Epochs
 * beyond two deviations are dots that open them.
 */
function spreadPlot(row, outliers, open) {
  const x = value => 4 + Math.max(0, value) / (row.max || 1) * (WIDE - 8);
  return svg("svg", { class: `spread e-${row.exceeds ?? "none"}`, width: WIDE, height: 16, role: "img",
    "data-value": JSON.stringify([row.min, row.mean, row.std_dev, row.max]),
    "aria-label": `${digits(row.min)} to ${digits(row.max)}, mean ${digits(row.mean)}` },
  svg("line", { x1: x(row.min), x2: x(row.max), y1: 8, y2: 8 }),
  svg("rect", { x: x(row.mean - row.std_dev), width: Math.max(1, x(Math.min(row.max, row.mean + row.std_dev)) -
    x(row.mean - row.std_dev)), y: 4, height: 8 }),
  svg("circle", { cx: x(row.mean), cy: 8, r: 3 }),
  outliers.map(o => svg("circle", { class: "outlier", role: "button", tabindex: -1, cx: x(o.value), cy: 8, r: 4,
    "data-value": o.value, "data-epoch": o.epoch, "aria-label": outlierText(o),
    click: event => {
      open(o);
      event.stopPropagation();
    } }, svg("title", {}, `${outlierText(o)}; a click shows it in Where`))));
}

const outlierText = o => `${span(Date.parse(o.from), Date.parse(o.to))}: ${digits(o.value)}`;

const EXCEEDS = { runs: "beyond other rows", sampling: "beyond counting", chance: "as counting does" };

export function create(ctx) {
  const { store, api } = ctx;
  const by = el("select", { id: "runsby", change: () => store.set({ runsby: by.value }) },
    Object.entries(KINDS).map(([value, text]) => el("option", { value }, text)));
  const truth = el("p", { class: "truth" });
  const place = el("div", { class: "place" });
  const course = el("div", { class: "runs-course", ...what("spread") });
  const node = el("section", { class: "view", "aria-label": "Runs" }, truth,
    el("div", { class: "tools" }, el("label", { for: "runsby" }, "group by"), by), place, course);
  const loader = createLoader(place);
  const beside = createLoader(course);
  const table = createTable({ caption: "How rows vary over epochs",
    key: row => JSON.stringify([row.procedure, row.image, row[store.get().runsby], row.file, row.line]),
    select, open: row => open(row), sort: order => store.set({ runssort: order }) });
  let report = null;
  let outliers = new Map(); // row → its epochs beyond two deviations

  function openEpoch({ from, to }) {
    store.set({ a: `${spec(Date.parse(from))}..${spec(Date.parse(to))}`, view: "where" });
  }

  function open(row) {
    if (row.procedure && row.image)
      store.set({ view: "why", proc: row.procedure, image: row.image });
  }

  function select(row) {
    ctx.pick(row);
    const state = store.get();
    const options = { epoch: shownEpochs(state), "over-time": true, ...filterOptions(state.filters),
      by: state.runsby };
    beside.run(signal => api.json("prof", options, signal), prof => {
      const found = prof.rows.find(r => r.image === row.image && r.procedure === row.procedure &&
        (state.runsby === "procedure" || state.runsby === "image" || r[state.runsby] === row[state.runsby]));
      if (found?.over_time)
        drawCourse(row, found, prof.intervals);
      else
        put(course, el("p", { class: "quiet" }, "No course of this row."));
    });
  }

  /** Bars of the intervals; those beyond two deviations are marked, all can be opened. */
  function drawCourse(row, found, intervals) {
    const known = found.over_time.filter(v => v !== null);
    const most = Math.max(1e-12, ...known);
    const mean = known.reduce((p, q) => p + q, 0) / (known.length || 1);
    const deviation = Math.sqrt(known.reduce((p, q) => p + (q - mean) ** 2, 0) / Math.max(1, known.length - 1));
    const bars = found.over_time.map((value, i) => {
      const outlier = value !== null && deviation > 0 && Math.abs(value - mean) > 2 * deviation;
      const times = span(Date.parse(intervals[i].from), Date.parse(intervals[i].to));
      const text = value === null ? `${times}: no epoch` : `${times}: ${digits(value)} CPUs${outlier ? ", an outlier" : ""}`;
      const bar = el("button", { type: "button", class: outlier ? "runbar outlier" : "runbar", title: text,
        "aria-label": text, disabled: value === null, "data-value": value,
        click: () => openEpoch(intervals[i]) });
      bar.style.setProperty("--high", `${(100 * (value ?? 0) / most).toFixed(1)}%`);
      return bar;
    });
    const title = [plain(procedureName(row) ?? row[store.get().runsby]), " over time "];
    if (store.get().table) {
      put(course, el("h3", {}, title), el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Course" },
        flatTable("Course of the selected row", intervals.map(i => [clock(Date.parse(i.from), { day: true, seconds: true }), "overtime", true]),
          [found.over_time.map(v => figure(v, v === null ? "no epoch" : digits(v), "CPUs"))])));
      return;
    }
    put(course, el("h3", {}, title,
      el("span", { class: "quiet" }, "orange: beyond two deviations; a click or Enter shows that time in Where")),
    el("div", { class: "runbars" }, bars));
  }

  function columns(state) {
    const name = state.runsby;
    const text = (value, title) => el("span", { title: plain(title ?? value) }, plain(value ?? ""));
    const number = (id, title, id2, show = digits) => ({ id, title, what: id2, number: true, grow: "w1",
      sort: r => r[id], cell: r => figure(r[id], show(r[id])) });
    return [
      { ...number("range_percent", "range", "range2", percent), unit: "%" },
      ...(state.table ? [number("min", "least", "least", count), number("max", "greatest", "most", count),
        { id: "outliers", title: "beyond two deviations", what: "spread", grow: "w5", cell: r =>
          (outliers.get(r) ?? []).map(o => [el("button", { type: "button", class: "link", "data-value": o.value,
            "data-epoch": o.epoch, title: outlierText(o), click: () => openEpoch(o) }, outlierText(o)), " "]) }] :
        [{ id: "spread", title: "spread", what: "spread", grow: "w5",
          cell: r => spreadPlot(r, outliers.get(r) ?? [], openEpoch) }]),
      { ...number("sum_percent", "sum", "sum", percent), unit: "%" },
      number("mean", "mean", "mean", count), number("std_dev", "deviation", "deviation", count),
      number("present", "epochs", "epochs", count),
      { id: "exceeds", title: "varies", what: "exceeds", grow: "w3", sort: r => r.exceeds,
        cell: r => EXCEEDS[r.exceeds] ?? "not tested" },
      { id: "name", title: KINDS[name], what: "procedure", grow: "wide", sort: r => r[name] ?? r.file,
        cell: r => (name === "line" ? text(`${base(r.file)}:${r.line}`, r.file) :
          text(name === "procedure" ? procedureName(r) : r[name])) },
      name === "procedure" ? { id: "image", title: "image", what: "image", grow: "w3", sort: r => r.image,
        cell: r => [ctx.swatch(r.image), text(base(r.image), r.image)] } : null,
    ].filter(Boolean);
  }

  function draw(state) {
    by.value = state.runsby;
    if (!report)
      return;
    put(truth, el("span", what("epochs"), figure(report.epochs.length, report.epochs.length), " epochs"),
      el("span", what("samples"), figure(report.sum, count(report.sum)), ` ${plain(report.unit)}`),
      el("span", what("exceeds"), "rows vary by ", figure(report.cv_between, percent(100 * (report.cv_between ?? 0))),
        " % from epoch to epoch beyond sampling"));
    const rows = report.rows.filter(r => passes(state.filters, r));
    if (!rows.length) {
      put(place, notice("Nothing varies that can be shown.", "Choose at least two epochs: all, -1d, or a label."));
      return;
    }
    put(place, table.node);
    table.show(columns(state), rows, state.runssort);
  }

  return {
    node,
    update(state, { live }) {
      if (!live)
        put(course);
      loader.run(signal => api.json("stats", { epoch: shownEpochs(state), by: state.runsby,
        ...filterOptions(state.filters) }, signal), answer => {
        report = answer;
        outliers = new Map();
        for (const o of report.outliers ?? [])
          outliers.set(report.rows[o.row], [...outliers.get(report.rows[o.row]) ?? [], o]);
        draw(store.get());
      });
    },
    draw,
    needs: ["runsby"],
    keys: () => [
      { key: "g", text: "group by the next kind", run: () => store.set({ runsby:
        Object.keys(KINDS)[(Object.keys(KINDS).indexOf(store.get().runsby) + 1) % Object.keys(KINDS).length] }) },
      { key: "o", text: "the selected row's greatest outlier", run: () => {
        const list = outliers.get(table.selected());
        if (list)
          openEpoch(list[0]);
        else
          ctx.say("Select a row with an orange dot first.");
      } },
      { key: "Enter", text: "why: the selected procedure", run: () => table.selected() && open(table.selected()) },
    ],
    focus: () => table.focus(),
    sheet: () => plotSheet("#main .spread"),
    saves: state => ["csv", "json"].map(format => ({ name: format.toUpperCase(), report: "stats",
      options: { epoch: shownEpochs(state), by: state.runsby, ...filterOptions(state.filters), format } })),
    stop() {
      loader.stop();
      beside.stop();
    },
  };
}
