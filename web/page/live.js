// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * live.js - a range that ends now follows the present. Figures are asked for again every
 * few seconds while the page is seen, and replace the old ones in place.
 */
import { byId } from "./dom.js";
import { isLive } from "./state.js";

const EVERY = 5000; // ms

/**
 * @param {Object} ctx
 * @param {function(): void} follow asks again
 */
export function createLive({ store }, follow) {
  const button = byId("live");
  let open = false; // an epoch that is shown still grows

  function draw(state) {
    button.hidden = !(open && isLive(state.range));
    button.setAttribute("aria-pressed", String(!state.paused));
  }

  function toggle() {
    store.set({ paused: !store.get().paused });
  }

  button.addEventListener("click", toggle);
  store.subscribe(draw);
  setInterval(() => {
    const state = store.get();
    if (open && isLive(state.range) && !state.paused && !document.hidden &&
        !document.querySelector("[aria-busy=true], [data-busy], dialog[open]"))
      follow();
  }, EVERY);

  return {
    toggle,
    /** @param {import("./timedata.js").TimeLine} line */
    show(line) {
      open = line.epochs.some(e => e.open);
      draw(store.get());
    },
  };
}
