// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * why_graph.js - the control-flow graph of a procedure: the picture of `cpi cfg`, over
 * which its blocks are buttons, and the same blocks and edges as tables.
 */
import { el, plain, vars } from "./dom.js";
import { figure, count, digits, estimate, percent } from "./format.js";
import { apiUrl } from "./api.js";
import { flatTable } from "./table.js";

const executions = row => estimate(row.frequency, row.frequency_interval, count, "most");

const samplesOf = block => Object.values(block.samples)[0] ?? 0;

/** What a block's button says. */
const blockText = b => `block ${b.start}: ${count(samplesOf(b))} samples, ${percent(b.percent)} %` +
  (b.frequency_interval ? `, ${executions(b)} executions` : "");

const part = value => `${(100 * value).toFixed(3)}%`;

function blockButton(block, open) {
  return vars(el("button", { type: "button", class: "graphblock", "data-start": block.start, title: `${blockText(block)}; a click shows its code`,
    "aria-label": blockText(block), click: () => open(block.start) }),
  { "--x": part(block.box.x), "--y": part(block.box.y), "--w": part(block.box.width), "--h": part(block.box.height) });
}

/**
 * The graph as the command draws it. It is an image, so nothing in it runs.
 * @param {Object} options of the report
 * @param {Object} cfg of `cfg --format=json`
 * @param {function(string): void} open a block, by its start
 */
export function graphPart(options, cfg, open) {
  const picture = el("img", { class: "graph", src: apiUrl("cfg", { ...options, format: "svg" }),
    alt: "Control-flow graph: blocks with their instructions, edges as wide as they are frequent" });
  const pane = el("div", { class: "graphpane" }, picture, cfg.blocks.filter(b => b.box).map(b => blockButton(b, open)));
  const box = el("div", { class: "scroll graphbox", tabindex: 0, role: "region", "aria-label": "Control-flow graph",
    "data-busy": "", "data-what": "graph" }, pane);
  const ready = () => box.removeAttribute("data-busy");
  picture.addEventListener("load", () => picture.decode().then(ready, ready)); // it can be drawn only then
  picture.addEventListener("error", () => {
    box.removeAttribute("data-busy");
    pane.replaceWith(el("p", { class: "quiet" },
      "No picture: the machine of the server needs graphviz. t shows the graph as tables."));
  });
  return box;
}

function blockRow(block, open) {
  return [el("button", { type: "button", class: "link mono", click: () => open(block.start) }, plain(block.start)),
    figure(block.instructions, count(block.instructions)), figure(samplesOf(block), count(samplesOf(block)), "samples"),
    figure(block.percent, percent(block.percent), "%"),
    block.frequency_interval ? figure(block.frequency, executions(block)) : "",
    block.frequency_interval ? figure(block.best_case_cpi, digits(block.best_case_cpi)) : "",
    block.frequency_interval ? figure(block.actual_cpi, estimate(block.actual_cpi, block.actual_cpi_interval, digits, "least")) : "",
    [block.landing_pad ? "entered by exceptions" : "", block.missing_edges ? "leads elsewhere, too" : ""].filter(Boolean).join(", ")];
}

function edgeRow(edge, open) {
  const block = start => (start === null ? "exit" :
    el("button", { type: "button", class: "link mono", click: () => open(start) }, plain(start)));
  return [block(edge.from), block(edge.to), plain(edge.kind),
    edge.frequency_interval ? figure(edge.frequency, executions(edge)) : "", plain(edge.confidence ?? ""),
    figure(edge.taken_samples, count(edge.taken_samples)), figure(edge.not_taken_samples, count(edge.not_taken_samples))];
}

/** Blocks and edges as tables. */
export function graphTables(cfg, open) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Blocks and edges" },
    flatTable("Blocks of the control-flow graph", [["block", "address"], ["instructions", "insns", true],
      ["samples", "samples", true], ["share %", "blockshare", true], ["executions", "executions", true],
      ["CPI best", "best", true], ["CPI", "actual", true], ["", "graph"]], cfg.blocks.map(b => blockRow(b, open))),
    flatTable("Edges of the control-flow graph", [["from", "address"], ["to", "address"], ["kind", "graph"],
      ["executions", "executions", true], ["confidence", "confidence"], ["taken", "taken", true],
      ["not taken", "taken", true]], cfg.edges.map(e => edgeRow(e, open))));
}
