// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * why_values.js - which values the instructions of a procedure had: rows of `cpi values`,
 * beside its code.
 */
import { el, plain } from "./dom.js";
import { figure, digits, percent, count } from "./format.js";
import { part } from "./why_side.js";

const MOST = 4; // values of a site; the command lists more
const CLASSES = { zero: "0", small: "below 256", power_of_two: "a larger power of two", other: "other" };

/** A share with its 90 % interval. */
const shareOf = v => [figure(v.share, percent(100 * v.share)), " %",
  el("span", { class: "quiet" }, ` ${percent(100 * v.share_low)}–${percent(100 * v.share_high)}`)];

/** Where, what, and its rows: [cell, cell] each. */
function site(s, kind, seen, rows, hint) {
  return [el("tr", { class: "site" }, el("td", { colspan: 2, title: plain(`${s.address} ${s.text ?? ""}`) },
    el("span", { class: "mono" }, s.line ? `line ${s.line} ` : `${s.address} `), kind,
    el("span", { class: "quiet" }, ` ${seen}`))),
  rows.map(([share, value]) => el("tr", {}, el("td", { class: "r" }, share),
    el("td", { class: "mono", title: plain(value) }, plain(value)))),
  hint ? el("tr", {}, el("td", { colspan: 2, class: "hint" }, plain(hint))) : null];
}

const windowsOf = s => `${count(s.windows)} window${s.windows === 1 ? "" : "s"}`;

function listed(s, text) {
  const rows = s.values.slice(0, MOST).map(v => [shareOf(v), text(v)]);
  const more = (s.values_seen ?? s.values.length) - rows.length; // JSON has at most 100
  if (more > 0)
    rows.push(["", `and ${more} more`]);
  return rows;
}

function operandRows(o) {
  const rows = listed(o, v => String(v.value));
  if (o.kind === "loaded" && o.same)
    rows.unshift([shareOf(o.same), "as in the load before"]);
  // Classes are counts; a value that is not listed has at least one.
  const all = Object.values(o.classes).reduce((a, b) => a + b, 0);
  if (!rows.length && all)
    for (const [name, n] of Object.entries(o.classes).filter(([, n]) => n))
      rows.push([[figure(n / all, percent(100 * n / all)), " %"], CLASSES[name] ?? name]);
  return rows;
}

/** What windows saw of targets, iterations, operands and alignment; null without any. */
export function valuesPart(report) {
  if (!report)
    return null;
  const known = s => s.values.length > 0;
  const rows = [
    report.targets.filter(known).map(s => site(s, "goes to", windowsOf(s),
      listed(s, v => v.procedure ?? v.offset))),
    report.loops.filter(known).map(s => site(s, "loop runs", windowsOf(s),
      listed(s, v => `${digits(v.iterations)} iteration${v.iterations === 1 ? "" : "s"}`))),
    report.operands.map(o => [o, operandRows(o)]).filter(([, values]) => values.length)
      .map(([o, values]) => site(o, o.kind.replaceAll("_", " "), windowsOf(o), values, o.suggestion)),
    report.alignments.filter(a => a.line_splits.share > 0).map(a => site(a, `${a.bytes} bytes`, windowsOf(a),
      [[shareOf(a.line_splits), "cross a cache line"]])),
  ].flat();
  const none = report.operands.length ? null :
    el("p", { class: "quiet" }, "No values of operands: cpid --values and cpi record --values keep them.");
  return part("Values", "values", rows.length ? el("table", { "aria-label": "Values" },
    el("tbody", {}, rows)) : null, none);
}
