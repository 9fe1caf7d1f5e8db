// Phases of learning: accuracy where a surface rule helps and where it misleads, and below the axis the rule being followed.
const withPhases = () => D.conditions.map((g, i) => [g, i]).filter(([g]) => Object.keys(g.phases).length);
let phased = withPhases();
const STAGES = { structure: "var(--structure)", undecided: "var(--line)" };
const phaseState = { condition: phased.length ? phased[0][1] : 0, construction: MEAN, off: new Set(), xlog: true, zoom: null };
function drawPhases() {
  if (!phased.length) return;
  if (!phased.some(([, i]) => i === phaseState.condition)) phaseState.condition = phased[0][1];
  const several = new Set(phased.map(([g]) => `${g.language}/${g.set}`)).size > 1;
  const title = (g) => (several ? setName(`${g.language}/${g.set}`) + ", " : "") + g.name;
  const g = D.conditions[phaseState.condition], there = Object.keys(g.phases);
  if (!there.includes(phaseState.construction)) phaseState.construction = there.includes(MEAN) ? MEAN : there[0];
  const { rules, spans } = g.phases[phaseState.construction];
  const named = (c) => (c === MEAN ? "all constructions" : D.constructions[c]);
  const update = (field) => (value) => { phaseState[field] = value; phaseState.zoom = null; drawPhases(); };
  $("phase-controls").replaceChildren(
    phased.length > 1 ? choice("condition", phased.map(([each, i]) => [i, title(each)]), phaseState.condition, (v) => update("condition")(+v), "pick-phase-condition") : el("span", { class: "note" }, title(g)),
    choice("construction", there.map((c) => [c, named(c)]), phaseState.construction, update("construction"), "pick-phase-construction"),
    el("button", { id: "phase-xlog", "aria-pressed": String(phaseState.xlog), onclick: () => update("xlog")(!phaseState.xlog) }, `log ${D.axis}`),
    phaseState.zoom ? el("button", { id: "phase-zoom-reset", onclick: () => update("zoom")(null) }, "whole curve") : "");
  const keys = Object.keys(rules);
  $("phase-chips").replaceChildren(...keys.map((rule, i) => el("button", { "aria-pressed": String(!phaseState.off.has(rule)), "data-key": rule, onclick: () => { phaseState.off.has(rule) ? phaseState.off.delete(rule) : phaseState.off.add(rule); drawPhases(); const again = $("phase-chips").querySelector(`[data-key="${CSS.escape(rule)}"]`); if (again) again.focus(); } }, sample(i), rule)),
    ...Object.keys(STAGES).filter((stage) => spans.some(([name]) => name === stage)).map((stage) => el("span", { class: "stage" }, el("i", { style: `background:${STAGES[stage]}` }), stage)));
  const end = Math.max(...spans.map(([, , last]) => last));
  const under = spans.map(([name, first], k) => ({ name, from: first, to: k + 1 < spans.length ? spans[k + 1][1] : end, colour: STAGES[name] || colour(keys.indexOf(name)), ink: name === "undecided" ? "var(--ink)" : null }));
  const lines = (side) => keys.map((rule, i) => [rule, i]).filter(([rule]) => !phaseState.off.has(rule)).map(([rule, i]) => line(rules[rule][side], rule, i, rule, 0.5));
  const xs = keys.flatMap((rule) => rules[rule].flatMap((curve) => curve[0])).filter((x) => !phaseState.xlog || x > 0);
  const zoom = phaseState.zoom || [Math.min(...xs), Math.max(...xs)];
  ["helped-chart", "misled-chart"].forEach((place, side) => chart($(place), { series: lines(side), y: { name: "accuracy", low: 0, high: 1.005, most: 1, format: (v) => v.toFixed(2) }, height: 330, xlog: phaseState.xlog, zoom, onzoom: (z) => { phaseState.zoom = z; drawPhases(); }, chances: [0.5], spans: under, label: `accuracy against ${seen} where a rule is ${side ? "wrong" : "right"}` }));
}
