// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * flame_tree.js - from the rows of tree, callers or callees to boxes: nodes with a place.
 * Pure functions; the drawing is flame_canvas.js's.
 */

/**
 * @typedef {Object} Box
 * @property {string} procedure @property {string|null} image @property {string} kind
 * @property {number} samples @property {number} self
 * @property {number[]|undefined} sides samples of A and B where two are compared
 * @property {Object|null} row as the server gave it; null where several were merged
 * @property {number} rows how many were
 * @property {Object|undefined} judged the row of a comparison
 * @property {Box|null} parent @property {Box[]} children
 * @property {number} x0 @property {number} x1 part of the root's width
 * @property {number} depth
 * @property {number} number in the order of a search @property {string} text that it searches
 * @property {string|null} shown its name as it is drawn, once it was
 */

const FEW = 8; // children that are looked through one by one

function makeBox(parent, row) {
  return { procedure: row.procedure ?? "[unknown]", image: row.image ?? null,
    kind: row.kind ?? "unknown", samples: 0, self: 0, sides: [0, 0], row: null, rows: 0, judged: undefined,
    parent, children: [], named: null, x0: 0, x1: 0, depth: 0, time: 0, number: 0, text: "", shown: null };
}

const isOf = (box, row) => box.procedure === (row.procedure ?? "[unknown]") &&
  box.image === (row.image ?? null) && (box.kind === "command") === (row.kind === "command");

const keyOf = row => `${row.procedure ?? "[unknown]"}\u0000${row.image ?? ""}\u0000${row.kind === "command"}`;

/** The child of that name; made where it is not there. */
function childOf(parent, row) {
  if (!parent.named && parent.children.length > FEW)
    parent.named = new Map(parent.children.map(c => [keyOf(c), c]));
  let child = parent.named ? parent.named.get(keyOf(row)) : parent.children.find(c => isOf(c, row));
  if (!child) {
    child = makeBox(parent, row);
    parent.named?.set(keyOf(row), child);
    parent.children.push(child);
  }
  return child;
}

function addRow(box, row, side) {
  box.row = box.rows++ ? null : row;
  if ("shade" in row)
    box.judged = row;
  box.samples += row.samples;
  box.self += row.self_samples ?? 0;
  box.time += row.time_ns ?? 0;
  box.sides[side] += row.samples;
}

const NO_CALLS = ["command", "pruned", "unknown"]; // kinds of boxes that are no procedures

/** The box of a row's procedure that is already on the stack of box; null without one. */
function sameAbove(box, row) {
  if (NO_CALLS.includes(row.kind))
    return null;
  while (box.parent && !isOf(box, row))
    box = box.parent;
  return box.parent ? box : null;
}

/**
 * Makes a recursive call part of an outer call, box. What it calls goes there, so the boxes
 * between the two no longer contain it.
 */
function fold(at, box, row, side) {
  for (; at !== box; at = at.parent) {
    at.row = null;
    at.samples -= row.samples;
    at.time -= row.time_ns ?? 0;
    at.sides[side] -= row.samples;
  }
  box.row = null;
  box.self += row.self_samples ?? 0;
}

/**
 * @param {Object[][]} sides rows of one report, or of A and B
 * @param {function(Object): boolean} isHidden frames whose callees stand in their place
 * @param {(function(Object): boolean)|null} starts only what such a procedure calls, from
 *   its outermost frame
 * @param {boolean} folded each procedure has one box on a stack, however often it is there
 * @returns {Box} the root, "all"
 */
export function buildTree(sides, isHidden = () => false, starts = null, folded = false) {
  const root = makeBox(null, { procedure: "all", image: null, kind: "all" });
  sides.forEach((rows, side) => {
    const boxes = new Map(); // id → box that its children go to, or null: not shown
    for (const row of rows) {
      const known = row.parent !== null && boxes.has(row.parent);
      const above = known ? boxes.get(row.parent) : starts ? null : root;
      const at = above === null && starts(row) ? root : above;
      if (at === null || isHidden(row)) {
        boxes.set(row.id, at);
        continue;
      }
      const outer = folded ? sameAbove(at, row) : null;
      if (outer) {
        fold(at, outer, row, side);
        boxes.set(row.id, outer);
        continue;
      }
      const box = childOf(at, row);
      addRow(box, row, side);
      boxes.set(row.id, box);
    }
  });
  if (folded)
    dropEmpty(root);
  finish(root);
  return root;
}

/** Removes boxes all of whose time went to an outer call. */
function dropEmpty(root) {
  const stack = [root];
  while (stack.length) {
    const box = stack.pop();
    box.children = box.children.filter(c => c.samples > 0);
    stack.push(...box.children);
  }
}

/** Sums of the root, order and place of all boxes, and their depth. */
function finish(root) {
  root.samples = root.children.reduce((a, c) => a + c.samples, 0);
  root.time = root.children.reduce((a, c) => a + c.time, 0);
  root.sides = [0, 1].map(i => root.children.reduce((a, c) => a + c.sides[i], 0));
  place(root);
}

/** What a box is wide by: its samples, or the mean of its shares of both sides. */
export function weight(root, box) {
  const [a, b] = root.sides;
  return a && b ? (box.sides[0] / a + box.sides[1] / b) / 2 : box.samples / (root.samples || 1);
}

/** Widest first; what is too narrow to be shown alone comes last. */
const byWidth = (p, q) => (p.kind === "pruned") - (q.kind === "pruned") || q.x1 - p.x1 ||
  (p.procedure < q.procedure ? -1 : 1);

/** Gives each box its place: the greatest child stands at the left. */
function place(root) {
  root.x0 = 0;
  root.x1 = 1;
  const stack = [root];
  while (stack.length) {
    const box = stack.pop();
    let x = box.x0;
    box.named = null;
    for (const child of box.children)
      child.x1 = weight(root, child); // its width, until it has its place
    if (box.children.length > 1)
      box.children.sort(byWidth);
    for (const child of box.children) {
      child.depth = box.depth + 1;
      child.x0 = x;
      child.x1 += x;
      x = child.x1;
      stack.push(child);
    }
  }
}

/** Boxes by depth, each row from left to right. */
export function levelsOf(root) {
  const levels = [];
  let row = [root];
  while (row.length) {
    levels.push(row);
    row = row.flatMap(box => box.children);
  }
  return levels;
}

/** All boxes but the root, a box before those below it, the left before the right. */
export function boxesOf(root) {
  const boxes = [];
  const stack = [root];
  while (stack.length) {
    const box = stack.pop();
    box.number = boxes.length;
    boxes.push(box);
    for (let i = box.children.length - 1; i >= 0; i--)
      stack.push(box.children[i]);
  }
  for (const box of boxes)
    box.text = `${box.procedure} ${box.image ?? ""}`;
  return boxes.slice(1);
}

/** A pattern without case that stands for itself. */
const LITERAL = /^[\w :<>,@&~#;='"-]+$/;

/** Capital letters of ASCII as small ones; every letter keeps its place. */
const small = text => text.replace(/[A-Z]+/g, letters => letters.toLowerCase());

/** Marks the texts that contain a word. joined: all texts, one a line; starts: where each begins. */
function markWord(word, joined, starts, matches) {
  let i = 0;
  for (let at = joined.indexOf(word); at >= 0; at = joined.indexOf(word, starts[i + 1])) {
    while (starts[i + 1] <= at)
      i++;
    matches[i] = 1;
    if (i + 2 >= starts.length)
      break;
  }
}

/**
 * A function that searches the boxes below root. A plain word is searched in all texts at
 * once, since calling a regular expression for each box takes longer than a frame.
 * @returns {function(RegExp): {found: {has: function(Box): boolean}, list: Box[], share: number}}
 *   list has the outermost ones, so that a recursion counts once in share
 */
export function createSearch(root) {
  const boxes = boxesOf(root); // in the order of their numbers, from 1 on
  const starts = new Uint32Array(boxes.length + 1);
  const parents = new Uint32Array(boxes.length); // numbers
  const widths = new Float64Array(boxes.length);
  boxes.forEach((box, i) => {
    starts[i + 1] = starts[i] + box.text.length + 1;
    parents[i] = box.parent.number;
    widths[i] = box.x1 - box.x0;
  });
  let joined = null;

  function mark(pattern) {
    const matches = new Uint8Array(boxes.length);
    if (pattern.flags === "i" && LITERAL.test(pattern.source)) {
      joined ??= small(boxes.map(box => `${box.text}\n`).join(""));
      markWord(small(pattern.source), joined, starts, matches);
    } else {
      boxes.forEach((box, i) => {
        matches[i] = pattern.test(box.text) ? 1 : 0;
      });
    }
    return matches;
  }

  return pattern => {
    const matches = mark(pattern);
    const inside = new Uint8Array(boxes.length + 1); // by number: it or one above it matches
    const list = [];
    let share = 0;
    for (let i = 0; i < boxes.length; i++) {
      const below = inside[parents[i]];
      inside[i + 1] = below | matches[i];
      if (matches[i] && !below) {
        list.push(boxes[i]);
        share += widths[i];
      }
    }
    return { found: { has: box => matches[box.number - 1] === 1 }, list, share };
  };
}

/** The names from the root to a box, for the address. */
export function pathOf(box) {
  const names = [];
  for (let at = box; at.parent; at = at.parent)
    names.unshift(at.procedure.replaceAll("%", "%25").replaceAll(";", "%3b"));
  return names.join(";");
}

/** The box of such a path, or the deepest on it that is there. */
export function boxAt(root, path) {
  let box = root;
  for (const name of path ? path.split(";") : []) {
    const plain = name.replaceAll("%3b", ";").replaceAll("%25", "%");
    const child = box.children.find(c => c.procedure === plain);
    if (!child)
      break;
    box = child;
  }
  return box;
}
