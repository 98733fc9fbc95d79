// Copy buttons. Where the page may not write the clipboard (plain http), they are not shown.
"use strict";
document.documentElement.toggleAttribute("data-no-clipboard", !navigator.clipboard);

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.dataset.done = "";
  document.getElementById("announce").textContent = "Copied";
  setTimeout(() => delete button.dataset.done, 1500);
});
