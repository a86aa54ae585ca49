// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * saves.js - saves what is shown: reports in the forms that the commands write, and
 * pictures as SVG or PNG, made from what is on the page.
 */
import { apiUrl } from "./api.js";
import { byId, el, put } from "./dom.js";
import { filterOptions } from "./filters.js";
import { shownEpochs } from "./state.js";

/** Rules of the style sheets that a picture needs, with today's colours in them. */
function stylesFor(node) {
  const style = getComputedStyle(document.documentElement);
  const colour = text => text.replace(/var\(--([\w-]+)\)/g, (all, name) =>
    style.getPropertyValue(`--${name}`).trim() || all);
  return [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
    .filter(rule => rule.selectorText && !rule.selectorText.includes(":") &&
      (node.matches(rule.selectorText) || node.querySelector(rule.selectorText)))
    .map(rule => colour(rule.cssText)).join("\n");
}

/** A computed colour as every reader of SVG knows it: rgb(), not color(srgb …). */
function plainColour(text) {
  const parts = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)$/.exec(text);
  return parts ? `rgb(${parts.slice(1).map(p => Math.round(255 * p)).join(", ")})` : text;
}

/** A picture as a file of its own. */
export function svgText(picture) {
  const copy = picture.cloneNode(true);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = stylesFor(picture);
  copy.prepend(style);
  const drawn = [...picture.querySelectorAll("[style]")];
  copy.querySelectorAll("[style]").forEach((part, i) => {
    part.removeAttribute("style");
    part.style.fill = plainColour(getComputedStyle(drawn[i]).fill);
  });
  return new XMLSerializer().serializeToString(copy);
}

function give(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function pngOf(picture) {
  if (picture instanceof HTMLImageElement) {
    const canvas = el("canvas", { width: picture.naturalWidth, height: picture.naturalHeight });
    canvas.getContext("2d").drawImage(picture, 0, 0);
    canvas.toBlob(blob => give("cpi.png", blob), "image/png");
    return;
  }
  if (picture instanceof HTMLCanvasElement) {
    picture.toBlob(blob => give("cpi.png", blob), "image/png");
    return;
  }
  const image = new Image();
  image.addEventListener("load", () => {
    const size = name => 2 * (Number(picture.getAttribute(name)) || picture.getBoundingClientRect()[name]);
    const canvas = el("canvas", { width: size("width"), height: size("height") });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => give("cpi.png", blob), "image/png");
  });
  image.src = "data:image/svg+xml," + encodeURIComponent(svgText(picture));
}

const NAMES = { text: "txt", prometheus: "prom", pprof: "pb.gz", collapsed: "txt", speedscope: "json", firefox: "json", csv: "csv",
  svg: "svg", json: "json" };

/** Opens the list of forms. @param {Object} view that is shown */
export function showSaves(ctx, view) {
  const state = ctx.store.get();
  const chosen = { epoch: shownEpochs(state), ...filterOptions(state.filters) };
  const reports = [
    ...(view.saves?.(state) ?? []),
    ...["pprof", "collapsed", "speedscope", "firefox"].map(format => ({ name: `${format} (samples)`,
      report: "export", options: { ...chosen, format } })),
    ...["pprof", "collapsed", "speedscope"].map(format => ({ name: `${format} (call stacks)`, report: "export",
      options: { ...chosen, format, stacks: true } })),
  ];
  const item = r => el("li", {}, el("a", { href: apiUrl(r.report, r.options),
    download: `cpi-${r.report}.${NAMES[r.options.format ?? "json"]}` }, r.name));
  const picture = document.querySelector("#main canvas, #main svg.picture, #main img.graph");
  const drawn = (name, node) => [
    node instanceof SVGElement ? el("li", {}, el("button", { type: "button", click: () =>
      give("cpi.svg", new Blob([svgText(node)], { type: "image/svg+xml" })) }, `SVG of the ${name}`)) : null,
    el("li", {}, el("button", { type: "button", click: () => pngOf(node) }, `PNG of the ${name}`))];
  const sheet = view.sheet?.();
  put(byId("save-list"), reports.map(item), picture ? drawn("picture", picture) : null,
    sheet ? drawn("plots", sheet) : null,
    ctx.time.svg() ? drawn(state.heat ? "heat map" : "time line", ctx.time.svg()) : null);
  byId("save").showModal();
}
