// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * dom.js - makes elements. Text from the data is hostile: it becomes text nodes and
 * attribute values here and nothing else. No module of the page parses markup.
 */

const SVG = "http://www.w3.org/2000/svg";

/** Attributes whose value is a script or an address that a browser would follow. */
const FORBIDDEN = /^(on|style$|srcdoc$|formaction$)/i;

/**
 * @param {Element} node
 * @param {Object<string, *>} props "class", any attribute; a function becomes a listener
 *   of the event of that name; null, undefined and false are left out
 * @param {Array<Node|string|number|null|Array>} children
 */
function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false)
      continue;
    if (typeof value === "function")
      node.addEventListener(name, value);
    else if (FORBIDDEN.test(name))
      throw new Error(`dom: ${name} is not set from data`);
    else
      node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child))
      append(node, child);
    else if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : String(child));
  }
}

/** An HTML element. */
export function el(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An SVG element. */
export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/** Replaces all children. */
export function put(node, ...children) {
  const fresh = document.createDocumentFragment();
  append(fresh, children);
  node.replaceChildren(fresh);
  return node;
}

/** Sets custom properties by CSSOM, which the content security policy allows. */
export function vars(node, values) {
  for (const [name, value] of Object.entries(values))
    node.style.setProperty(name, String(value));
  return node;
}

/** The one element with this id, which index.html has. */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node)
    throw new Error(`dom: no #${id}`);
  return node;
}

const MARKS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const LONGEST = 300;

/**
 * A name as it may stand in a line: marks that would turn or hide text are shown as
 * U+FFFD, and what is beyond 300 characters is cut.
 */
export function plain(text) {
  const clean = String(text ?? "").slice(0, LONGEST + 1).replace(MARKS, "\ufffd");
  return clean.length > LONGEST ? clean.slice(0, LONGEST) + "…" : clean;
}

/** The last part of a path; names in brackets stay. */
export function base(path) {
  const text = String(path ?? "");
  return text.startsWith("[") ? text : text.slice(text.lastIndexOf("/") + 1) || text;
}
