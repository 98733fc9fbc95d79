// Draws every [data-figure] from the JSON beside it, in the colours of the reader's theme.
"use strict";
(() => {
  const TONES = { good: "--good", bad: "--bad", warn: "--warn", person: "--person", quiet: "--ink-soft", faint: "--line-strong" };
  const PATTERNS = { warn: "/", bad: "x", person: "\\", faint: "." }; // colour is never alone

  const draw = () => {
    const probe = document.body.appendChild(document.createElement("i")); // resolves light-dark()
    const colour = (name) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    for (const element of document.querySelectorAll("[data-figure]")) {
      const { data, layout } = JSON.parse(document.getElementById(element.dataset.figure).textContent);
      for (const trace of data) {
        trace.marker = { color: colour(TONES[trace.meta] ?? "--ink-soft"), pattern: { shape: PATTERNS[trace.meta] ?? "" } };
      }
      const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line") };
      Plotly.react(element, data, {
        ...layout, paper_bgcolor: "transparent", plot_bgcolor: "transparent",
        font: { color: colour("--ink"), family: getComputedStyle(document.body).fontFamily, size: 12 },
        xaxis: { ...layout.xaxis, ...axis }, yaxis: { ...layout.yaxis, ...axis },
      }, { displayModeBar: false, responsive: true });
    }
    probe.remove();
  };
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
})();
