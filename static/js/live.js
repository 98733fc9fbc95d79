// What a live page owes its reader: is it connected, how old is what it shows, and no jump while reading.
// The socket, the cursor and the swaps are htmx's; a message dropped here is harmless, because the page's cursor did
// not move and the next `catchup` asks for everything after it.
"use strict";
(() => {
  const FLOOR_MS = 30_000; // a bell may be lost: ask at least this often
  const state = document.getElementById("live-state"), age = document.getElementById("live-age");
  const live = document.getElementById("live"), catchup = document.getElementById("catchup");
  const timeline = document.getElementById("timeline"), pill = document.getElementById("to-tail");
  const announce = document.getElementById("announce");
  const WORDS = { live: "Live", lost: "Reconnecting", paused: "Paused", closed: "Not live" };
  const RETRIED = [1006, 1011, 1012, 1013]; // the codes on which hx-ws comes back by itself
  let connection = "connecting", paused = false, updated = Date.now(), asked = Date.now();
  let follows = false, unseen = 0, spoken = 0, focus = "", moved = 0, missed = false;

  const show = () => {
    const now = connection === "live" && paused ? "paused" : connection;
    state.dataset.state = now;
    if (WORDS[now]) state.firstElementChild.textContent = WORDS[now];
    age.textContent = `updated ${Math.round((Date.now() - updated) / 1000)} s ago`;
  };
  const ask = () => { asked = Date.now(); if (connection === "live" && !paused) catchup.dispatchEvent(new Event("catchup")); };
  const atTail = () => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 48;
  const toTail = () => { window.scrollTo({ top: document.documentElement.scrollHeight }); unseen = 0; pill.hidden = true; };

  live.addEventListener("htmx:wsOpen", () => { connection = "live"; show(); });
  live.addEventListener("htmx:wsClose", (event) => { connection = RETRIED.includes(event.detail.event.code) ? "lost" : "closed"; show(); });

  // A list redrawn under a moving hand is a list misclicked: hold such news until the hand rests.
  document.addEventListener("pointermove", () => { moved = Date.now(); }, { passive: true });
  const hand = () => Date.now() - moved < 1500 && document.querySelector("[data-still]:hover");

  live.addEventListener("htmx:wsBeforeMessage", (event) => {
    if (paused || (missed = Boolean(hand()))) return event.preventDefault();
    follows = timeline && atTail();
    focus = document.activeElement.id;
    return undefined;
  });

  live.addEventListener("htmx:wsAfterMessage", () => {
    updated = Date.now();
    if (focus && document.activeElement === document.body) document.getElementById(focus)?.focus({ preventScroll: true });
    const fresh = document.querySelectorAll(".is-new");
    for (const row of fresh) row.classList.remove("is-new");
    if (fresh.length) arrived(fresh);
    show();
  });

  const arrived = (fresh) => {
    unseen += fresh.length;
    if (follows) toTail();
    else if (pill) { pill.hidden = false; pill.textContent = `${unseen} new ↓`; }
    if (Date.now() - spoken < 5000) return; // at most one announcement in five seconds
    spoken = Date.now();
    const bad = [...fresh].filter((row) => row.dataset.tone === "bad").length;
    announce.textContent = `${fresh.length} new events${bad ? `, ${bad} failed` : ""}`;
  };

  pill?.addEventListener("click", toTail);
  window.addEventListener("scroll", () => { if (unseen && atTail()) { unseen = 0; pill.hidden = true; } }, { passive: true });
  document.addEventListener("live:pause", () => { paused = !paused; show(); ask(); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  setInterval(() => {
    show();
    if (document.hidden || hand()) return;
    if (missed || Date.now() - Math.max(updated, asked) > FLOOR_MS) { missed = false; ask(); }
  }, 1000);
})();
