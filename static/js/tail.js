// The end of a growing timeline: followed only by a reader who is there. For others a pill counts what came, and
// screen readers hear of it at most once in five seconds.
"use strict";
(() => {
  const live = document.getElementById("live"), pill = document.getElementById("to-tail");
  const announce = document.getElementById("announce");
  let follows = false, unseen = 0, spoken = 0;

  const atTail = () => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 48;
  const seen = () => { unseen = 0; pill.hidden = true; };
  const toTail = () => { window.scrollTo({ top: document.documentElement.scrollHeight }); seen(); };

  live.addEventListener("htmx:wsBeforeMessage", () => { follows = atTail(); });
  live.addEventListener("htmx:wsAfterMessage", () => {
    const fresh = [...document.querySelectorAll(".is-new")];
    if (!fresh.length) return;
    for (const row of fresh) row.classList.remove("is-new");
    unseen += fresh.length;
    pill.hidden = false;
    pill.textContent = `${unseen} new ↓`;
    if (follows) toTail();
    if (Date.now() - spoken < 5000) return;
    spoken = Date.now();
    const bad = fresh.filter((row) => row.dataset.tone === "bad").length;
    announce.textContent = `${fresh.length} new events${bad ? `, ${bad} failed` : ""}`;
  });

  pill.addEventListener("click", toTail);
  window.addEventListener("scroll", () => { if (unseen && atTail()) seen(); }, { passive: true });
})();
