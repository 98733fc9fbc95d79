// Times. The server writes UTC text; this says it the way the reader chose: relative, local or UTC. What is counted is
// counted by the server's clock: a claim ends when the server says so, whatever this machine thinks the time is.
// One timer for the whole page, because a page may hold hundreds of times and must stay cool.
"use strict";
(() => {
  const KEY = "times";
  const choice = () => localStorage.getItem(KEY) || "relative";
  const zoned = (options) => new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options, timeZone: choice() === "utc" ? "UTC" : undefined });
  let full, short, clock, zone;
  const ahead = Number(document.querySelector("meta[name=server-time]").content) * 1000 - Date.now();
  window.serverNow = () => Date.now() + ahead;

  const choose = (value) => {
    if (value) localStorage.setItem(KEY, value);
    full = zoned({ dateStyle: "medium", timeStyle: "medium" });
    short = zoned({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
    clock = zoned({ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
    zone = choice() === "utc" ? "UTC" : zoned({ timeZoneName: "short" }).formatToParts(0).find((p) => p.type === "timeZoneName").value;
    for (const button of document.querySelectorAll("[data-zone]")) button.setAttribute("aria-pressed", button.dataset.zone === choice());
    for (const name of document.querySelectorAll("[data-zone-name]")) name.textContent = zone;
    tick();
  };

  const span = (ms) => {
    const s = Math.max(0, Math.floor(ms / 1000)), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);
    const two = (n) => String(n).padStart(2, "0");
    if (d) return `${d} d ${two(h % 24)} h`;
    if (h) return `${h} h ${two(m % 60)} m`;
    return m ? `${m} m ${two(s % 60)} s` : `${s} s`;
  };
  const ago = (ms) => (ms < 1000 ? "now" : `${span(ms).replace(/(\d+ [dhm]) .*/, "$1")} ago`);

  const say = (time, now) => {
    const at = new Date(time.dateTime), left = at - now;
    switch (time.dataset.when) {
      case "elapsed": return span(-left);
      case "countdown":
        time.toggleAttribute("data-soon", left < 60_000);
        return left < 0 ? `${span(-left)} ago` : span(left);
      case "clock": return clock.format(at);
      case "full": return `${full.format(at)} ${zone}`;
      default: return choice() === "relative" ? ago(-left) : `${short.format(at)} ${zone}`;
    }
  };

  const tick = () => {
    const now = window.serverNow();
    for (const time of document.querySelectorAll("time[data-when]")) {
      const words = say(time, now);
      if (time.textContent !== words) time.textContent = words; // only a change may redraw
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zone]");
    if (button) choose(button.dataset.zone);
  });
  for (const after of ["htmx:wsAfterMessage", "htmx:afterSettle"]) document.addEventListener(after, tick);
  document.getElementById("zones")?.removeAttribute("hidden");
  choose();
  setInterval(tick, 1000);
})();
