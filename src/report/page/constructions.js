// One page per construction.
const loaded = {};
async function itemsOf(key) {
  const holder = document.getElementById("items:" + key);
  if (!(key in loaded)) loaded[key] = holder ? JSON.parse(holder.textContent) : typeof askItems === "function" ? await askItems(key) : null;
  return loaded[key];
}
// Address parts are encoded one by one, since a name may contain a slash; an unencoded part is taken as it is.
function decoded(part) { try { return decodeURIComponent(part); } catch { return part; } }
function showPage() {
  const parts = location.hash.startsWith("#/") ? location.hash.slice(2).split("/").map(decoded) : [];
  const name = parts.pop(), key = parts.join("/");
  const known = sets.includes(key) && Object.hasOwn(D.constructions, name);
  $("main").hidden = !!known;
  $("page").hidden = !known;
  if (known) { construction(key, name); window.scrollTo(0, 0); return; }
  drawCurves();
  drawPhases();
  const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (place) place.scrollIntoView(); // it could not be scrolled to while it was hidden
}
function construction(key, name) {
  const current = () => inSet(key).filter(([g]) => g.constructions.includes(name));
  const own = current();
  const rest = [...new Set(own.flatMap(([g]) => g.constructions))], here = rest.indexOf(name);
  const link = (c, text) => el("a", { href: "#/" + [...key.split("/"), c].map(encodeURIComponent).join("/") }, text);
  const page = $("page");
  const box = el("div", { class: "chart" });
  page.replaceChildren(
    el("a", { class: "back", href: "#constructions" }, "← back to the report"),
    el("h1", {}, D.constructions[name]), el("p", { class: "lead" }, setName(key), " · ",
      here > 0 ? link(rest[here - 1], "← " + D.constructions[rest[here - 1]]) : "", here > 0 && here < rest.length - 1 ? " · " : "",
      here < rest.length - 1 ? link(rest[here + 1], D.constructions[rest[here + 1]] + " →") : ""),
    el("div", { class: "scroll", id: "construction-table" }, accuracyTable(own, name)),
    el("h3", {}, "Learning curve"), el("div", { class: "panel" }, box), el("h3", {}, "Items"), el("div", { id: "explorer" }),
  );
  let zoom = null;
  const series = () => current().filter(([g]) => g.curves[name]).map(([g], k) => line(g.curves[name], g.name, k, g.name, chanceOf(g, name)));
  const draw = (shown = series()) => chart(box, { series: shown, y: { low: floorOf(shown), high: 1.005, most: 1, name: "accuracy", format: (v) => v.toFixed(2) }, height: 280, zoom, onzoom: (z) => { zoom = z; draw(); }, chances: chancesOf(shown), tags: true, label: `accuracy against ${seen}` });
  draw();
  page.redraw = () => draw();
  // Updates go to the curve and the table; the items stay as they were when the page was opened.
  page.renew = () => { if (current().length) { $("construction-table").replaceChildren(accuracyTable(current(), name)); draw(); } };
  const results = D.results;
  itemsOf(key).then((found) => { if (page.contains(box)) explorer($("explorer"), key, name, own, found, results); });
}
function accuracyTable(own, name) {
  const parts = Object.keys(D.parts).filter((part) => own.some(([g]) => g.results.some((r) => (D.results[r].parts[name] || {})[part] !== undefined)));
  const head = el("tr", {}, ...["condition", "accuracy", "95 %", "n", "chance", ...parts.map((p) => D.parts[p])].map((text) => el("th", { scope: "col", class: text.length > 14 ? "long" : null }, text)));
  const rows = own.map(([g]) => {
    const [mean, sd, low, high, n, chance] = g.estimates[name];
    const means = parts.map((part) => { const v = g.results.map((r) => (D.results[r].parts[name] || {})[part]).filter((x) => x !== undefined && x !== null); return v.length ? v.reduce((a, b) => a + b) / v.length : null; });
    const cell = (v, text) => (v === null ? el("td", {}, "–") : el("td", { class: "shade", style: `--a:${Math.max((v - chance) / (1 - chance), 0)}` }, text || share(v)));
    return el("tr", {}, el("th", { scope: "row" }, g.name), cell(mean, share(mean) + (sd === null ? "" : " ± " + share(sd))), el("td", {}, low === null ? "–" : `${share(low)}–${share(high)}`), el("td", {}, n.toLocaleString("en")), el("td", {}, share(chance)), ...means.map((v) => cell(v)));
  });
  return el("table", { class: "grid" }, el("thead", {}, head), el("tbody", {}, ...rows));
}
