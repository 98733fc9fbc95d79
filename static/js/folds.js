// What a reader has opened or closed stays so when news redraws it.
"use strict";
(() => {
  let folds = new Map();
  const all = () => document.querySelectorAll("details[id]");
  document.addEventListener("htmx:wsBeforeMessage", () => { folds = new Map([...all()].map((fold) => [fold.id, fold.open])); });
  document.addEventListener("htmx:wsAfterMessage", () => {
    for (const fold of all()) if (folds.has(fold.id) && folds.get(fold.id) !== fold.open) fold.open = folds.get(fold.id);
  });
})();
