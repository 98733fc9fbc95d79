// A claim in the hands of somebody who works: renewed at half its time while there are signs of life, announced
// before it ends, and frozen when it is lost. What was typed is kept by the server, whoever holds the claim.
"use strict";
(() => {
  const warning = document.getElementById("claim-warning");
  const half = Number(warning.dataset.half) * 1000, warn = Number(warning.dataset.warn) * 1000;
  let alive = Date.now(), beaten = Date.now();
  let mine = document.getElementById("claim").hasAttribute("data-mine");

  for (const sign of ["pointerdown", "keydown", "input", "wheel", "touchstart"]) {
    document.addEventListener(sign, () => { alive = Date.now(); }, { passive: true });
  }

  const left = () => {
    const until = document.querySelector("#claim[data-mine] time");
    return until ? new Date(until.dateTime) - window.serverNow() : Infinity;
  };
  const beat = () => {
    beaten = Date.now();
    document.getElementById("extend")?.click();
  };
  const say = (words) => { if (warning.textContent !== words) warning.textContent = words; };
  const freeze = () => {
    const claim = document.getElementById("claim"), holds = claim.hasAttribute("data-mine") && left() > 0;
    if (mine && !holds) {
      if (claim.hasAttribute("data-mine")) document.getElementById("catchup").dispatchEvent(new Event("catchup"));
      const form = document.getElementById("decide"), fields = form?.querySelector("fieldset");
      const was = fields?.contains(document.activeElement);
      if (form) window.htmx.ajax("POST", form.getAttribute("hx-post"), { source: form, swap: "none" }); // the last words too
      fields?.setAttribute("disabled", "");
      if (was) document.getElementById("decision").focus(); // what is disabled has no focus
      say("You do not hold this any more. What you wrote is kept.");
    }
    mine = holds;
  };

  setInterval(() => {
    freeze();
    if (!mine) return;
    if (alive > beaten && Date.now() - beaten > half) beat();
    say(left() < warn ? "Your claim ends in less than a minute. Extend it to keep it." : "");
  }, 1000);
  document.addEventListener("htmx:wsAfterMessage", freeze);
  document.addEventListener("htmx:afterSwap", () => { beaten = Date.now(); });

  // An undo that is over is not offered.
  setInterval(() => {
    for (const undo of document.querySelectorAll(".undo")) if (new Date(undo.dataset.until) < window.serverNow()) undo.remove();
  }, 250);

  // What is pressed twice is sent once.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    setTimeout(() => { delete form.dataset.sent; }, 5000); // the network may have lost it
  });
})();
