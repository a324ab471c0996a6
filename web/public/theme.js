// Runs before the first paint, so that a chosen theme never flashes the other one.
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem("parley.theme");
  } catch {
    // No storage: the system's theme it is.
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  const dark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.querySelector('meta[name="theme-color"]').content = dark ? "#131412" : "#f6f5f1";
})();
