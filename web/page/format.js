// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * format.js - figures for people. At most three significant digits; the exact value goes
 * beside it, into data-value and title, as the server gave it.
 */
import { el } from "./dom.js";

/** At most three significant digits, without an exponent below 1e6. */
export function digits(value) {
  if (value === null || value === undefined || Number.isNaN(value))
    return "";
  const size = Math.abs(value);
  if (size === 0)
    return "0";
  if (size >= 1e6 || size < 0.001)
    return value.toExponential(1).replace("e+", "e");
  if (size >= 999.5)
    return String(Number(value.toPrecision(3)));
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

/** A share: one decimal below 99.95, so that a column lines up. */
export function percent(value) {
  if (value === null || value === undefined)
    return "";
  if (value > 0 && value < 0.05)
    return "<0.1";
  return value.toFixed(1);
}

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const COUNTS = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];

function scale(units, value) {
  return units.find(([size]) => Math.abs(value) >= size) ?? units[units.length - 1];
}

/** The unit of a column of times whose greatest is ns: [factor, name]. */
export function timeUnit(ns) {
  return scale(TIMES, ns);
}

/** A number in a unit that it fits: 107 s, 12.5 MiB, 3.1 M. */
function scaled(units, value) {
  if (value === null || value === undefined)
    return "";
  const [size, name] = scale(units, value);
  return `${digits(value / size)}${name ? " " + name : ""}`;
}

export const time = ns => scaled(TIMES, ns);
export const bytes = n => scaled(BYTES, n);
export const count = n => scaled(COUNTS, n);

const KNOWN = 3; // how far an interval may reach to either side of a known number

/**
 * An estimate as the commands say it: its 90 % interval if that reaches at most three
 * times as far to either side, else a bound, or unknown.
 * @param {?number} value what is shown if the report has no interval
 * @param {{low: ?number, likely: ?number, high: ?number}|undefined} range
 * @param {function(number): string} show
 * @param {"least"|"most"} bound which end says something
 */
export function estimate(value, range, show, bound) {
  if (!range)
    return value === null || value === undefined ? "" : show(value);
  const { low, likely, high } = range;
  if (low !== null && high !== null && likely !== null && high <= KNOWN * likely && likely <= KNOWN * low) {
    const [from, to] = [show(low), show(high)];
    return from === to ? from : `${from}–${to}`;
  }
  const end = bound === "least" ? low : high;
  return end === null || end === undefined ? "unknown" : `${bound === "least" ? "≥" : "≤"} ${show(end)}`;
}

/** The interval whose ends are members of their own: NAME_low and NAME_high. */
export const rangeOf = (row, name) => (`${name}_low` in row ? { low: row[`${name}_low`], likely:
  row[name], high: row[`${name}_high`] } : undefined);

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const two = n => String(n).padStart(2, "0");

/** "14:02", with seconds where they say something, and the day if asked. UTC. */
export function clock(when, { day = false, seconds = false } = {}) {
  const d = new Date(when);
  const hours = `${two(d.getUTCHours())}:${two(d.getUTCMinutes())}` +
    (seconds ? `:${two(d.getUTCSeconds())}` : "");
  return day ? `${d.getUTCDate()} ${MONTHS[d.getUTCMonth()]} ${hours}` : hours;
}

/** "22 Nov 14:02–14:17 UTC". */
export function span(from, to) {
  const seconds = to - from < 300000;
  const day = when => new Date(when).toISOString().slice(0, 10); // of UTC, as all that is shown
  const sameDay = day(from) === day(to);
  const year = new Date(from).getUTCFullYear() !== new Date(to).getUTCFullYear();
  const of = when => `${clock(when, { day: true, seconds })}${year ?
    ` ${new Date(when).getUTCFullYear()}` : ""}`;
  return `${of(from)}–${sameDay ? clock(to, { seconds }) : of(to)} UTC`;
}

/** 26 s, 15 min, 3.2 h, 12 d. */
export function duration(ms) {
  const digits = value => String(Number(value.toPrecision(3)));
  const s = ms / 1000;
  if (s < 120)
    return `${digits(s)} s`;
  if (s < 3600)
    return `${digits(s / 60)} min`;
  return s < 172800 ? `${digits(s / 3600)} h` : `${digits(s / 86400)} d`;
}

/** A time as --epoch takes it. */
export function spec(ms) {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "");
}

/**
 * A figure: what people read, and the exact value for tests, titles and copies.
 * @param {*} value as the server gave it
 * @param {string} shown
 * @param {string=} unit of the exact value
 */
export function figure(value, shown, unit = "") {
  const known = value !== null && value !== undefined;
  return el("span", {
    class: "n",
    "data-value": known ? value : "",
    title: known ? `${value}${unit ? " " + unit : ""}` : "not known",
  }, shown);
}
