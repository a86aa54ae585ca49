// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * forest.js - a change with its interval on a line where halving and doubling are equally
 * far from 0. Filled: significant; hollow: not; dotted: too few samples to test.
 */
import { el, svg } from "./dom.js";
import { percent } from "./format.js";

const WIDE = 224;
const REACH = 2; // powers of two on each side

const x = change => WIDE / 2 + Math.max(-REACH, Math.min(REACH,
  Math.log2(Math.max(2 ** -REACH, 1 + change / 100)))) / REACH * (WIDE / 2 - 6);

const CAUSES = { slower: "became slower", faster: "became faster", "more often": "ran more often",
  "less often": "ran less often" };

/** Whether B has more of it than A, relative to the other rows as the command has it. */
export const grew = row => (row.change_percent ?? row.delta_per_second ?? 0) > 0;

/**
 * What is said of a row: {kind, text, order}.
 * kind is found (significant), not, or few (it could not be tested).
 */
export function judge(row) {
  if (row.found && (row.status === "new" || row.status === "gone"))
    return { kind: "found", text: `significant: ${row.status}`, order: 0 };
  if (row.found)
    return { kind: "found", order: 0, text: `significant: ${CAUSES[row.verdict] ??
      (grew(row) ? "more time" : "less time")}` };
  return row.p === null ? { kind: "few", text: "too few samples", order: 2 } :
    { kind: "not", text: "not significant", order: 1 };
}

/** The titles of the line: ÷4, ÷2, 0, ×2, ×4. */
export function forestAxis() {
  return el("span", { class: "forest-axis", "aria-label": "change with its 95 % interval" },
    ["÷4", "÷2", "0", "×2", "×4"].map(text => el("span", {}, text)));
}

/** @param {Object} row of diff */
export function forestPlot(row) {
  const { kind } = judge(row);
  const { change_percent: change, low_percent: low, high_percent: high } = row;
  const known = low !== null && high !== null;
  return svg("svg", { class: `forest f-${kind} ${grew(row) ? "grew" : "shrank"}`, width: WIDE, height: 16, role: "img",
    "data-value": JSON.stringify([change, low, high]),
    "aria-label": known ? `${percent(low)} to ${percent(high)} %` : "no interval" },
  [-2, -1, 1, 2].map(p => svg("line", { class: "grid", x1: x(100 * (2 ** p - 1)), x2: x(100 * (2 ** p - 1)),
    y1: 0, y2: 16 })),
  svg("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: 16 }),
  known ? svg("line", { class: "reach", x1: x(low), x2: Math.max(x(high), x(low) + 1), y1: 8, y2: 8 },
    svg("title", {}, `${low} to ${high} %`)) : null,
  change !== null ? svg("circle", { cx: x(change), cy: 8, r: 4 }) : null);
}
