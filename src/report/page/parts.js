// The numbers of the report, and the building blocks of the page.
let D = JSON.parse(document.getElementById("data").textContent);
const seen = D.axis === "steps" ? "steps" : D.axis + " seen";  // what curves are plotted against
const $ = (id) => document.getElementById(id);
const MEAN = "mean";
const DASHES = ["", "7 3", "2 3", "10 3 2 3", "5 2 1 2 1 2", "14 4", "3 4"];

function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const words = (n) => (n >= 1e9 ? +(n / 1e9).toPrecision(3) + " G" : n >= 1e6 ? +(n / 1e6).toPrecision(3) + " M" : n >= 1e3 ? +(n / 1e3).toPrecision(3) + " k" : String(Math.round(n)));
const share = (v) => (v === null || v === undefined ? "–" : v.toFixed(2));
const PLAIN = -1; // the look of a line that is not a construction
const colour = (i) => (i < 0 ? "var(--soft)" : `var(--c${i % 7})`);
const dash = (i) => i < 0 ? "" : DASHES[(i + Math.floor(i / 7)) % 7];
function choice(label, options, value, change, id) {
  const select = el("select", { id, onchange: (event) => change(event.target.value) });
  for (const [key, text] of options) select.append(el("option", { value: key, selected: String(key) === String(value) }, text));
  return el("label", {}, label, select);
}
function sample(i) {
  return svg("svg", { viewBox: "0 0 30 10", "aria-hidden": "true" }, svg("line", { x1: 1, x2: 29, y1: 5, y2: 5, stroke: colour(i), "stroke-width": 2.5, "stroke-dasharray": dash(i) }));
}
