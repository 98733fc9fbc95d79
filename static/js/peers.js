// A verdict and the line it judges point at each other: pointing at one marks both.
"use strict";
for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    const row = event.target.closest?.("[data-peer]");
    for (const marked of document.querySelectorAll(".is-peer")) marked.classList.remove("is-peer");
    if (row) document.getElementById(row.dataset.peer)?.classList.add("is-peer");
  });
}
