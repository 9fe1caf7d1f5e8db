// Learning curves: which lines are shown.
const setsOf = () => [...new Set(D.conditions.map((g) => `${g.language}/${g.set}`))];
let sets = setsOf(), names = Object.keys(D.constructions);
const setName = (key) => { const [language, ...rest] = key.split("/"); return `${D.languages[language]}, ${rest.join("/")}`; };
const inSet = (key) => D.conditions.map((g, i) => [g, i]).filter(([g]) => `${g.language}/${g.set}` === key);
const state = { set: (sets.find((key) => inSet(key).some(([g]) => Object.keys(g.curves).length)) || sets[0]), lines: "constructions", condition: 0, construction: MEAN, off: new Set([MEAN]), pinned: new Set(), xlog: false, zoom: null };
const MOST = 8; // lines in one chart
const withMean = (constructions) => (constructions.length > 1 ? [...constructions, MEAN] : constructions);
const familyOf = (c) => Object.keys(D.families).find((family) => D.families[family].includes(c));
function lines() {
  const own = inSet(state.set);
  if (state.lines === "constructions") {
    const condition = D.conditions[state.condition];
    const shown = withMean(condition.constructions).filter((c) => condition.curves[c]);
    const many = shown.length - 1 > MOST; // then a line's colour is its position within its family
    return shown.map((c) => line(condition.curves[c], D.constructions[c], many ? (familyOf(c) ? D.families[familyOf(c)].indexOf(c) : PLAIN) : names.indexOf(c), c, chanceOf(condition, c)));
  }
  return own.filter(([g]) => g.curves[state.construction]).map(([g], k) => line(g.curves[state.construction], g.name, k, "condition " + g.name, chanceOf(g, state.construction)));
}
const line = ([x, y, sd, seeds], name, i, key, chance) => ({ x, y, sd, seeds, name, i, key, chance });
const chanceOf = (g, c) => (g.estimates[c] ? g.estimates[c][5] : null);
const chancesOf = (series) => [...new Set(series.map((s) => s.chance).filter((v) => v !== null && v !== undefined))];
// The lowest value on an accuracy axis: a little below chance, and below everything shown.
const floorOf = (series) => Math.floor(Math.min(...chancesOf(series).map((v) => v - 0.1), ...series.flatMap((s) => s.y.filter((v) => v !== null)), 0.9) * 10) / 10;
function drawCurves() {
  const own = inSet(state.set);
  if (!own.some(([, i]) => i === state.condition)) state.condition = (own.find(([g]) => Object.keys(g.curves).length) || own[0])[1];
  const controls = $("curve-controls");
  const update = (change) => (value) => { change(value); state.zoom = null; drawCurves(); };
  controls.replaceChildren(
    sets.length > 1 ? choice("language", sets.map((key) => [key, setName(key)]), state.set, update((v) => { state.set = v; }), "pick-set") : "",
    own.length > 1 ? choice("lines", [["constructions", "constructions"], ["conditions", "conditions"]], state.lines, update((v) => { state.lines = v; }), "pick-lines") : "",
    state.lines === "constructions"
      ? (own.length > 1 ? choice("condition", own.map(([g, i]) => [i, g.name]), state.condition, update((v) => { state.condition = +v; }), "pick-condition") : "")
      : choice("construction", names.filter((c) => own.some(([g]) => g.curves[c])).map((c) => [c, D.constructions[c]]), state.construction, update((v) => { state.construction = v; }), "pick-construction"),
    el("button", { id: "xlog", "aria-pressed": String(state.xlog), onclick: () => { state.xlog = !state.xlog; state.zoom = null; drawCurves(); } }, `log ${D.axis}`),
    el("span", { class: "pair" },
      el("button", { id: "zoom-in", "aria-label": "zoom in", onclick: () => zoomBy(0.5) }, "+"),
      el("button", { id: "zoom-out", "aria-label": "zoom out", onclick: () => zoomBy(2) }, "−")),
    state.pinned.size ? el("button", { id: "unpin", onclick: () => { state.pinned.clear(); drawCurves(); } }, "unpin all") : "",
    state.zoom ? el("button", { id: "zoom-reset", onclick: () => { state.zoom = null; drawCurves(); } }, "whole curve") : "",
  );
  const all = lines();
  const chips = $("chips");
  const several = state.lines === "constructions" && all.filter((s) => s.key !== MEAN).length > MOST;
  const focus = (selector) => { const again = chips.querySelector(selector); if (again) again.focus(); };
  const pin = (key) => { state.pinned.has(key) ? state.pinned.delete(key) : state.pinned.add(key); state.off.delete(key); drawCurves(); };
  const chip = (s) => el("span", { class: "chip" }, toggle(s), el("button", { class: "pin", "aria-pressed": String(state.pinned.has(s.key)), "aria-label": `pin ${s.name}`, title: "pin: this line in front, the others pale", "data-pin": s.key, onclick: () => { pin(s.key); focus(`[data-pin="${CSS.escape(s.key)}"]`); } }, state.pinned.has(s.key) ? "●" : "○"));
  const toggle = (s) => el("button", { "aria-pressed": String(!state.off.has(s.key)), "data-key": s.key, onclick: () => { state.off.has(s.key) ? state.off.delete(s.key) : state.off.add(s.key); state.pinned.delete(s.key); drawCurves(); focus(`[data-key="${CSS.escape(s.key)}"]`); } }, sample(s.i), s.name);
  const inFamily = (family) => all.filter((s) => familyOf(s.key) === family);
  chips.replaceChildren(...(several ? [...Object.keys(D.families).filter((f) => inFamily(f).length).flatMap((f) => [el("span", { class: "family" }, f), ...inFamily(f).map(chip)]), ...all.filter((s) => !familyOf(s.key)).map(chip)] : all.map(chip)));
  const visible = markPale(all.filter((s) => !state.off.has(s.key)));
  const onzoom = (zoom) => { state.zoom = zoom; drawCurves(); };
  const axes = { y: { name: "accuracy", low: floorOf(visible), high: 1.005, most: 1, format: (v) => v.toFixed(2) }, xlog: state.xlog, zoom: state.zoom, onzoom, onpin: pin, tags: true };
  if (several) multiples($("accuracy-chart"), visible, axes);
  else chart($("accuracy-chart"), { ...axes, series: visible, height: 400, chances: chancesOf(visible), label: `accuracy against ${seen}` });
  const condition = D.conditions[state.condition];
  const perplexities = state.lines === "constructions" ? (condition.perplexity ? [line(condition.perplexity, condition.name, PLAIN, "p")] : []) : markPale(own.filter(([g]) => g.perplexity).map(([g], k) => line(g.perplexity, g.name, k, "condition " + g.name)));
  $("perplexity-box").hidden = !perplexities.length;
  const extent = $("accuracy-chart").extent;
  chart($("perplexity-chart"), { series: perplexities, y: { name: "perplexity, log scale", log: true, format: (v) => (v >= 100 || v === Math.round(v) ? v.toFixed(0) : v.toFixed(v >= 10 ? 1 : 2)) }, height: 190, xlog: state.xlog, zoom: state.zoom || extent, onzoom, tags: true, label: `validation perplexity against ${seen}` });
  drawEnds(own);
}
// When a line is pinned the others fade; pins on lines that are not shown do not count.
function markPale(series) {
  const any = series.some((s) => state.pinned.has(s.key));
  return series.map((s) => ({ ...s, pale: any && !state.pinned.has(s.key) }));
}
function zoomBy(factor) {
  const [low, high] = $("accuracy-chart").extent || [0, 1];
  if (!state.zoom && factor > 1) return;
  const middle = (low + high) / 2, half = ((high - low) / 2) * factor;
  const xs = lines().flatMap((s) => s.x), ends = [Math.min(...xs), Math.max(...xs)];
  const zoom = [Math.max(middle - half, ends[0]), Math.min(middle + half, ends[1])];
  state.zoom = zoom[0] <= ends[0] && zoom[1] >= ends[1] ? null : zoom;
  drawCurves();
}
// More lines than one chart can hold: one small chart per family, on the same axes, with the other lines in grey behind.
function multiples(box, visible, axes) {
  const charts = [];
  for (const family of Object.keys(D.families)) {
    const inside = visible.filter((s) => familyOf(s.key) === family || s.key === MEAN);
    // A pinned line of another family is shown too, for comparison, in a neutral colour: its own belongs to another line here.
    const own = [...inside, ...visible.filter((s) => state.pinned.has(s.key) && !inside.includes(s)).map((s) => ({ ...s, i: PLAIN }))];
    if (inside.some((s) => s.key !== MEAN)) charts.push([family, own, visible.filter((s) => !own.some((o) => o.key === s.key)), el("div", { class: "chart" })]);
  }
  box.replaceChildren(el("div", { class: "multiples" }, ...charts.map(([family, , , place]) => el("div", {}, el("h4", {}, family), place))));
  const xs = visible.flatMap((s) => s.x);
  for (const [family, series, ghosts, place] of charts) chart(place, { ...axes, zoom: axes.zoom || [Math.min(...xs), Math.max(...xs)], series, ghosts, height: 250, chances: chancesOf(series), label: `accuracy against ${seen}: ${family}` });
  box.extent = charts.length ? charts[0][3].extent : null;
  if (!charts.length) chart(box, { ...axes, series: [], height: 250 });
}
