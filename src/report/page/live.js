// A served page: it fetches updates and shows them without losing the reader's selections.
const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
let held = false; // nothing is redrawn during a drag
addEventListener("pointerdown", () => { held = true; });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => { held = false; });
async function askItems(key) {
  try { return await (await fetch("items?key=" + encodeURIComponent(key))).json(); } catch { return null; }
}
async function listen() {
  const root = document.documentElement;
  const sign = el("span", { id: "live", role: "status" });
  const tell = (on, text) => { sign.dataset.on = on; sign.textContent = text; };
  $("theme").before(sign, el("a", { id: "save", href: "report.html", download: "report.html" }, "save"));
  tell("yes", "live");
  for (let wait = 2; ; ) {
    try {
      const answer = await fetch("update?after=" + root.dataset.live, { cache: "no-store" });
      if (answer.status === 410) { tell("no", "stopped"); return; }
      if (answer.status === 200) { const news = await answer.json(); while (held) await pause(0.1); renew(news); }
      tell("yes", "live");
      wait = 2;
    } catch { tell("no", "not connected"); await pause(wait); wait = Math.min(2 * wait, 60); }
  }
}
const nameOf = (g) => g && [g.language, g.set, g.name].join("\u0000");
function renew(news) {
  const chosen = [state, phaseState].map((each) => nameOf(D.conditions[each.condition]));
  D = news.data;
  sets = setsOf(); names = Object.keys(D.constructions); phased = withPhases();
  [state, phaseState].forEach((each, k) => { const now = D.conditions.findIndex((g) => nameOf(g) === chosen[k]); each.condition = Math.max(now, 0); });
  if (!sets.includes(state.set)) { state.set = sets[0]; state.zoom = null; }
  if (!names.includes(state.construction)) state.construction = MEAN;
  document.title = news.title;
  for (const [part, html] of Object.entries(news.parts)) renewPart(document.querySelector(`[data-part="${part}"]`), html);
  for (const key of Object.keys(loaded)) delete loaded[key];
  if ($("page").hidden) { drawCurves(); drawPhases(); } else if ($("page").renew) $("page").renew();
  document.documentElement.dataset.live = news.version;
}
// Tables keep their sorting and scrolling, and open details stay open.
function renewPart(place, html) {
  const scrolled = [...place.querySelectorAll(".scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
  const opened = [...place.querySelectorAll("details[open][id]")].map((each) => each.id), closed = [...place.querySelectorAll("details[id]:not([open])")].map((each) => each.id);
  const heads = [...place.querySelectorAll("table.sortable th")], column = heads.findIndex((head) => head.hasAttribute("aria-sort"));
  const down = column >= 0 && heads[column].getAttribute("aria-sort") === "descending";
  place.innerHTML = html;
  place.querySelectorAll("table.sortable").forEach(sortable);
  if (column >= 0) { const button = place.querySelectorAll("table.sortable th")[column].querySelector("button"); button.click(); if (down) button.click(); }
  place.querySelectorAll(".scroll").forEach((box, k) => { if (scrolled[k]) [box.scrollLeft, box.scrollTop] = scrolled[k]; });
  for (const id of opened) if ($(id)) $(id).open = true;
  for (const id of closed) if ($(id)) $(id).open = false;
}
