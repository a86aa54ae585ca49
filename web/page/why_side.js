// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * why_side.js - what stands beside the code of a procedure: its cycle stack with ranges,
 * its share over time, who called it, the paths of windows.
 */
import { el, plain, base, vars } from "./dom.js";
import { figure, digits, percent, count, estimate } from "./format.js";
import { sparkline } from "./spark.js";
import { cycleStack } from "./why_model.js";
import { procedureName } from "./view_where.js";

/** A part of what stands beside the code, with its title. */
export const part = (title, id, ...children) => el("section", { class: "part", "data-what": id },
  el("h3", {}, title), children);

/** Bars of the samples by reason; a line from the least to the most that is possible. */
export function cyclePart(summary) {
  const parts = cycleStack(summary);
  const all = summary.samples || 1;
  const at = value => `${Math.max(0, Math.min(100, 100 * value / all)).toFixed(1)}%`;
  return part("Cycle stack", "cyclestack", el("table", { class: "cycles", "aria-label": "Cycle stack" },
    el("tbody", {}, parts.map(p => el("tr", {},
      el("td", { title: plain(p.text) }, plain(p.text)),
      el("td", { class: "track" }, vars(el("span", { class: `fill t-${p.tint}` }), { "--to": at(p.samples) }),
        p.most !== undefined && p.most > p.least ? vars(el("span", { class: "range" }),
          { "--from": at(p.least), "--to": at(p.most) }) : null),
      el("td", { class: "r" }, figure(p.samples, percent(100 * p.samples / all), "samples"), " %",
        p.most > p.least ? el("span", { class: "quiet" },
          ` ${percent(100 * p.least / all)}–${percent(100 * p.most / all)}`) : null))))));
}

/** The procedure's course over the range. */
export function coursePart(row) {
  if (!row?.over_time)
    return null;
  const known = row.over_time.filter(v => v !== null);
  return part("Over time", "overtime", el("p", { class: "course" }, sparkline(row.over_time),
    el("span", { class: "quiet" }, `at most ${digits(Math.max(...known))} CPUs`)));
}

/** Who called it: rows of `callers`, from the procedure outwards. */
export function callersPart(report, open) {
  const rows = (report?.rows ?? []).slice(0, 40);
  if (!rows.length)
    return part("Called by", "stacks", el("p", { class: "quiet" },
      "No call stacks of it; cpi record -g and cpid --stacks sample them."));
  return part("Called by", "stacks", el("table", { "aria-label": "Callers" }, el("tbody", {},
    rows.map(r => el("tr", {}, el("td", { class: "r" }, figure(r.percent, percent(r.percent), "%"), " %"),
      el("td", {}, "· ".repeat(Math.min(12, Math.max(0, r.depth - 1))), r.image && r.procedure ?
        el("button", { type: "button", class: "link", title: plain(r.image),
          click: () => open(r.procedure, r.image) }, plain(r.procedure)) : plain(r.procedure)))))));
}

/** Paths that windows saw, the most frequent first. */
export function pathsPart(report) {
  const rows = (report?.paths ?? []).slice(0, 8);
  if (!rows.length)
    return null;
  return part("Paths of windows", "path", el("table", { "aria-label": "Paths" }, el("tbody", {},
    rows.map(p => el("tr", {}, el("td", { class: "r" }, figure(p.share, percent(100 * p.share)), " %",
      el("span", { class: "quiet" }, ` ${percent(100 * p.share_low)}–${percent(100 * p.share_high)}`)),
    el("td", { class: "mono" }, p.blocks.map(b => b.line ?? b.address).join(" → ")))))));
}

/** Confidence and totals in one line. */
export function headLine(state, list, calc) {
  const total = Object.entries(list.total ?? {});
  const s = calc?.summary;
  return el("p", { class: "truth" },
    el("b", { class: "mono" }, plain(procedureName(list) ?? state.proc)),
    el("span", { class: "quiet", title: plain(list.image) }, plain(base(list.image))),
    total.map(([event, n]) => el("span", { "data-what": "samples" }, figure(n, count(n), "samples"),
      ` samples of ${plain(event)}`)),
    s?.best_case_cpi ? el("span", { "data-what": "cpi" }, "CPI best ", figure(s.best_case_cpi, digits(s.best_case_cpi)),
      ", actual ", figure(s.actual_cpi, estimate(s.actual_cpi, s.actual_cpi_interval, digits, "least"))) : null,
    s ? el("span", { "data-what": "confidence" }, calc.frequency_source ?
      `executions by ${plain(calc.frequency_source).replace("_", " ")}` : "executions from samples of time") : null,
    s?.samples_needed > s?.samples ? el("span", { class: "lost" },
      `too few samples: ${count(s.samples_needed)} would do`) : null);
}
