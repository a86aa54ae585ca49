// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * view_why.js - why a procedure takes its time: source and assembly, estimates with their
 * confidence, what may have been waited for. Without a procedure it lists the instructions
 * that take the most time, to begin with.
 */
import { el, plain, base, put } from "./dom.js";
import { figure, percent, digits, count, estimate, rangeOf } from "./format.js";
import { createLoader, notice } from "./loader.js";
import { createTable } from "./table.js";
import { filterOptions } from "./filters.js";
import { shownEpochs } from "./state.js";
import { makeRows, reasonText } from "./why_model.js";
import { codePane, showBlock, showHottest } from "./why_code.js";
import { callersPart, coursePart, cyclePart, headLine, pathsPart } from "./why_side.js";
import { graphPart, graphTables } from "./why_graph.js";
import { valuesPart } from "./why_values.js";
import { procedureArgs, procedureName } from "./view_where.js";

const FOLD = 300; // instructions; longer procedures show only what has samples
const SIDES = ["both", "source", "asm"];

export function create(ctx) {
  const { store, api } = ctx;
  const head = el("div", {});
  const choice = el("select", { "aria-label": "Source or assembly", id: "why-side",
    change: () => store.set({ why: choice.value }) },
  SIDES.map(value => el("option", { value }, { both: "source | assembly", source: "source",
    asm: "assembly" }[value])));
  const graph = el("button", { type: "button", "aria-pressed": "false", id: "graph",
    click: () => store.set({ graph: !store.get().graph }) }, "graph");
  const all = el("button", { type: "button", "aria-pressed": "false", id: "why-all",
    click: () => store.set({ whole: !store.get().whole }) }, "all code");
  const copy = el("button", { type: "button", click: copyText }, "copy as text");
  const tools = el("div", { class: "tools" }, choice, graph, all, copy);
  const place = el("div", { class: "place" });
  const side = el("aside", { class: "why-side", "aria-label": "About this procedure" });
  const node = el("section", { class: "view", "aria-label": "Why" }, head, tools,
    el("div", { class: "why-panes" }, place, side));
  const loader = createLoader(place);
  const beside = createLoader(node, true);
  const graphs = createLoader(place);
  const table = createTable({ caption: "Instructions that took the most time",
    key: row => `${row.image} ${row.offset}`, select: ctx.pick,
    open: row => open(row.procedure, row.image) });
  let data = null; // {list, calc, source}
  let parts = {};
  let cfg = null; // {options, answer, picture}

  const chosen = state => ({ epoch: shownEpochs(state), ...filterOptions(state.filters) });
  const ofProcedure = state => ({ ...chosen(state), ...procedureArgs(state.proc, state.image) });

  function open(proc, image) {
    store.set({ view: "why", proc, image });
  }

  const openBlock = at => store.set({ at, graph: false, whole: true,
    why: store.get().why === "source" ? "both" : store.get().why });

  /** The picture stays while nothing but its surroundings changes. */
  function drawGraph(state) {
    const options = ofProcedure(state);
    if (JSON.stringify(cfg?.options) !== JSON.stringify(options)) {
      graphs.run(signal => api.json("cfg", { ...options, format: "json" }, signal), answer => {
        cfg = { options, answer, picture: null };
        draw(store.get(), null);
      });
      return;
    }
    if (!state.table)
      cfg.picture ??= graphPart(options, cfg.answer, openBlock);
    if (state.table || cfg.picture.parentNode !== place)
      put(place, state.table ? graphTables(cfg.answer, openBlock) : cfg.picture);
  }

  async function copyText() {
    const state = store.get();
    if (state.proc)
      ctx.copy(await api.text("calc", { ...ofProcedure(state), format: "text" })
        .catch(error => error.message));
  }

  const hotColumns = [
    { id: "share", title: "share", unit: "%", what: "blamed", number: true, grow: "w1",
      cell: r => figure(r.percent, percent(r.percent), "%") },
    { id: "blamed", title: "blamed", what: "blamed", number: true, grow: "w1",
      cell: r => figure(r.samples, count(r.samples)) },
    { id: "cycles", title: "cycles", what: "actual", number: true, grow: "w1",
      cell: r => figure(r.cycles,
        estimate(r.cycles, rangeOf(r, "cycles"), digits, "least")) },
    { id: "reasons", title: "may wait for", what: "culprit", grow: "w4",
      cell: r => el("span", { title: r.reasons }, (r.reasons ?? "").split(" ").filter(Boolean)
        .map(reasonText).join(", ")) },
    { id: "insn", title: "instruction", what: "address", grow: "w4",
      cell: r => el("code", { title: plain(r.text) }, plain(r.text)) },
    { id: "procedure", title: "procedure", what: "procedure", grow: "wide",
      cell: r => el("span", { title: plain(r.procedure) }, plain(procedureName(r))) },
    { id: "image", title: "image", what: "image", grow: "w4",
      cell: r => [ctx.swatch(r.image), el("span", { title: plain(r.image) }, plain(base(r.image)))] },
  ];

  function drawHot(report) {
    put(head, el("p", { class: "truth" }, el("b", {}, "Which stalls cost the most? "),
      el("span", { class: "quiet" }, "Enter opens the procedure.")));
    put(side);
    tools.hidden = true;
    if (!report.stalls.length) {
      put(place, notice("No stalls are known in these epochs.",
        "Open a procedure in Where (1), or choose a longer range."));
      return;
    }
    put(place, table.node);
    table.show(hotColumns, report.stalls);
  }

  function draw(state, former) {
    choice.value = state.why;
    graph.setAttribute("aria-pressed", String(Boolean(state.graph)));
    all.setAttribute("aria-pressed", String(Boolean(state.whole)));
    if (!state.proc || !data)
      return;
    tools.hidden = false;
    put(head, headLine(state, data.list, data.calc));
    const rows = makeRows(data.calc, data.list, !state.whole && data.list.instructions.length > FOLD);
    const scrolled = former ? [...place.querySelectorAll(".scroll")].map(s => s.scrollTop) : null;
    if (!rows.length)
      put(place, notice("No code of this procedure is here.", plain(data.list.no_code ?? ""),
        "cpid keeps the code of what it samples (--capture); for debug information install the debug package."));
    else if (state.graph)
      drawGraph(state);
    else {
      const pane = codePane(rows, data.source, state.why);
      put(place, pane);
      const scrolls = [...place.querySelectorAll(".scroll")];
      const atBlock = state.at && (state.at !== former?.at || former.graph) && showBlock(pane, state.at);
      if (!atBlock && scrolled?.length === scrolls.length)
        scrolls.forEach((s, i) => {
          s.scrollTop = scrolled[i];
        });
      else if (!atBlock)
        showHottest(pane, rows);
    }
    drawSide();
  }

  function drawSide() {
    put(side, data.calc?.summary ? cyclePart(data.calc.summary) : null,
      parts.course ? coursePart(parts.course) : null,
      parts.callers !== undefined ? callersPart(parts.callers, open) : null,
      parts.values ? valuesPart(parts.values) : null,
      parts.paths ? pathsPart(parts.paths) : null);
  }

  const or = (promise, otherwise) => promise.catch(error => {
    if (error.name === "AbortError")
      throw error;
    return otherwise;
  });

  /** All at once: each takes its time, and calc only fails where there is no code. */
  async function readCode(options, signal) {
    const [list, calc, source] = await Promise.all([
      api.json("list", { ...options, all: true }, signal),
      or(api.json("calc", { ...options, all: true }, signal), null),
      or(api.json("list", { ...options, source: true, all: true }, signal), null)]);
    return { list, calc: list.instructions?.length ? calc : null, source };
  }

  async function readSide(state, signal) {
    const options = ofProcedure(state);
    const wanted = state.image ? { image: filterOptions([{ op: "only", kind: "image",
      value: state.image }]).image } : {};
    const courses = or(api.json("prof", { ...chosen(state), ...wanted, "over-time": true,
      procedure: state.proc.replace(/[\\*?[]/g, "\\$&") }, signal), null);
    const ofWindows = (report, more) => (data.calc?.frequency_source === "windows" ?
      or(api.json(report, { ...options, ...more }, signal), null) : null);
    const [prof, callers, paths, values] = await Promise.all([courses,
      state.proc.startsWith("[0x") ? undefined : // callers takes names only
        or(api.json("callers", { ...options, threshold: 1 }, signal), null),
      ofWindows("paths", { limit: 8 }), ofWindows("values", {})]);
    return { course: prof?.rows.find(r => r.procedure === state.proc), callers, paths, values };
  }

  function update(state) {
    if (!state.proc) {
      data = null;
      beside.stop();
      loader.run(signal => api.json("stalls", { ...chosen(state), limit: 100 }, signal), drawHot);
      return;
    }
    loader.run(signal => readCode(ofProcedure(state), signal), answer => {
      const same = data?.list.procedure === answer.list.procedure;
      data = answer;
      cfg = null;
      if (!same)
        parts = {};
      draw(store.get(), same ? store.get() : null);
      beside.run(signal => readSide(state, signal), more => {
        parts = more;
        drawSide();
      });
    });
  }

  return {
    node,
    update,
    draw,
    needs: ["proc", "image"],
    keys: () => [
      { key: "v", text: "source and assembly, or one of them", run: () => store.set({ why:
        SIDES[(SIDES.indexOf(store.get().why) + 1) % 3] }) },
      { key: "g", text: "control-flow graph, or code", run: () => graph.click() },
      { key: "z", text: "all code, or only what has samples", run: () => all.click() },
      { key: "y", text: "copy as text", run: copyText },
      { key: "p", text: "sandwich: callers and callees", run: () => store.set({ view: "flame",
        shape: "sandwich", zoom: "" }) },
      { key: "/", text: "another procedure", run: () => store.set({ proc: "", image: "" }) },
    ],
    escape() {
      const state = store.get();
      if (!state.graph && !state.proc)
        return false;
      store.set(state.graph ? { graph: false } : { proc: "", image: "" });
      return true;
    },
    focus: () => (store.get().proc ? place.querySelector(".scroll")?.focus() : table.focus()),
    saves: state => (state.proc ? [
      { name: "JSON (calc)", report: "calc", options: { ...ofProcedure(state), all: true } },
      { name: "CSV (calc)", report: "calc", options: { ...ofProcedure(state), all: true, format: "csv" } },
      { name: "JSON of the graph", report: "cfg", options: { ...ofProcedure(state), format: "json" } },
      { name: "SVG of the graph", report: "cfg", options: { ...ofProcedure(state), format: "svg" } },
      { name: "text (calc)", report: "calc", options: { ...ofProcedure(state), format: "text", download: true } },
    ] : ["csv", "json"].map(format => ({ name: `${format.toUpperCase()} (stalls)`, report: "stalls",
      options: { ...chosen(state), format } }))),
    stop() {
      loader.stop();
      beside.stop();
      graphs.stop();
    },
  };
}
