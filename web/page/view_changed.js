// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * view_changed.js - what changed between A and B: each row a dot with its interval on a
 * line of change. Verdicts stand first; what cannot be told is said. The flame graph of
 * both sides is grey where nothing can be said.
 */
import { el, plain, base, put } from "./dom.js";
import { figure, digits, percent, count } from "./format.js";
import { createLoader, notice } from "./loader.js";
import { createTable } from "./table.js";
import { createFlame } from "./flame_canvas.js";
import { boxesOf, buildTree, pathOf } from "./flame_tree.js";
import { forestAxis, forestPlot, grew, judge } from "./forest.js";
import { filterOptions, passes } from "./filters.js";
import { procedureArgs, procedureName } from "./view_where.js";
import { what } from "./explain.js";
import { plotSheet } from "./plots.js";

const KINDS = { procedure: "procedure", image: "image", comm: "command", line: "source line",
  container: "container", unit: "unit", label: "label" };

/** Which rows stand in which list, by what the command says of them. */
const LISTS = [
  { id: "slower", title: "Became slower", of: r => r.found && r.verdict === "slower" },
  { id: "often", title: "Ran more often", of: r => r.found && r.verdict === "more often" },
  { id: "other", title: "Changed otherwise", of: r => r.found },
  { id: "rest", title: "No significant change", of: () => true },
];

/** With its sign; a change that would be 0.0 has none. */
function changeText(value) {
  return Math.abs(value) < 0.05 ? "0.0" : `${value > 0 ? "+" : "−"}${Math.abs(value) < 100 ?
    Math.abs(value).toFixed(1) : digits(Math.abs(value))}`;
}

export function create(ctx) {
  const { store, api } = ctx;
  const side = name => {
    const field = el("input", { id: `side-${name}`, list: "ranges", autocomplete: "off",
      spellcheck: "false", placeholder: name === "a" ? "epochs of A" : "epochs of B",
      change: () => store.set({ [name]: field.value.trim() }) });
    return field;
  };
  const a = side("a");
  const b = side("b");
  const by = el("select", { id: "diffby", change: () => store.set({ diffby: by.value }) },
    Object.entries(KINDS).map(([value, text]) => el("option", { value }, text)));
  const flame = el("button", { type: "button", "aria-pressed": "false", id: "diff-flame",
    click: () => store.set({ diffflame: !store.get().diffflame }) }, "flame graph");
  const swap = el("button", { type: "button", click: exchange }, "swap");
  const truth = el("div", {});
  const place = el("div", { class: "place" });
  const node = el("section", { class: "view", "aria-label": "What changed" },
    el("div", { class: "tools" }, el("span", { class: "field" }, el("label", { for: "side-a", class: "side a" }, "A"), a),
      el("span", { class: "field" }, el("label", { for: "side-b", class: "side b" }, "B"), b), swap, el("span", { class: "push" }),
      el("label", { for: "diffby" }, "group by"), by, flame), truth, place);
  const loader = createLoader(place);
  const detail = createLoader(place);
  const keyOf = row => JSON.stringify([row.procedure, row.b_procedure, row.image, row[store.get().diffby],
    row.file, row.line]);
  const lists = LISTS.map(list => {
    const table = createTable({ caption: list.title, key: keyOf, select: row => {
      selected = row;
      ctx.pick(row);
    }, open, sort: order => store.set({ diffsort: order }), rowClass: row => `v-${judge(row).kind}` });
    table.node.classList.add(list.id);
    return { ...list, table, title: el("h3", { class: "listtitle" }) };
  });
  const graph = createFlame({ label: "Flame graph of both sides; orange took more in B, blue less",
    colour, hover: box => box && describe(box), select: describe, zoom: box => graph.zoomTo(box) });
  const details = el("p", { class: "details", ...what("box") });
  const boxes = createTable({ caption: "Call stacks of both sides", key: box => pathOf(box), select: box => describe(box) });
  let selected = null; // row of one of the lists
  let report = null;
  let stacks = null; // of flame A B

  function exchange() {
    const state = store.get();
    store.set({ a: state.b, b: state.a });
  }

  const sides = state => [state.a || state.range, state.b];

  function colour(box) {
    if (!box.parent)
      return "wash";
    return box.judged?.shade ? (box.judged.more ? "more" : "less") : "none";
  }

  const shareOf = (box, side) => box.judged?.[`${side}_percent`] ??
    100 * box.sides[side === "a" ? 0 : 1] / (graph.root?.sides[side === "a" ? 0 : 1] || 1);

  /** What cpi flame A B says of a box. */
  function verdictOf(box) {
    const row = box.judged;
    if (!row?.judged)
      return "no verdict: too few samples of its own";
    return `itself ${changeText(row.change_percent)} % (${changeText(row.low_percent)} to ${
      changeText(row.high_percent)}), ${row.found ? `significant${row.verdict ? `: ${row.verdict}` : ""}` :
      "not significant"}`;
  }

  function describe(box) {
    put(details, el("b", {}, plain(box.procedure)), " A ", figure(shareOf(box, "a"), percent(shareOf(box, "a")), "%"),
      " %, B ", figure(shareOf(box, "b"), percent(shareOf(box, "b")), "%"), " %",
      box.parent ? ` · ${verdictOf(box)}` : "");
    ctx.pick(box.parent ? { procedure: box.procedure, image: box.image } : null);
  }

  const boxColumns = [
    ...["a", "b"].map(side => ({ id: `${side}_share`, title: side.toUpperCase(), unit: "%", what: "total", number: true,
      grow: "w1", cell: x => figure(shareOf(x, side), percent(shareOf(x, side)), "%") })),
    { id: "change", title: "itself", unit: "%", what: "change", number: true, grow: "w1", cell: x => (x.judged?.judged ?
      figure(x.judged.change_percent, changeText(x.judged.change_percent), "%") : "") },
    { id: "verdict", title: "verdict", what: "verdict", grow: "w4", cell: x => (x.judged?.shade ?
      `significant: ${x.judged.more ? "more" : "less"} here` : x.judged?.found ? "significant, not here" :
        x.judged?.judged ? "not significant" : "too few samples") },
    { id: "procedure", title: "procedure", what: "procedure", grow: "w6", cell: x => el("span", { title: plain(x.procedure) },
      "· ".repeat(Math.min(40, x.depth - 1)), plain(x.procedure)) },
    { id: "image", title: "image", what: "image", grow: "wide", cell: x => (x.image ? [ctx.swatch(x.image),
      el("span", { title: plain(x.image) }, plain(base(x.image)))] : "") },
  ];

  function drawFlame(state) {
    const side = name => stacks.rows.map(row => ({ ...row, samples: row[`${name}_samples`],
      self_samples: row[`${name}_self_samples`] }));
    const root = buildTree([side("a"), side("b")], row => !passes(state.filters, row));
    graph.root = root;
    if (state.table) {
      put(place, boxes.node);
      boxes.show(boxColumns, boxesOf(root));
      return;
    }
    if (!graph.chosen())
      put(details, "Orange: the procedure itself takes more in B, blue: less; grey: no significant change.");
    put(place, details, graph.node);
    graph.show(root);
  }

  async function open(row) {
    const state = store.get();
    if (!row.procedure)
      return;
    store.set({ diffproc: procedureArgs(row.procedure.split(" + ")[0], row.image).arg });
    if (state.diffproc)
      update(store.get());
  }

  function columns(state) {
    const name = state.diffby;
    const ms = ns => (ns ?? 0) / 1e6;
    const text = (value, title) => el("span", { title: plain(title ?? value) }, plain(value ?? ""));
    return [
      { id: "verdict", title: "verdict", what: "verdict", grow: "w4", sort: r => judge(r).order,
        cell: r => el("span", { class: "verdict" }, judge(r).text) },
      { id: "name", title: KINDS[name], what: name === "procedure" ? "procedure" : "context", grow: "wide",
        sort: r => r[name] ?? r.file, cell: r => (name === "line" ? text(`${base(r.file)}:${r.line}`, r.file) :
          text(name === "procedure" ? procedureName(r) : r[name], r[name])) },
      name === "procedure" ? { id: "image", title: "image", what: "image", grow: "w3",
        sort: r => r.image, cell: r => [ctx.swatch(r.image), text(base(r.image), r.image)] } : null,
      { id: "a", title: "A", unit: "ms/s", what: "time", number: true, grow: "w1", sort: r => r.a_per_second,
        cell: r => figure(r.a_per_second, digits(ms(r.a_per_second)), "ns/s") },
      { id: "b", title: "B", unit: "ms/s", what: "time", number: true, grow: "w1", sort: r => r.b_per_second,
        cell: r => figure(r.b_per_second, digits(ms(r.b_per_second)), "ns/s") },
      { id: "change", title: "change", unit: "%", what: "change", number: true, grow: "w1",
        sort: r => r.change_percent, cell: r => figure(r.change_percent, r.change_percent === null ? "" :
          changeText(r.change_percent), "%") },
      ...(state.table ? ["low", "high"].map(end => ({ id: end, title: end, unit: "%", what: end, number: true, grow: "w1",
        cell: r => figure(r[`${end}_percent`], r[`${end}_percent`] === null ? "" : changeText(r[`${end}_percent`]), "%") })) :
        [{ id: "plot", title: forestAxis(), what: "change", grow: "w5", cell: forestPlot }]),
      { id: "q", title: "q", what: "q", number: true, grow: "w1", sort: r => r.q,
        cell: r => figure(r.q, r.q === null ? "" : r.q < 0.001 ? "<0.001" : r.q.toFixed(3)) },
    ].filter(Boolean);
  }

  function drawTruth() {
    const found = report.rows.filter(r => judge(r).kind === "found").length;
    const few = report.rows.filter(r => judge(r).kind === "few").length;
    const basis = { runs: "judged by how epochs of a side differ", history: "judged by earlier epochs",
      sampling: "sampling error only: three epochs a side are needed to know how runs differ" };
    put(truth, el("p", { class: "truth" },
      el("span", what("verdict"), figure(found, found), ` of ${report.rows.length} rows changed significantly`),
      few ? el("span", what("verdict"), figure(few, few), " have too few samples") : null,
      el("span", what("epochs"), "A ", figure(report.a.parts, report.a.parts), " epochs, ", figure(report.a.seconds,
        digits(report.a.seconds)), " s"),
      el("span", what("epochs"), "B ", figure(report.b.parts, report.b.parts), " epochs, ", figure(report.b.seconds,
        digits(report.b.seconds)), " s"),
      el("span", {}, `relative to ${report.normalized_by === "median" ? "the median change of all rows" :
        "time"}`), el("span", { class: report.basis === "sampling" ? "lost" : null }, basis[report.basis] ?? report.basis)));
  }

  const ORDER = { found: 0, not: 1, few: 2 };

  function draw(state) {
    for (const field of [a, b]) {
      if (document.activeElement !== field)
        field.value = field === a ? state.a : state.b;
    }
    by.value = state.diffby;
    flame.setAttribute("aria-pressed", String(state.diffflame));
    if (!report || state.diffproc)
      return;
    drawTruth();
    if (state.diffflame && stacks) {
      drawFlame(state);
      return;
    }
    const rows = report.rows.filter(r => passes(state.filters, r)).sort((p, q) =>
      ORDER[judge(p).kind] - ORDER[judge(q).kind] ||
      Math.abs(q.delta_per_second ?? 0) - Math.abs(p.delta_per_second ?? 0));
    showLists(state, rows);
  }

  /** Each row is in the first list that takes it. An empty list is a line. */
  function showLists(state, rows) {
    const left = new Set(rows);
    const parts = lists.flatMap(({ id, of, table, title }, i) => {
      const mine = rows.filter(r => left.has(r) && of(r));
      mine.forEach(r => left.delete(r));
      put(title, LISTS[i].title, el("span", { class: "quiet", "data-list": id, "data-value": mine.length },
        mine.length ? ` ${mine.length}` : id === "rest" ? " none" : " none of the significant rows"));
      if (mine.length)
        table.show(columns(state), mine, state.diffsort);
      return mine.length ? [title, table.node] : [title];
    });
    if (parts.length !== place.children.length || parts.some((p, i) => p !== place.children[i]))
      put(place, parts);
    if (!rows.includes(selected))
      selected = null;
  }

  function drawProcedure(d) {
    const back = el("button", { type: "button", click: () => store.set({ diffproc: "" }) }, "← all rows");
    put(truth, el("p", { class: "truth" }, back, el("b", { class: "mono" }, plain(d.procedure)),
      el("span", what("samples"), figure(d.a_samples, count(d.a_samples)), " samples in A, ", figure(d.b_samples,
        count(d.b_samples)), " in B"), el("span", {}, d.same_code ? "the same code" : d.instructions.length ?
        "rebuilt: instructions were matched; what has one address is on one side alone" : "rebuilt, and too long to match")));
    const insns = createTable({ caption: "Per instruction", key: r => `${r.block} ${r.address} ${r.b_address} ${r.text}` });
    const number = (id, title, id2) => ({ id, title, what: id2, number: true, grow: "w2",
      cell: r => figure(r[id], r[id] === null ? "" : Math.abs(r[id]) >= 1e6 ? count(r[id]) : digits(r[id])) });
    const address = (id, title) => ({ id, title, what: "address", grow: "w2", cell: r => el("code", { "data-value": r[id] ?? "" }, r[id] ?? "") });
    put(place, insns.node);
    insns.show([number("a_ms_per_second", "A ms/s", "time"), number("b_ms_per_second", "B ms/s", "time"),
      number("delta_ms_per_second", "change ms/s", "delta"), number("a_cpi", "A CPI", "actual"),
      number("b_cpi", "B CPI", "actual"), number("a_executions", "A executions", "executions"),
      number("b_executions", "B executions", "executions"),
      address("address", d.same_code ? "address" : "A address"), ...(d.same_code ? [] : [address("b_address", "B address")]),
      { id: "text", title: "instruction", grow: "wide", cell: r => el("code", { title: plain(r.text) }, plain(r.text)) }],
    d.instructions);
  }

  const flameOptions = state => ({ arg: sides(state), threshold: 0.05, ...filterOptions(state.filters) });

  function update(state) {
    if (!state.b) {
      report = null;
      put(truth);
      loader.stop();
      put(place, notice("Compare which epochs?", "Drag over the time line for A, then hold shift and drag for B; " +
        "or type epochs or labels above: before and after, 2026-11-20 and 2026-11-21.",
      "Three epochs or more on each side let the verdict know how runs differ by themselves."));
      draw(state);
      return;
    }
    const [from, to] = sides(state);
    if (state.diffproc) {
      detail.run(signal => api.json("diff", { arg: [from, to, state.diffproc],
        ...filterOptions(state.filters) }, signal), drawProcedure);
      draw(state);
      return;
    }
    loader.run(async signal => {
      const diff = api.json("diff", { arg: [from, to], by: state.diffby, threshold: 0.000001,
        ...filterOptions(state.filters) }, signal);
      return [await diff, state.diffflame ? await api.json("flame", { ...flameOptions(state), format: "json" }, signal) : null];
    }, ([answer, both]) => {
      report = answer;
      stacks = both;
      draw(store.get());
    });
  }

  return {
    node,
    update,
    draw,
    needs: ["b", "diffby", "diffflame", "diffproc"],
    keys: () => [
      { key: "v", text: "the flame graph of both sides, or the table", run: () => flame.click() },
      { key: "g", text: "group by the next kind", run: () => store.set({ diffby:
        Object.keys(KINDS)[(Object.keys(KINDS).indexOf(store.get().diffby) + 1) % Object.keys(KINDS).length] }) },
      { key: "Enter", text: "the instructions of the selected procedure", run: () => selected && open(selected) },
      { key: "/", text: "the epochs of B", run: () => b.focus() },
      { key: "%", text: "exchange A and B", run: exchange },
      { key: "y", text: "copy as text", run: async () => store.get().b && ctx.copy(await api.text("diff",
        { arg: sides(store.get()), by: store.get().diffby, ...filterOptions(store.get().filters), format: "text" })) },
    ],
    escape() {
      const state = store.get();
      if (!state.diffproc && !state.diffflame)
        return false;
      store.set(state.diffproc ? { diffproc: "" } : { diffflame: false });
      return true;
    },
    focus: () => lists.find(l => l.table.node.isConnected)?.table.focus(),
    sheet: () => plotSheet("#main .forest", "name", ["÷4", "÷2", "0", "×2", "×4"]),
    saves: state => (state.b ? [...["csv", "json", "svg"].map(format => ({ name: format.toUpperCase(), report: "diff",
      options: { arg: sides(state), by: state.diffby, ...filterOptions(state.filters), format } })), ...["svg", "json"].map(format => ({
      name: `${format.toUpperCase()} of both flame graphs`, report: "flame", options: { ...flameOptions(state), format } }))] : []),
    stop() {
      loader.stop();
      detail.stop();
    },
  };
}
