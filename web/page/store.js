// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * store.js - the one mutable state of the page. It holds what the reader chose and
 * nothing that the server said; what it holds is frozen, so a view cannot change it by
 * accident.
 */

/**
 * @template T
 * @param {T} initial
 * @returns {{get: function(): T, set: function(Partial<T>): void,
 *   subscribe: function(function(T, T): void): function(): void}}
 *   set() calls the subscribers, in the order of their subscription, with the new and the
 *   former state, unless nothing differs. A set() within a subscriber runs after all have
 *   seen the present one.
 */
export function createStore(initial) {
  let state = Object.freeze({ ...initial });
  const subscribers = new Set();
  const waiting = [];
  let running = false;

  function same(change) {
    return Object.entries(change).every(
      ([name, value]) => JSON.stringify(state[name]) === JSON.stringify(value));
  }

  function run() {
    running = true;
    while (waiting.length) {
      const change = waiting.shift();
      if (same(change))
        continue;
      const former = state;
      state = Object.freeze({ ...state, ...change });
      for (const call of subscribers)
        call(state, former);
    }
    running = false;
  }

  return {
    get: () => state,
    set(change) {
      waiting.push(change);
      if (!running)
        run();
    },
    subscribe(call) {
      subscribers.add(call);
      return () => subscribers.delete(call);
    },
  };
}
