// The page of the API follows the theme of every other page.
const html = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

function follow() {
  const theme = html.dataset.theme;
  html.classList.toggle("dark-mode", theme === "dark" || (theme !== "light" && system.matches));
}

system.addEventListener("change", follow);
follow();
