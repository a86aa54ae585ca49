// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * hues.js - one colour for one image in all pictures, as long as the page is open. The
 * first seven that are asked for, the busiest of the time line, have the hues of Okabe and
 * Ito; later ones are grey. Kernel, idle and unknown have shades of their own.
 */

const HUES = ["i0", "i1", "i2", "i5", "i6", "i4", "i3"];

/** The shade of what is no ordinary image; null for one that is. */
function special(name) {
  if (/^\[(kernel|guest)/.test(name) || /\.ko(\.[xg]z|\.zst)?$/.test(name))
    return "kernel";
  if (name === "[idle]")
    return "idle";
  if (name === "unknown" || /^\[(unknown|no_|map_gap|ambiguous|unreadable|limit)/.test(name))
    return "unknown";
  return null;
}

/** @returns {{of: function(string): string, known: function(string): string}} */
export function createHues() {
  const given = new Map();
  const fixedOf = new Map(); // name → its special shade, or null; a name is asked for often

  function fixed(name) {
    if (!fixedOf.has(name))
      fixedOf.set(name, special(name));
    return fixedOf.get(name);
  }

  return {
    /** A custom property's name, without the dashes. */
    of(name) {
      const shade = fixed(name ?? "unknown");
      if (shade)
        return shade;
      if (!given.has(name) && given.size < HUES.length)
        given.set(name, HUES[given.size]);
      return given.get(name) ?? "other";
    },
    /** The colour that it has already, without giving one. */
    known: name => fixed(name ?? "unknown") ?? given.get(name) ?? "other",
  };
}

/** Colours as the style sheet has them now, for canvases: name → "#rrggbb". */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const colours = {};
  for (const name of [...HUES, "kernel", "other", "idle", "unknown", "lost", "less", "more",
    "none", "paper", "ink", "quiet", "line", "focus", "wash", "picked"])
    colours[name] = style.getPropertyValue(`--${name}`).trim();
  return colours;
}

/** Black or white, whichever can be read on a colour "#rrggbb". */
export function inkOn(colour) {
  const part = i => {
    const c = parseInt(colour.length === 4 ? colour[i + 1].repeat(2) :
      colour.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(0) + 0.7152 * part(1) + 0.0722 * part(2) > 0.2 ? "#000" : "#fff";
}
