// Shortcuts. One table both binds the keys and fills the `?` sheet, so that no key is shown without a handler.
// Controls add to it by themselves: data-key names the key, data-says the effect. WCAG 2.1.4: single keys can be
// switched off, and mean nothing while somebody types.
"use strict";
(() => {
  const OFF = "keys-off";
  const rows = () => [...document.querySelectorAll("tbody tr[id], #timeline > li[id]")].filter((row) => row.offsetParent);
  const handle = (row) => row?.querySelector(".door, .seq, summary");
  const here = () => document.activeElement.closest("tr[id], li[id]") || document.querySelector("li:target");
  const step = (by) => { const all = rows(); handle(all[Math.min(all.length - 1, Math.max(0, all.indexOf(here()) + by))])?.focus(); };
  const peer = () => { const to = here()?.dataset.peer; if (to) { location.hash = to; handle(document.getElementById(to))?.focus(); } };
  const find = (selector) => document.querySelector(selector);

  const table = () => [
    ["?", "Show this sheet", () => { sheet(); find("#shortcuts").showModal(); }, true],
    ["/", "Search", () => find("[data-search]").focus(), find("[data-search]")],
    ["j", "Next row", () => step(1), rows().length],
    ["k", "Previous row", () => step(-1), rows().length],
    ["t", "From verdict to target and back", peer, find("[data-peer]")],
    ["c", "Copy a link to this page or row", () => navigator.clipboard?.writeText(new URL(here()?.id ? `#${here().id}` : location.hash, location.href).href), navigator.clipboard],
    [".", "Pause and go on", () => document.dispatchEvent(new Event("live:pause")), find("#live-state")],
    ...[...document.querySelectorAll("[data-goto]")].map((a) => [`g ${a.dataset.goto}`, `Go to ${a.querySelector("span").textContent}`, () => a.click(), true]),
    ...[...document.querySelectorAll("[data-key]")].filter((e) => e.dataset.key).map((e) => [e.dataset.key, e.dataset.says, () => { e.click(); if (e.matches("input, summary")) e.focus(); }, e.offsetParent && !e.matches(":disabled")]),
  ].filter(([, , , usable]) => usable);

  const sheet = () => {
    const list = find("#shortcuts dl");
    list.replaceChildren(...table().flatMap(([keys, says]) => {
      const dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.append(...keys.split(" ").flatMap((key) => { const kbd = document.createElement("kbd"); kbd.textContent = key; return [kbd, " "]; }));
      dd.textContent = says;
      return [dt, dd];
    }));
  };

  let before = "";
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");
    const modified = event.ctrlKey || event.metaKey || event.altKey;
    if (typing && !modified && event.key === "Escape") event.target.blur();
    if (event.isComposing || find("dialog[open]") || (typing && !modified) || (!modified && localStorage.getItem(OFF) && event.key !== "?")) return;
    const pressed = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + event.key;
    const found = table().find(([keys]) => keys === `${before} ${pressed}`.trim()) || (before && table().find(([keys]) => keys === pressed));
    before = !found && pressed === "g" ? "g" : "";
    if (found) { event.preventDefault(); found[2](); }
  });

  const on = find("#keys-on");
  on.checked = !localStorage.getItem(OFF);
  on.addEventListener("change", () => (on.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1")));
  find("[commandfor=shortcuts]")?.addEventListener("click", sheet);
})();
