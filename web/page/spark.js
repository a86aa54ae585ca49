// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * spark.js - a row's course over the intervals, as small as a word. An interval without
 * an epoch is a gap in the line, not a zero.
 */
import { svg } from "./dom.js";

const WIDE = 96;
const HIGH = 16;

/**
 * @param {Array<number|null>} values
 * @param {number=} most the top of the picture; that of the values without it
 * @param {string=} label for those who do not see it
 */
export function sparkline(values, most = Math.max(0, ...values.filter(v => v !== null)), label = "") {
  const step = WIDE / Math.max(1, values.length);
  const bars = values.map((value, i) => {
    if (value === null || most <= 0)
      return null;
    const high = Math.max(value > 0 ? 1 : 0, value / most * HIGH);
    return high ? svg("rect", { x: (i * step).toFixed(2), y: (HIGH - high).toFixed(2),
      width: Math.max(0.8, step - 0.4).toFixed(2), height: high.toFixed(2) }) : null;
  });
  return svg("svg", { class: "spark", viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH,
    role: "img", "aria-label": label || "over time" }, bars);
}

/** A bar in a cell, as long as share (0 to 1) is of the cell. */
export function bar(share, kind = "") {
  return svg("svg", { class: `bar ${kind}`, viewBox: "0 0 100 10", width: 56, height: 10,
    preserveAspectRatio: "none", "aria-hidden": "true" },
  svg("rect", { width: (100 * Math.min(1, Math.max(0, share))).toFixed(2), height: 10 }));
}
