{
  let theme;
  try {
    theme = localStorage.getItem("parley.theme");
  } catch {}
  if (/^(light|dark)$/.test(theme)) document.documentElement.dataset.theme = theme;
  else theme = matchMedia("(prefers-color-scheme: dark)").matches && "dark";
  document.querySelector('meta[name="theme-color"]').content = theme === "dark" ? "#131412" : "#f6f5f1";
}
