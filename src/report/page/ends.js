// Accuracy at the end, with intervals.
function drawEnds(own) {
  const box = $("ends");
  const shown = own.slice(0, 7), asked = new Set(own.flatMap(([g]) => g.constructions)), rows = names.filter((c) => (c !== MEAN || asked.size > 1) && own.some(([g]) => g.estimates[c] && g.estimates[c][0] !== null));
  const width = Math.max(box.clientWidth, 260), narrow = width < 560, left = narrow ? 12 : Math.min(width * 0.4, 24 + 6.3 * Math.max(...rows.map((c) => D.constructions[c].length))), each = Math.max(15, 8 + 9 * shown.length), head = narrow ? 18 : 0;
  const height = rows.length * (each + head + 8) + 34;
  const X = (v) => left + v * (width - left - 40);
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "accuracy at the end, with 95 % intervals" });
  const grid = svg("g", { class: "grid" });
  for (const v of [0, 0.25, 0.5, 0.75, 1]) grid.append(svg("line", { x1: X(v), x2: X(v), y1: 0, y2: height - 26 }), label(v.toFixed(2), X(v), height - 10, "middle"));
  root.append(grid);
  rows.forEach((c, r) => {
    const top = r * (each + head + 8) + 4;
    if (r) root.append(svg("line", { class: "row", x1: 0, x2: width, y1: top - 4, y2: top - 4 }));
    root.append(label(D.constructions[c], narrow ? 0 : left - 10, narrow ? top + 12 : top + each / 2 + 4, narrow ? "start" : "end"));
    for (const chance of new Set(shown.map(([g]) => chanceOf(g, c)).filter((v) => v !== null))) root.append(svg("line", { class: "chance", "data-chance": chance, x1: X(chance), x2: X(chance), y1: top - 4, y2: top + each + head + 4 }));
    shown.forEach(([g], k) => {
      const found = g.estimates[c];
      if (!found || found[0] === null) return;
      const y = top + head + ((k + 0.5) / shown.length) * each;
      if (found[2] !== null) root.append(svg("line", { x1: X(found[2]), x2: X(found[3]), y1: y, y2: y, stroke: colour(k), "stroke-width": 2.4, "stroke-opacity": 0.55 }));
      const dot = mark(k, X(found[0]), y);
      dot.append(svg("title"));
      dot.lastChild.textContent = `${g.name}: ${share(found[0])}` + (found[2] === null ? "" : ` [${share(found[2])}, ${share(found[3])}]`);
      root.append(dot);
      if (shown.length === 1) root.append(label(share(found[0]), width - 2, y + 4, "end"));
    });
  });
  box.replaceChildren(root);
  $("ends-legend").replaceChildren(...(shown.length > 1 ? shown.map(([g], k) => el("span", {}, svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14 }, mark(k, 7, 7)), " " + g.name)) : []), own.length > shown.length ? `${own.length - shown.length} more conditions are in the table below` : "");
}
function mark(k, x, y) {
  const shapes = ["M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-4,-4h8v8h-8Z", "M0,-5L5,4H-5Z", "M0,-5.5L5.5,0L0,5.5L-5.5,0Z", "M0,5L5,-4H-5Z", "M-1.5,-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5Z", "M-2.6,-4.6H2.6L5.2,0L2.6,4.6H-2.6L-5.2,0Z"];
  return svg("g", { transform: `translate(${x},${y})` }, svg("path", { d: shapes[k % 7], fill: colour(k), stroke: "var(--panel)", "stroke-width": 1 }));
}
