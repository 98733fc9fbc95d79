// What a live page owes its reader: is it connected, how old is what it shows, and nothing moves under a hand.
// The socket, the cursor and the swaps are htmx's. A message refused here is harmless: the page's cursor did not
// move, and the next `catchup` asks for everything after it.
"use strict";
(() => {
  const FLOOR_MS = 30_000; // a bell may be lost: ask at least this often
  const WORDS = { live: "Live", lost: "Reconnecting", paused: "Paused", closed: "Not live" };
  const RETRIED = [1006, 1011, 1012, 1013]; // the close codes after which hx-ws comes back by itself
  const state = document.getElementById("live-state"), age = document.getElementById("live-age");
  const live = document.getElementById("live"), catchup = document.getElementById("catchup");
  let connection = "connecting", paused = false, missed = false, trail = [];
  let updated = Date.now(), asked = updated, moved = 0;

  const show = () => {
    const now = connection === "live" && paused ? "paused" : connection;
    state.dataset.state = now;
    if (WORDS[now]) state.firstElementChild.textContent = WORDS[now];
    age.textContent = `updated ${Math.round((Date.now() - updated) / 1000)} s ago`;
  };
  const ask = () => {
    asked = Date.now();
    if (connection === "live" && !paused) catchup.dispatchEvent(new Event("catchup"));
  };
  // A list redrawn under a moving hand is a list misclicked: its news waits until the hand rests.
  const hand = () => Date.now() - moved < 1500 && document.querySelector("[data-still]:hover") !== null;
  document.addEventListener("pointermove", () => { moved = Date.now(); }, { passive: true });

  // Focus outlives a swap: on the same control, or else on the nearest thing around it that is still there.
  const remember = () => {
    trail = [];
    for (let each = document.activeElement; each && each !== document.body; each = each.parentElement) if (each.id) trail.push(each.id);
  };
  const refocus = () => {
    if (document.activeElement !== document.body) return;
    for (const around of trail.map((id) => document.getElementById(id))) {
      if (around?.tabIndex < 0) around.tabIndex = -1;
      around?.focus({ preventScroll: true });
      if (document.activeElement !== document.body) return;
    }
  };

  live.addEventListener("htmx:wsOpen", () => { connection = "live"; show(); });
  live.addEventListener("htmx:wsClose", (event) => {
    connection = RETRIED.includes(event.detail.event.code) ? "lost" : "closed";
    show();
  });
  live.addEventListener("htmx:wsBeforeMessage", (event) => {
    missed = hand();
    remember();
    if (paused || missed) event.preventDefault();
  });
  live.addEventListener("htmx:wsAfterMessage", () => {
    updated = Date.now();
    refocus();
    show();
  });
  live.addEventListener("htmx:beforeSwap", remember);
  live.addEventListener("htmx:afterSettle", refocus);

  document.addEventListener("live:pause", () => { paused = !paused; show(); ask(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  setInterval(() => {
    show();
    if (document.hidden || hand()) return;
    if (missed || Date.now() - Math.max(updated, asked) > FLOOR_MS) { missed = false; ask(); }
  }, 1000);
})();
