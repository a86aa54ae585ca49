// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * why_code.js - source and assembly beside each other. Rows have one height; the pointer
 * or focus on one side marks the other. Bubbles have the tint of their likeliest reason,
 * arrows lead from culprits to what waits for them.
 */
import { el, svg, plain, base } from "./dom.js";
import { figure, digits, count, percent, estimate } from "./format.js";
import { bar } from "./spark.js";
import { linesOf, makeArrows, reasonText, reasonsOf, tintOf } from "./why_model.js";

const ROW = 20; // pixels, as in why.css
const GUTTER = 56; // of the arrows
const NEAR = 40; // rows; farther culprits are named in the bubble alone

/** Samples that blame moved may be parts of one. */
const few = n => (n >= 9.95 ? count(Math.round(n)) : n < 0.05 ? "" : n.toFixed(1));

const firstEvent = samples => Object.values(samples ?? {})[0] ?? null;

/** The interval as a line, four decades wide, with the likely value in the middle. */
function whisker(range, shape, title) {
  if (!range?.likely || range.low === null || range.high === null)
    return el("span", { class: `sure ${shape}`, title });
  const x = v => Math.max(0, Math.min(48, 24 + 12 * Math.log10(Math.max(v, 1e-300) / range.likely)));
  return svg("svg", { class: "whisker", width: 48, height: 12, role: "img", "aria-label": title },
    svg("title", {}, title), svg("line", { x1: x(range.low), x2: Math.max(x(range.high), x(range.low) + 1), y1: 6, y2: 6 }),
    svg("circle", { cx: 24, cy: 6, r: 2.5 }));
}

function blockRow(block) {
  const impossible = block.actual_cpi !== null && block.actual_cpi < block.best_case_cpi;
  const shape = block.confidence?.shape ?? "unknown";
  const range = block.frequency_interval;
  const title = `confidence: shape ${shape}, scale ${block.confidence?.scale ?? "unknown"}` + (range ?
    `; 90 % interval ${range.low ?? "?"} to ${range.high ?? "?"}, likely ${range.likely ?? "?"}` : "");
  const actual = block.actual_cpi === 0 ? "without samples" :
    estimate(block.actual_cpi, block.actual_cpi_interval, digits, "least");
  return el("tr", { class: "block", "data-key": `b${block.start}` },
    el("td", { colspan: 3, class: "r", "data-what": "executions" }, block.frequency === null ? "" : [
      whisker(range, shape, title), figure(block.frequency, estimate(block.frequency, range, count, "most")), " executions"]),
    el("td", { colspan: 2, class: "quiet" },
      el("span", { "data-what": "best" }, "best ", figure(block.best_case_cpi, digits(block.best_case_cpi))),
      " · ", el("span", { "data-what": "actual" }, "actual ", figure(block.actual_cpi,
        impossible && !block.actual_cpi_interval ? `≥ ${digits(block.best_case_cpi)}` : actual)),
      " CPI · ", el("span", { "data-what": "confidence", title }, `${shape} confidence`)));
}

function bubbleRow({ stall, insn, key }) {
  const reasons = reasonsOf(stall);
  const places = [...new Set(stall.culprits.map(c => c.offset).filter(Boolean))];
  const text = `${stall.kind === "dynamic" ? "may wait: " : "must wait: "}${reasons.map(reasonText).join(" or ")
  }${places.length ? ` from ${places.join(", ")}` : ""}`;
  const helps = [...new Set(stall.culprits.map(c => c.usually_helps).filter(Boolean))]
    .map(help => `usually helps: ${help}`);
  return el("tr", { class: `bubble t-${tintOf(reasons[0])}`, "data-key": key, "data-what": "culprit" },
    el("td", { colspan: 3, class: "r" }, figure(stall.cycles, estimate(stall.cycles, stall.cycles_interval, digits, "least")), " cycles"),
    el("td", { colspan: 2, title: [text, ...helps].join(". ") }, text,
      helps.map(h => el("span", { class: "quiet" }, ` · ${h}`)), el("span", { class: "hidden" }, ` at ${insn.offset}`)));
}

function insnRow({ insn, key }, most) {
  const samples = firstEvent(insn.samples);
  return el("tr", { class: "insn", "data-key": key, "data-file": insn.file, "data-line": insn.line,
    tabindex: -1 },
  el("td", { class: "r", "data-what": "blamed" }, insn.blamed_samples >= 0.05 ? bar(insn.blamed_samples / most) : "",
    insn.blamed_samples === null ? "" : figure(insn.blamed_samples, few(insn.blamed_samples))),
  el("td", { class: "r", "data-what": "samples" }, figure(samples, samples ? count(samples) : "")),
  el("td", { class: "r", "data-what": "actual" }, insn.cpi === null || insn.cpi === undefined ? "" :
    figure(insn.cpi, insn.cpi >= 0.005 ? estimate(insn.cpi, insn.cpi_interval, digits, "least") : "")),
  el("td", { class: "mono quiet", "data-what": "address" }, insn.address),
  el("td", { class: "mono code", title: insn.taken || insn.not_taken ?
    `taken ${insn.taken}, not taken ${insn.not_taken}` : plain(insn.text) }, plain(insn.text)));
}

function makeRow(row, most) {
  if (row.kind === "block")
    return blockRow(row.block);
  if (row.kind === "bubble")
    return bubbleRow(row);
  if (row.kind === "folded")
    return el("tr", { class: "folded", "data-key": row.key }, el("td", { colspan: 5, class: "quiet" },
      `… ${row.nr} instructions without samples; z shows all`));
  return insnRow(row, most);
}

/** Curves from culprits to bubbles, in the gutter at the right of the assembly. */
function arrowPicture(arrows, nr) {
  const y = i => (i + 1) * ROW + ROW / 2; // the head is a row high
  return svg("svg", { class: "arrows", width: GUTTER, height: (nr + 1) * ROW, "aria-hidden": "true" },
    svg("defs", {}, svg("marker", { id: "head", viewBox: "0 0 6 6", refX: 1, refY: 3, markerWidth: 6,
      markerHeight: 6, orient: "auto-start-reverse" }, svg("path", { d: "M0 0L6 3L0 6Z" }))),
    arrows.filter(a => Math.abs(a.to - a.from) <= NEAR).slice(0, 500).map(a => {
      const reach = Math.min(GUTTER - 8, 12 + 4 * Math.abs(a.to - a.from));
      return svg("path", { class: `arrow t-${tintOf(a.reason)}`, "data-to": a.to,
        d: `M2 ${y(a.from)}C${reach} ${y(a.from)} ${reach} ${y(a.to)} 4 ${y(a.to)}`,
        "marker-end": "url(#head)" }, svg("title", {}, reasonText(a.reason)));
    }));
}

/** A line with a quarter of its indentation, for half of the page has little room. */
const narrow = text => text.replace(/^ +/, spaces => spaces.slice(0, Math.ceil(spaces.length / 4)));

function sourceTable(source) {
  const rows = [];
  for (const [file, lines] of linesOf(source)) {
    rows.push(el("tr", { class: "file" }, el("td", { colspan: 3, title: plain(file ?? "") },
      plain(base(file ?? "unknown file")))));
    const samplesOf = line => Object.entries(line).find(([k]) => k.startsWith("samples"))?.[1];
    const most = Math.max(1, ...source.lines.map(l => l.percent ?? 0));
    for (const line of lines)
      rows.push(el("tr", { class: "source", "data-file": line.file, "data-line": line.line, tabindex: -1 },
        el("td", { class: "r", "data-what": "samples" }, line.percent ? bar(line.percent / most) : "",
          samplesOf(line) ? figure(samplesOf(line), percent(line.percent)) : ""),
        el("td", { class: "r quiet mono" }, line.line ?? "?"),
        el("td", { class: "mono code", title: plain(line.source ?? "") }, narrow(plain(line.source ?? "")))));
  }
  return el("table", { "aria-label": "Source" }, el("thead", {}, el("tr", {},
    el("th", { scope: "col", class: "r" }, "samples", el("span", { class: "unit" }, " %")),
    el("th", { scope: "col", class: "r" }, "line"), el("th", { scope: "col" }, "source"))),
  el("tbody", {}, rows));
}

/**
 * @param {import("./why_model.js").Row[]} rows
 * @param {Object|null} source of `list --source`
 * @param {"both"|"source"|"asm"} what
 * @returns {Element}
 */
export function codePane(rows, source, what) {
  const most = Math.max(1, ...rows.map(r => r.insn?.blamed_samples ?? 0));
  const asm = el("table", { "aria-label": "Assembly" }, el("thead", {}, el("tr", {},
    [["blamed", "blamed"], ["samples", "samples"], ["cycles", "actual"]].map(([title, id]) =>
      el("th", { scope: "col", class: "r", "data-what": id }, title)),
    el("th", { scope: "col" }, "address"), el("th", { scope: "col" }, "instruction"))),
  el("tbody", {}, rows.map(row => makeRow(row, most))));
  const hasSource = Boolean(source && linesOf(source).size);
  const left = hasSource && what !== "asm" ? el("div", { class: "scroll side-source", tabindex: 0 },
    sourceTable(source)) : null;
  const right = what !== "source" || !hasSource ? el("div", { class: "scroll side-asm", tabindex: 0 },
    el("div", { class: "asm" }, asm, arrowPicture(makeArrows(rows), rows.length))) : null;
  const node = el("div", { class: "code-pane" }, left, right);
  link(node);
  return node;
}

/** The pointer or focus on a line marks its instructions, and the other way round. */
function link(node) {
  let marked = [];
  function mark(event) {
    const row = event.target.closest?.("tr[data-line]");
    for (const other of marked)
      other.classList.remove("linked");
    marked = [];
    if (!row)
      return;
    const same = [...node.querySelectorAll("tr[data-line]")].filter(other =>
      other.dataset.line === row.dataset.line && other.dataset.file === row.dataset.file);
    for (const other of same)
      other.classList.add("linked");
    marked = same;
    return same.find(other => other.closest(".scroll") !== row.closest(".scroll"));
  }
  node.addEventListener("pointerover", mark);
  node.addEventListener("focusin", mark);
  node.addEventListener("click", event => {
    mark(event)?.scrollIntoView({ block: "nearest" });
    event.target.closest?.("tr[tabindex]")?.focus({ preventScroll: true });
  });
  node.addEventListener("keydown", event => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const scroll = event.target.closest?.(".scroll");
    if (!step || !scroll)
      return;
    const rows = [...scroll.querySelectorAll("tr[tabindex]")];
    const next = rows[Math.max(0, rows.indexOf(document.activeElement) + step)];
    next?.focus({ preventScroll: true });
    next?.scrollIntoView({ block: "nearest" });
    mark({ target: next })?.scrollIntoView({ block: "nearest" });
    event.preventDefault();
    event.stopPropagation();
  });
}

/** Brings the row with the most samples into sight. */
export function showHottest(node, rows) {
  const hottest = rows.reduce((a, b) => ((b.insn && b.kind === "insn" ? b.insn.blamed_samples ?? 0 : -1) >
    (a?.insn?.blamed_samples ?? -1) ? b : a), null);
  const tr = hottest && node.querySelector(`.side-asm tr[data-key="${CSS.escape(hottest.key)}"]`);
  const scroll = tr?.closest(".scroll");
  if (scroll)
    scroll.scrollTop = Math.max(0, tr.offsetTop - scroll.clientHeight / 3);
}

/** Brings a block into sight and puts the focus on its first instruction; false if it is not here. */
export function showBlock(node, start) {
  const tr = node.querySelector(`.side-asm tr[data-key="${CSS.escape(`b${start}`)}"]`);
  const scroll = tr?.closest(".scroll");
  if (!scroll)
    return false;
  scroll.scrollTop = Math.max(0, tr.offsetTop - ROW);
  tr.classList.add("chosen");
  let first = tr.nextElementSibling;
  while (first && !first.matches(".insn"))
    first = first.nextElementSibling;
  first?.focus({ preventScroll: true });
  return true;
}
