// What happens when the page is opened.
async function copy(button) {
  const text = document.getElementById(button.dataset.copy).textContent;
  try { await navigator.clipboard.writeText(text); } catch { const area = el("textarea"); area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); }
  const said = button.textContent; button.textContent = "copied"; setTimeout(() => { button.textContent = said; }, 1200);
}
function theme() {
  const order = ["auto", "light", "dark"], root = document.documentElement, button = $("theme");
  let now = "auto";
  try { now = localStorage.getItem("concord-theme") || "auto"; } catch { /* a page from disk may have no storage */ }
  const set = (to) => { now = to; to === "auto" ? root.removeAttribute("data-theme") : root.setAttribute("data-theme", to); button.textContent = { auto: "◐ auto", light: "○ light", dark: "● dark" }[to]; };
  set(order.includes(now) ? now : "auto");
  button.addEventListener("click", () => { set(order[(order.indexOf(now) + 1) % 3]); try { localStorage.setItem("concord-theme", now); } catch { /* as above */ } });
}
theme();
document.querySelectorAll("table.sortable").forEach(sortable);
document.addEventListener("click", (event) => { const button = event.target.closest("[data-copy]"); if (button) copy(button); });
window.addEventListener("hashchange", showPage);
let wide = window.innerWidth;
window.addEventListener("resize", () => { if (window.innerWidth !== wide) { wide = window.innerWidth; $("page").hidden ? (drawCurves(), drawPhases()) : $("page").redraw && $("page").redraw(); } });
showPage();
document.documentElement.dataset.ready = "yes";
if (typeof listen === "function") listen();
