// Items on which two checkpoints or two models differ.
function explorer(box, key, name, own, found, results) {
  const chosen = found ? found.items.map((item, i) => [item, i]).filter(([item]) => item[0] === name) : [];
  if (!chosen.length) { box.append(el("p", { class: "note" }, "No items are available for this construction: their verdicts were not found.")); return; }
  const runs = own.flatMap(([g]) => g.results).filter((r) => found.traces[r]);
  const curved = runs.filter((r) => found.traces[r].at.length > 1);
  const view = { way: curved.length ? "checkpoints" : "models", run: curved[0] ?? runs[0], from: 0, to: null, a: runs[0], b: runs[runs.length > 1 ? runs.length - 1 : 0], show: "differ" };
  const single = runs.length === 1 && !curved.length; // nothing to compare with
  if (single) view.show = "all";
  let first = true;
  const direction = own[0][0].direction, language = key.split("/")[0];
  const moment = (t, k) => (t.at[k] < 0 ? "end: whole sets" : t.at[k] === 0 ? "untrained" : words(t.at[k]) + " " + D.axis);
  const at = (r, k, i) => { const t = found.traces[r]; const good = t.good[k][i], bad = t.bad[k][i]; return good === null || bad === null ? null : [good / 100, bad / 100]; };
  function draw() {
    const t = found.traces[view.run];
    // The last probe of the sample, not the end: best weights may be older than the last.
    const last = t.at.length - 1 - (t.at[t.at.length - 1] < 0 && t.at.length > 2 ? 1 : 0);
    if (view.to === null || view.to >= t.at.length) view.to = last;
    if (view.from >= t.at.length) view.from = 0;
    const options = (list) => list.map((r) => [r, results[r].name]);
    const change = (field) => (value) => { view[field] = field === "way" || field === "show" ? value : +value; draw(); };
    const moments = t.at.map((_, k) => [k, moment(t, k)]);
    const controls = el("div", { class: "controls" },
      curved.length && runs.length > 1 ? choice("between", [["checkpoints", "two checkpoints of a run"], ["models", "two models"]], view.way, change("way"), "pick-way") : "",
      ...(view.way === "checkpoints"
        ? [choice("run", options(curved), view.run, change("run"), "pick-run"), choice("from", moments, view.from, change("from"), "pick-from"), choice("to", moments, view.to, change("to"), "pick-to")]
        : single ? [] : [choice("model", options(runs), view.a, change("a"), "pick-a"), choice("and", options(runs), view.b, change("b"), "pick-b")]),
      choice("show", single ? [["all", "all items here"], ["right", "right"], ["wrong", "wrong"]] : [["differ", "items that differ"], ["better", "wrong, then right"], ["worse", "right, then wrong"], ["all", "all items here"]], view.show, change("show"), "pick-show"));
    const end = (r) => found.traces[r].at.length - 1;
    const one = view.way === "checkpoints" ? [view.run, view.from, moment(t, view.from)] : [view.a, end(view.a), results[view.a].name];
    const two = view.way === "checkpoints" ? [view.run, view.to, moment(t, view.to)] : [view.b, end(view.b), results[view.b].name];
    const rows = [];
    for (const [item, i] of chosen) {
      const a = at(one[0], one[1], i), b = at(two[0], two[1], i);
      if (!a || !b) continue;
      const before = a[0] - a[1], after = b[0] - b[1], flip = (after > 0) - (before > 0);
      if (view.show === "all" || (view.show === "differ" && flip) || (view.show === "better" && flip > 0) || (view.show === "worse" && flip < 0) || (view.show === "right" && after > 0) || (view.show === "wrong" && after <= 0)) rows.push([item, a, b, Math.abs(after - before), i]);
    }
    if (first && !rows.length && view.show === "differ") { first = false; view.show = "all"; draw(); return; }
    first = false;
    rows.sort((x, y) => y[3] - x[3]);
    const various = inTurns(rows, ([item]) => (item[6] ? item[6][0] : item[2]));
    // Regions are known only for the end, whatever moments are compared.
    const ends = [...new Set([one[0], two[0]])].map((r) => [results[r].name, r]);
    const inside = (i) => found.regions ? regionTable(found.regions, name, i, ends, direction, language) : null;
    const suite = found.regions && found.regions.suites[name];
    const units = suite
      ? "Margins are in bits, for the deciding comparison. Bars show the surprisal of each region in bits, from the whole sets at the end; regions named in the prediction are framed, and its comparisons are listed below."
      : `Scores are log-probabilities in nats; ${chosen.some(([item]) => item[6]) ? "for contrasts between several sentences, the margin by which they hold; " : ""}tested words are underlined, ungrammatical ones starred.`;
    const counted = el("p", { class: "note", id: "item-count" }, `${rows.length} of the ${chosen.length} items on this page (of ${(found.sizes[name] || 0).toLocaleString("en")} evaluated: those on which checkpoints or models disagree most). ${units}`);
    box.replaceChildren(controls, counted, el("ol", { class: "items" }, ...various.slice(0, 60).map(([item, a, b, , i]) => card(item, single ? [[two[2], b]] : [[one[2], a], [two[2], b]], direction, language, inside(i)))));
  }
  draw();
}
// The first item of each tested word, then the second of each: items with similar scores are often near copies.
function inTurns(rows, kind) {
  const seen = {};
  const turns = rows.map((row, i) => { const word = kind(row); seen[word] = (seen[word] || 0) + 1; return [seen[word], i, row]; });
  return turns.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , row]) => row);
}
function card(item, scored, direction, language, regions) {
  const [, before, good, bad, after, features, compared] = item;
  const sentence = regions || (compared
    ? el("ul", { class: "compared", dir: direction, lang: language }, ...compared.map((text) => el("li", {}, text)))
    : item.length > 1
    ? el("p", { class: "sentence", dir: direction, lang: language }, before ? before + " " : "", el("mark", {}, good || "∅"), el("span", { class: "slash" }, "/"), el("s", {}, bad || "∅"), after ? (after.length < 3 ? "\u00a0" : " ") + after : "")
    : el("p", { class: "sentence" }, "(sentence not available in these folders: the run is not finished)"));
  const number = (what, value, sign = "") => el("td", { class: "num" }, el("span", { class: "lab" }, what), sign + value.toFixed(2).replace("-", "−"));
  const rows = scored.map(([who, [g, b]]) => {
    const margin = g - b, right = margin > 0 ? "right" : margin < 0 ? "wrong" : "tie";
    return el("tr", {}, el("td", { class: "who", title: who }, who), ...(compared ? [] : [number("good ", g), number("bad ", b, "*")]), number(compared ? "margin " : "difference ", margin, margin > 0 ? "+" : ""), el("td", { class: right }, { right: "✓", wrong: "✗", tie: "=" }[right], el("span", { class: "word" }, " " + right)));
  });
  return el("li", { class: "item" }, sentence, el("table", {}, el("tbody", {}, ...rows)), features ? el("p", { class: "features" }, features) : "");
}
