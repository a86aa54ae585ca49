// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * truth.js - the one line that says what a selection has: time, idle, lost, unknown, and
 * how exact its shares are. A figure that the report does not have is left out.
 */
import { el, plain } from "./dom.js";
import { figure, time, count, percent } from "./format.js";
import { what } from "./explain.js";

const sum = values => values.reduce((a, b) => a + b, 0);

/** Samples of all streams of the first event that measures time, or of the first event. */
function mainEvent(report) {
  const streams = report.streams ?? [];
  const event = (streams.find(s => s.unit === "ns" || s.unit === "cycles") ?? streams[0])?.event;
  return { event, total: sum(streams.filter(s => s.event === event).map(s => s.total)) };
}

function reasons(counts) {
  return Object.entries(counts ?? {}).filter(([, n]) => n > 0)
    .map(([reason, n]) => `${reason} ${n}`).join(", ");
}

/**
 * @param {Object} report of prof
 * @returns {Element}
 */
export function truthLine(report) {
  const { event, total: machine } = mainEvent(report);
  const cpu = sum(report.rows.map(r => r.time_ns ?? 0));
  const idle = report.idle?.samples?.[event] ?? 0;
  const unknown = sum(Object.values(report.unknown ?? {}));
  // Streams count the whole machine; with a filter, rows have less.
  const samples = row => sum(Object.values(row?.samples ?? {}));
  const total = Math.min(machine, sum(report.rows.map(r => r.samples?.[event] ?? 0)) + idle + unknown);
  const all = Math.min(sum((report.streams ?? []).map(s => s.total)),
    sum(report.rows.map(samples)) + samples(report.idle) + unknown);
  const lost = sum(Object.values(report.losses ?? {}));
  const busy = Math.max(1, total - idle);
  const error = 196 * Math.sqrt(0.01 * 0.99 / busy);
  const part = (id, title, ...children) => el("span", { ...what(id), title: title || null }, children);
  return el("p", { class: "truth" },
    part("truth", null, figure(cpu, time(cpu), "ns"), " of CPU"),
    part("truth", `${idle} of ${total} samples`, figure(idle, percent(100 * idle / Math.max(1, total)),
      "samples"), " % idle"),
    el("span", { ...what("losses"), class: lost ? "lost" : null,
      title: plain(reasons(report.losses)) || null }, figure(lost, count(lost), "samples"), " lost"),
    part("unknown", plain(reasons(report.unknown)), figure(unknown,
      percent(100 * unknown / Math.max(1, all)), "samples"), " % unknown"),
    part("share", null, `±${percent(error)} points at 1 %`));
}
