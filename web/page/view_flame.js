// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * view_flame.js - call stacks as boxes: the flame graph, the icicle, and the sandwich of
 * callers and callees of one procedure. Its table has the same rows as `cpi tree`.
 */
import { el, plain, base, put } from "./dom.js";
import { figure, percent, count, time, digits } from "./format.js";
import { createFlame } from "./flame_canvas.js";
import { boxAt, buildTree, createSearch, pathOf } from "./flame_tree.js";
import { createLoader, notice } from "./loader.js";
import { createTable } from "./table.js";
import { filterOptions, withFilter } from "./filters.js";
import { shownEpochs } from "./state.js";
import { procedureArgs, toRegExp } from "./view_where.js";
import { what } from "./explain.js";

const THRESHOLD = 0.02; // percent; less is in a box of its own
const SHAPES = ["icicle", "flame", "sandwich"];
/** Colours of boxes that are of no image. */
const SHADES = new Map([["all", "wash"], ["command", "picked"], ["pruned", "none"], ["unknown", "unknown"],
  ["kernel", "kernel"]]);
const HINTS = { icicle: "A click selects a box, two zoom; p shows its callers and callees, o why.",
  sandwich: "Above the line: who calls it; below: what it calls." };

export function create(ctx) {
  const { store, api, hues } = ctx;
  const truth = el("p", { class: "truth", ...what("stacks") });
  const input = el("input", { type: "search", id: "search", placeholder: "search (regex)  /",
    "aria-label": "Search by regular expression", spellcheck: "false",
    input: () => store.set({ fq: input.value }),
    focus: () => built && (built.search ??= createSearch(root)), // ahead of the first letter
    keydown: event => {
      if (event.key === "Enter") {
        next(event.shiftKey ? -1 : 1);
        event.preventDefault();
      }
    } });
  const matched = el("output", { class: "quiet", ...what("matched") });
  const shape = el("select", { "aria-label": "Shape", id: "shape",
    change: () => store.set({ shape: shape.value }) },
  SHAPES.map(value => el("option", { value }, value)));
  const toggle = (name, text) => el("button", { type: "button", "aria-pressed": "false",
    id: `flame-${name}`, click: () => store.set({ [name]: !store.get()[name] }) }, text);
  const toggles = { inverted: toggle("inverted", "from the leaves"),
    commands: toggle("commands", "by command"), folded: toggle("folded", "fold recursion") };
  const images = el("div", { class: "images", role: "group", "aria-label": "Images: a click hides one" });
  const details = el("p", { class: "details", "aria-live": "polite", ...what("box") });
  const place = el("div", { class: "place" });
  const tip = el("div", { class: "tip", hidden: true });
  const node = el("section", { class: "view", "aria-label": "Flame graph" }, truth,
    el("div", { class: "tools" }, input, matched, el("span", { class: "push" }),
      el("label", { for: "shape", class: "hidden" }, "shape"), shape, Object.values(toggles)),
    images, details, place, tip);
  const loader = createLoader(place);
  const options = { colour, hover, select, zoom: box => zoom(box) };
  const main = createFlame({ label: "Flame graph; arrows move, Enter zooms, t shows the table", ...options });
  const callers = createFlame({ label: "Callers; arrows move", ...options });
  const table = createTable({ caption: "Call stacks", key: box => pathOf(box),
    select, open: box => zoom(box) });
  let reports = null; // {tree} or {callers, callees}
  let root = null;
  let built = null; // {reports, key}: what root is made of; {busiest, search}: what is made of it
  let shown = {}; // {root, shape}: what main shows
  let result = null; // of the search

  function colour(box) {
    return SHADES.get(box.kind) ?? hues.known(box.image);
  }

  const share = box => (root.samples ? 100 * box.samples / root.samples : 0);

  function describe(box) {
    const exact = box.row?.percent ?? share(box);
    return [el("b", {}, plain(box.procedure)), " ", el("span", { class: "quiet" }, plain(box.image ?? "")),
      " · ", figure(exact, percent(exact), "%"), " %, ", figure(box.samples, count(box.samples), "samples"),
      box.time ? [", ", figure(box.time, time(box.time), "ns")] : null,
      box.self ? [" · self ", figure(box.self, percent(100 * box.self / root.samples), "samples"), " %"] : null,
      box.row?.file ? ` · ${plain(base(box.row.file))}:${box.row.line}` : null];
  }

  function hover(box, event) {
    tip.hidden = !box || store.get().dock;
    if (!box)
      return;
    if (store.get().dock) {
      put(details, describe(box));
      return;
    }
    put(tip, describe(box));
    const wide = tip.offsetWidth;
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 12, innerWidth - wide - 4))}px`;
    tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 4)}px`;
  }

  function select(box) {
    put(details, describe(box));
    ctx.pick(box.parent ? { procedure: box.procedure, image: box.image } : null);
  }

  function zoom(box) {
    store.set({ zoom: pathOf(box) });
  }

  function next(step) {
    if (!result?.list.length)
      return;
    const list = result.list;
    const now = list.indexOf(main.chosen());
    main.choose(list[(now + step + list.length + (now < 0 && step < 0 ? 1 : 0)) % list.length]);
    main.canvas.focus({ preventScroll: true });
  }

  function hidden(state) {
    const values = kind => state.filters.filter(f => f.op === "hide" && f.kind === kind).map(f => f.value);
    const images = new Set([...values("image"), ...state.hideimages]);
    const procedures = new Set(values("procedure"));
    return row => images.has(row.image) || procedures.has(row.procedure);
  }

  /** Images by the samples that ended in them, the busiest ten. */
  function busiest(rows) {
    const sums = new Map();
    for (const row of rows) {
      if (row.image && row.self_samples)
        sums.set(row.image, (sums.get(row.image) ?? 0) + row.self_samples);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 10);
  }

  function drawImages(state) {
    const list = built.busiest;
    for (const [image] of ctx.time.line() ? list : [])
      hues.of(image); // the time line's images come first
    const key = JSON.stringify([list.map(([image, n]) => [image, n, hues.known(image)]), state.hideimages,
      reports.samples]);
    if (key === images.dataset.shown)
      return; // elements that are made anew have to be laid out anew
    images.dataset.shown = key;
    put(images, list.map(([image, n]) => el("button", { type: "button", class: "image",
      title: plain(image), "aria-pressed": String(!state.hideimages.includes(image)),
      click: () => store.set({ hideimages: state.hideimages.includes(image) ?
        state.hideimages.filter(i => i !== image) : [...state.hideimages, image] }) },
    ctx.swatch(image), plain(base(image)), " ", el("span", { class: "quiet" },
      percent(100 * n / (reports.samples || 1)), " %"))));
  }

  function drawTruth() {
    if (built.told)
      return;
    built.told = true;
    const busy = reports.samples; // with idle ones only if they were asked for
    put(truth, el("span", {}, figure(busy, count(busy), "samples"), ` call stacks of ${plain(reports.event)}`),
      reports.idle_samples ? el("span", {}, figure(reports.idle_samples, count(reports.idle_samples)),
        " idle") : null,
      root.samples && root.samples !== busy ? el("span", {}, figure(root.samples, count(root.samples)), " shown") : null);
  }

  const columns = [
    { id: "share", title: "total", unit: "%", what: "total", number: true, grow: "w2",
      cell: b => figure(b.row?.percent ?? share(b), percent(b.row?.percent ?? share(b)), "%") },
    { id: "self", title: "self", unit: "%", what: "self", number: true, grow: "w2",
      cell: b => figure(b.row ? b.row.self_percent : 100 * b.self / root.samples,
        b.self ? percent(100 * b.self / root.samples) : "") },
    { id: "samples", title: "samples", what: "samples", number: true, grow: "w2",
      cell: b => figure(b.samples, count(b.samples)) },
    { id: "procedure", title: "procedure", what: "procedure", grow: "w6", cell: b => el("span",
      { title: plain(b.procedure), class: "indent", "data-depth": b.depth },
      "· ".repeat(Math.min(40, b.depth - 1)), plain(b.procedure)) },
    { id: "image", title: "image", what: "image", grow: "wide",
      cell: b => (b.image ? [ctx.swatch(b.image), el("span", { title: plain(b.image) }, plain(base(b.image)))] : "") },
  ];

  function rowsOf(box) {
    return box.children.flatMap(child => [child, ...rowsOf(child)]);
  }

  /** Which frames stacks begin with; null: with their first one. */
  function startsOf(filter) {
    if (filter?.op !== "from")
      return filter ? row => row.procedure === filter.value : null;
    const pattern = toRegExp(filter.value);
    return pattern && (row => pattern.test(`${row.procedure} ${row.image ?? ""}`));
  }

  /** Makes boxes of the rows, unless nothing changed that they depend on. */
  function build(state) {
    const start = state.filters.filter(f => (f.op === "focus" && f.kind === "procedure") || f.op === "from").pop();
    const key = JSON.stringify([state.filters.filter(f => f.op === "hide"), state.hideimages, start, state.folded]);
    if (built?.reports === reports && built.key === key)
      return;
    root = buildTree([reports.rows], hidden(state), startsOf(start), state.folded);
    built = { reports, key, busiest: busiest(reports.rows), search: null };
  }

  /** The same boxes stay, so that a zoom or a search changes only what it is about. */
  function show(state, at) {
    if (shown.root === root && shown.shape === state.shape) {
      if (shown.at !== at)
        main.zoomTo(at);
      main.recolour(); // images may have their colours only now
    } else {
      if (state.shape === "sandwich" && reports.above)
        callers.show(buildTree([reports.above]), { up: true, skip: 2 }); // its own box is below
      main.show(root, { up: state.shape === "flame", at, skip: state.shape === "sandwich" ? 1 : 0 });
    }
    shown = { root, shape: state.shape, at };
  }

  function draw(state) {
    input.value = document.activeElement === input ? input.value : state.fq;
    shape.value = state.shape;
    for (const [name, button] of Object.entries(toggles))
      button.setAttribute("aria-pressed", String(Boolean(state[name])));
    if (!reports)
      return;
    build(state);
    if (!root.children.length) {
      put(place, notice("No call stack is left.", state.filters.length || state.hideimages.length ?
        "Take back a filter (u), or show a hidden image again." : "Choose a longer range above.",
      "Stacks are sampled by cpi record -g, and by cpid with --stacks."));
      return;
    }
    drawImages(state);
    drawTruth();
    const hint = HINTS[state.shape] ?? HINTS.icicle;
    if (!main.chosen() && details.textContent !== hint)
      put(details, hint);
    const at = boxAt(root, state.zoom);
    if (state.table) {
      put(place, table.node);
      table.show(columns, rowsOf(state.zoom ? { children: [at] } : root));
    } else {
      const nodes = state.shape === "sandwich" ? [callers.node, main.node] : [main.node];
      if (nodes.length !== place.children.length || nodes.some((n, i) => n !== place.children[i]))
        put(place, nodes); // only then: a box that is put anew forgets how it was scrolled
      node.classList.toggle("sandwich", state.shape === "sandwich");
      show(state, at);
    }
    drawSearch(state);
  }

  function drawSearch(state) {
    const pattern = state.fq ? toRegExp(state.fq) : null;
    input.setAttribute("aria-invalid", String(Boolean(state.fq && !pattern)));
    built.search ??= pattern && createSearch(root);
    result = pattern ? built.search(pattern) : null;
    main.mark(result?.found ?? null);
    const text = result ? `${result.list.length} matches, ${percent(100 * result.share)} %` : "";
    if (matched.textContent !== text)
      matched.textContent = text;
  }

  function ask(state) {
    return { epoch: shownEpochs(state), threshold: THRESHOLD, idle: state.idle,
      ...filterOptions(state.filters) };
  }

  async function read(state, signal) {
    if (state.shape !== "sandwich" || !state.proc)
      return api.json("tree", { ...ask(state), inverted: state.inverted, commands: state.commands }, signal);
    const of = { ...ask(state), ...procedureArgs(state.proc, state.image), threshold: 0.1 };
    const [below, above] = await Promise.all([api.json("callees", of, signal),
      api.json("callers", of, signal)]);
    return { ...below, above: above.rows };
  }

  function update(state) {
    if (state.shape === "sandwich" && !state.proc) {
      loader.stop();
      reports = null;
      put(place, notice("Which procedure?", "Select a box in another shape and press p, or open a procedure in Where."));
      draw(state);
      return;
    }
    loader.run(signal => read(state, signal), answer => {
      reports = answer;
      draw(store.get());
    });
  }

  function sandwich() {
    const box = main.chosen();
    if (box?.parent)
      store.set({ shape: "sandwich", proc: box.procedure, image: box.image ?? "", zoom: "" });
    else
      ctx.say("Select a box first.");
  }

  /** Stacks from the outermost frame on that the search finds. */
  function showFrom() {
    const state = store.get();
    if (!state.fq || !toRegExp(state.fq))
      ctx.say("Search first (/): stacks then begin with the outermost match.");
    else
      store.set({ filters: withFilter(state.filters, "from", "match", state.fq), fq: "", zoom: "" });
  }

  return {
    node,
    update,
    draw,
    needs: ["shape", "inverted", "commands", "idle", "proc"],
    keys: () => [
      { key: "/", text: "search", run: () => input.select() || input.focus() },
      { key: "n", text: "next match", run: () => next(1) },
      { key: "N", text: "match before", run: () => next(-1) },
      { key: "Enter", text: "zoom to the selected box", run: () => main.chosen() && zoom(main.chosen()) },
      { key: "v", text: "icicle, flame or sandwich", run: () => store.set({ shape:
        SHAPES[(SHAPES.indexOf(store.get().shape) + 1) % 3] }) },
      { key: "p", text: "sandwich: callers and callees of the selected box", run: sandwich },
      { key: "m", text: "from the leaves, or from the roots", run: () => toggles.inverted.click() },
      { key: "c", text: "begin with commands", run: () => toggles.commands.click() },
      { key: "R", text: "fold recursive calls into the outermost one", run: () => toggles.folded.click() },
      { key: "S", text: "show from: stacks begin with the outermost match of the search", run: showFrom },
      { key: "o", text: "why: the procedure of the selected box", run: () => {
        const box = main.chosen();
        if (box?.image)
          store.set({ view: "why", proc: box.procedure, image: box.image });
      } },
      { key: "k", text: "dock the tooltip", run: () => store.set({ dock: !store.get().dock }) },
      { key: "y", text: "copy the selected box as text", run: () => main.chosen() &&
        ctx.copy(`${main.chosen().procedure}\t${main.chosen().image}\t${main.chosen().samples}`) },
      { key: "← → ↑ ↓", text: "go from box to box", run: () => {} },
    ],
    escape() {
      const state = store.get();
      const back = state.fq ? { fq: "" } : state.zoom ? { zoom: boxAt(root, state.zoom).parent ?
        pathOf(boxAt(root, state.zoom).parent) : "" } : state.shape === "sandwich" ? { shape: "icicle" } : null;
      if (!back)
        return false;
      if ("fq" in back)
        input.value = "";
      store.set(back);
      return true;
    },
    focus: () => (store.get().table ? table.focus() : main.canvas.focus()),
    flame: () => main,
    saves: state => [
      { name: "SVG flame graph", report: "flame", options: { ...ask(state), threshold: 0.1, format: "svg" } },
      { name: "CSV", report: "tree", options: { ...ask(state), format: "csv" } },
      { name: "JSON", report: "tree", options: ask(state) },
    ],
    stop() {
      loader.stop();
      tip.hidden = true;
    },
  };
}
