// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * timedata.js - what the time line shows, from `prof --over-time`: areas, labels, gaps.
 * Values are those of the command; only the areas of several rows are their sums.
 */
import { filterOptions } from "./filters.js";

const AREAS = 6; // with names of their own, beside kernel, other, unknown and idle
const ROWS = 100; // that are asked for; the rest is one row

/** Of more epochs, those that follow each other come as one. */
export const MAX_EPOCHS = 500;

/** How many epochs an element of a report's list stands for. */
export const nrEpochs = e => e.epochs ?? 1;

const ms = text => Date.parse(text);

/** The sum of several courses; null where all are. */
function add(courses, length) {
  return Array.from({ length }, (_, i) => {
    const known = courses.map(c => c[i]).filter(v => v !== null && v !== undefined);
    return known.length ? known.reduce((a, b) => a + b, 0) : null;
  });
}

/** Times between epochs of one machine that no epoch has, of a second or more. */
export function findGaps(epochs) {
  const gaps = [];
  let end = null;
  for (const [from, to] of epochs.map(e => [ms(e.from), ms(e.to)]).sort((a, b) => a[0] - b[0])) {
    if (end !== null && from - end >= 1000)
      gaps.push({ from: end, to: from });
    end = Math.max(end ?? 0, to);
  }
  return gaps;
}

/**
 * Marks, which cpi mark makes, and starts of machines and of their collectors. One of another machine than the first epoch's has its name.
 * @returns {{at: number, name: string, kind: string}[]} in order of time
 */
export function findMarks(report) {
  const host = report.epochs[0]?.host;
  const on = (name, m) => (m.host === host ? name : `${name} on ${m.host}`);
  return [...(report.marks ?? []).map(m => ({ at: ms(m.at), kind: "mark", name: on(m.text, m) })),
    ...(report.restarts ?? []).map(m => ({ at: ms(m.at), kind: "restart", name: on("restart", m) })),
    ...(report.collector_starts ?? []).map(m => ({ at: ms(m.at), kind: "start", name: on("cpid started", m) }))]
    .sort((a, b) => a.at - b.at);
}

/**
 * @typedef {Object} TimeLine
 * @property {string} by kind of the areas
 * @property {number} from @property {number} to in ms
 * @property {{from: number, to: number, seconds: number}[]} intervals
 * @property {{name: string, kind: string, values: (number|null)[]}[]} areas bottom first;
 *   kind is row, kernel, other, unknown, lost or idle
 * @property {{name: string, from: number}[]} labels
 * @property {{from: number, to: number}[]} gaps
 * @property {{at: number, name: string, kind: "mark"|"restart"|"start"}[]} marks
 * @property {Object[]} epochs of the report @property {number} count how many they are
 */

/** Rows of one name as one: an image may have been replaced by a newer build. */
function byName(rows, by, length) {
  const lists = new Map();
  for (const row of rows) {
    const name = row[by] ?? "unknown";
    lists.set(name, [...(lists.get(name) ?? []), row]);
  }
  return [...lists].map(([name, list]) => ({ name, kernel: by === "image" && /^\[kernel/.test(name),
    time: list.reduce((a, r) => a + (r.time_ns ?? 0), 0),
    over_time: list.length > 1 ? add(list.map(r => r.over_time), length) : list[0].over_time }))
    .sort((a, b) => b.time - a.time);
}

function makeAreas(report, by, length, withIdle) {
  const named = [];
  const kernel = [];
  const rest = [];
  for (const row of byName(report.rows, by, length)) {
    if (row.kernel)
      kernel.push(row);
    else
      (named.length < AREAS ? named : rest).push(row);
  }
  const areas = named.map(row => ({ name: row.name, kind: "row",
    values: row.over_time }));
  const group = (name, kind, courses) => {
    if (courses.some(course => course?.some(v => v > 0)))
      areas.push({ name, kind, values: add(courses, length) });
  };
  group("[kernel]", "kernel", kernel.map(r => r.over_time));
  const { rows, over_time } = report.left_out;
  group(`${rest.length + rows} others`, "other", [...rest.map(r => r.over_time), ...(rows ? [over_time] : [])]);
  group("unknown", "unknown", [report.unknown_over_time ?? []]);
  group("lost", "lost", [report.lost_over_time ?? []]);
  if (withIdle)
    group("idle", "idle", [report.idle?.over_time ?? []]);
  return areas;
}

/**
 * @param {string} by kind of the rows
 * @param {boolean} withIdle also the area of idle CPUs
 * @returns {TimeLine}
 */
export function makeTimeLine(by, report, withIdle) {
  const intervals = (report.intervals ?? []).map(i => ({ from: ms(i.from), to: ms(i.to),
    seconds: i.seconds }));
  const length = intervals.length;
  const labels = [];
  for (const e of report.epochs) {
    if (e.label && labels[labels.length - 1]?.name !== e.label)
      labels.push({ name: e.label, from: ms(e.from) });
  }
  return {
    by, from: intervals[0]?.from ?? 0, to: intervals[length - 1]?.to ?? 0, intervals,
    areas: makeAreas(report, by, length, withIdle), labels, gaps: findGaps(report.epochs),
    marks: findMarks(report),
    epochs: report.epochs, count: report.epochs.reduce((n, e) => n + nrEpochs(e), 0),
  };
}

/** Reads the time line of state's range. Rejects as api.json() does. */
export async function loadTimeLine(api, state, signal) {
  const report = await api.json("prof", { epoch: state.range, by: state.line, "over-time": true,
    idle: state.idle, limit: ROWS, "max-epochs": MAX_EPOCHS, ...filterOptions(state.filters) }, signal);
  return makeTimeLine(state.line, report, state.idle);
}
