// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * plots.js - the small pictures of a table's rows as one picture, for a file: each has its
 * row's name beside it.
 */
import { svg, plain } from "./dom.js";

const ROW = 22; // pixels
const NAME = 320; // of the names
const LETTER = 6.6;
const ROWS = 500; // at most

/**
 * @param {string} selector of the plots on the page
 * @param {string=} column of the table that has the names
 * @param {string[]=} axis texts at equal distances above the plots
 * @returns {SVGElement|null} null without a plot
 */
export function plotSheet(selector, column = "name", axis = []) {
  const plots = [...document.querySelectorAll(selector)].slice(0, ROWS);
  if (!plots.length)
    return null;
  const wide = Number(plots[0].getAttribute("width"));
  const size = { width: NAME + wide + 16, height: ROW * (plots.length + 1) + 4 };
  const rows = plots.map((plot, i) => {
    const name = plain(plot.closest("tr")?.querySelector(`[data-column=${column}]`)?.textContent ?? "");
    const copy = plot.cloneNode(true);
    copy.setAttribute("x", NAME + 8);
    copy.setAttribute("y", ROW * (i + 1) + 3);
    return [svg("text", { x: NAME, y: ROW * (i + 1) + 15, "text-anchor": "end" },
      name.length * LETTER > NAME ? `${name.slice(0, NAME / LETTER - 1)}…` : name), copy];
  });
  return svg("svg", { class: "sheet", ...size, viewBox: `0 0 ${size.width} ${size.height}` },
    svg("rect", { class: "paper", ...size }),
    axis.map((text, i) => svg("text", { x: NAME + 14 + i / (axis.length - 1) * (wide - 12), y: 15,
      "text-anchor": "middle" }, text)), rows);
}
