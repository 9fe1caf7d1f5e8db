// An item of a suite: one row per condition, one column per region, surprisal as bars.
function regionTable(regions, suite, i, shown, direction, language) {
  const layout = regions.suites[suite], text = regions.words[i];
  const models = shown.filter(([, r]) => regions.bits[r] && regions.bits[r][i]);
  if (!layout || !text || !models.length) return null;
  const most = Math.max(1, ...models.flatMap(([, r]) => regions.bits[r][i].flat()));
  const stated = layout.predictions[regions.contrasts[i]] || { clauses: [], named: [] };
  const named = new Set(stated.named.map(([row, column]) => row + "/" + column));
  const used = layout.regions.map((_, column) => column).filter((column) => text.some((row) => row[column]));
  const bar = (value, k, who) => el("span", { class: "bar", title: models.length > 1 ? who : null, style: `--w:${(value / most).toFixed(3)};--k:var(--c${k % 7})` }, el("i", {}), el("b", {}, value.toFixed(1)));
  const cell = (row, column) => !text[row][column]
    ? el("td", { class: "none" }, "")
    : el("td", { class: named.has(row + "/" + column) ? "named" : null },
      el("span", { class: "words", dir: direction, lang: language }, text[row][column]), ...models.map(([who, r], k) => bar(regions.bits[r][i][row][column], k, who)));
  const head = el("tr", {}, el("th", { scope: "col" }, "bits"), ...used.map((column) => el("th", { scope: "col" }, layout.regions[column].replaceAll("_", " "))));
  const rows = layout.conditions.map((condition, row) => el("tr", {}, el("th", { scope: "row" }, condition.replaceAll("_", " ")), ...used.map((column) => cell(row, column))));
  const keys = models.length > 1 ? el("p", { class: "keys" }, ...models.map(([who], k) => el("span", {}, el("i", { style: `background:var(--c${k % 7})` }), who))) : "";
  return el("div", { class: "regions" }, keys, el("div", { class: "wide", tabindex: "0" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))), clauseList(stated.clauses, regions, i, models));
}
// Each comparison of the prediction, and by how many bits it holds or fails.
function clauseList(clauses, regions, i, models) {
  const margin = (r, k) => { const own = (regions.margins[r] || [])[i]; return own && own.length === clauses.length ? own[k] : null; };
  const verdict = (value, equal) => (value === null ? el("span", {}, "not covered") : el("span", { class: value > 0 || (equal && value === 0) ? "right" : "wrong" }, `${value > 0 || (equal && value === 0) ? "✓" : value < 0 ? "✗" : "="} ${value > 0 ? "+" : ""}${value.toFixed(2).replace("-", "−")}`));
  return el("ul", { class: "clauses" }, ...clauses.map((text, k) => el("li", {}, el("code", {}, text), " ", ...models.map(([, r]) => verdict(margin(r, k), text.includes(" = "))))));
}
