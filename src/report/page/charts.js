// Line charts: hover, arrow keys, zoom.
function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw)), ratio = raw / power;
  const step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
  const found = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) found.push(+v.toPrecision(12));
  return found;
}
function powers(low, high, marks = [1, 2, 5]) {
  const found = [];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
    for (const m of marks) { const v = m * 10 ** p; if (v >= low * 0.999 && v <= high * 1.001) found.push(v); }
  return found;
}
// options: series [{name, key, i, x, y, sd, seeds, pale}], onpin (called with a key), ghosts [{x, y}] behind them, y {name, low, high, most, log, format}, height, xlog, zoom, onzoom, chances, tags, label, spans [{name, from, to, colour}] below the axis
function chart(box, options) {
  box.replaceChildren();
  const width = Math.max(box.clientWidth, 260), height = options.height;
  const shown = options.series.filter((s) => s.x.length);
  const roomy = options.tags && width > 470;
  const m = { l: 46, r: roomy ? Math.min(190, width * 0.34) : 14, t: 24, b: options.spans ? 66 : 40 };
  const all = [...shown, ...(options.ghosts || [])].flatMap((s) => s.x).filter((x) => !options.xlog || x > 0);
  if (!all.length) { box.append(el("p", { class: "note" }, "No curve: these models were evaluated only once, or all lines are switched off.")); return; }
  let [x0, x1] = options.zoom || [Math.min(...all), Math.max(...all)];
  if (options.xlog && x0 <= 0) x0 = Math.min(...all);
  if (x0 === x1) { x0 *= 0.9; x1 = x1 * 1.1 + 1; }
  const tx = options.xlog ? Math.log10 : (v) => v, ty = options.y.log ? Math.log10 : (v) => v;
  let low = options.y.low, high = options.y.high;
  if (low === undefined) {
    const inside = shown.flatMap((s) => s.y.filter((v, k) => v !== null && s.x[k] >= x0 && s.x[k] <= x1));
    [low, high] = inside.length ? [Math.min(...inside), Math.max(...inside)] : [1, 10];
    if (low === high) { low *= 0.9; high *= 1.1; }
    if (options.y.log) { low /= 1.06; high *= 1.06; } else { const pad = (high - low) * 0.08; low -= pad; high += pad; }
  }
  const X = (v) => m.l + ((tx(v) - tx(x0)) / (tx(x1) - tx(x0))) * (width - m.l - m.r);
  const Y = (v) => height - m.b - ((ty(v) - ty(low)) / (ty(high) - ty(low))) * (height - m.t - m.b);
  const back = (px) => { const t = tx(x0) + ((px - m.l) / (width - m.l - m.r)) * (tx(x1) - tx(x0)); return options.xlog ? 10 ** t : t; };
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": options.label });
  const clip = "clip" + Math.random().toString(36).slice(2);
  root.append(svg("clipPath", { id: clip }, svg("rect", { x: m.l - 1, y: m.t - 6, width: width - m.l - m.r + 2, height: height - m.t - m.b + 8 })));
  const grid = svg("g", { class: "grid" }), axis = svg("g", { class: "axis" });
  let ys = options.y.log ? powers(low, high) : ticks(low, high, 5);
  if (options.y.log && ys.length < 4) ys = powers(low, high, [1, 1.5, 2, 3, 4, 5, 7]);
  if (options.y.log && ys.length < 2) ys = ticks(low, high, 4);
  grid.append(label(options.y.name, 2, 12, "start"));
  for (const v of ys) grid.append(svg("line", { x1: m.l, x2: width - m.r, y1: Y(v), y2: Y(v) }), label(options.y.format(v), m.l - 7, Y(v) + 4, "end"));
  let xs = options.xlog ? powers(x0, x1) : ticks(x0, x1, Math.max(2, Math.min(7, Math.floor((width - m.l - m.r) / 75))));
  if (options.xlog && xs.length > (width < 480 ? 5 : 9)) xs = xs.filter((v) => /^1/.test(v.toPrecision(1)));
  for (const v of xs) if (!options.xlog || v > 0) axis.append(svg("line", { x1: X(v), x2: X(v), y1: height - m.b, y2: height - m.b + 4 }), label(words(v), X(v), height - m.b + 18, "middle"));
  axis.append(svg("line", { x1: m.l, x2: width - m.r, y1: height - m.b, y2: height - m.b }), label(seen, (m.l + width - m.r) / 2, height - m.b + 36, "middle"));
  if (options.spans) axis.append(strip(options.spans, (x) => X(Math.min(Math.max(x, x0), x1)), height - 20));
  const plot = svg("g", { "clip-path": `url(#${clip})` });
  for (const chance of options.chances || []) if (chance >= low) plot.append(svg("line", { class: "chance", "data-chance": chance, x1: m.l, x2: width - m.r, y1: Y(chance), y2: Y(chance) }));
  for (const s of options.ghosts || []) plot.append(svg("path", { class: "ghost", d: "M" + s.x.map((x, k) => [x, s.y[k]]).filter(([x, y]) => y !== null && (!options.xlog || x > 0)).map(([x, y]) => `${X(x)},${Y(y)}`).join("L") }));
  const inFront = [...shown.filter((s) => s.pale), ...shown.filter((s) => !s.pale)];
  for (const s of inFront) {
    const points = s.x.map((x, k) => [x, s.y[k], s.sd ? s.sd[k] : null]).filter(([x, y]) => y !== null && (!options.xlog || x > 0) && (!options.y.log || y > 0));
    const spread = points.filter((p) => p[2] !== null);
    const floor = options.y.log ? low : -Infinity, most = options.y.most ?? Infinity;
    if (spread.length > 1 && !s.pale) plot.append(svg("path", { class: "band", fill: colour(s.i), d: "M" + spread.map((p) => `${X(p[0])},${Y(Math.min(p[1] + p[2], most))}`).join("L") + "L" + spread.reverse().map((p) => `${X(p[0])},${Y(Math.max(p[1] - p[2], floor))}`).join("L") + "Z" }));
    plot.append(svg("path", { class: s.pale ? "curve pale" : "curve", "data-name": s.name, stroke: colour(s.i), "stroke-dasharray": dash(s.i), d: "M" + points.map((p) => `${X(p[0])},${Y(p[1])}`).join("L") }));
    if (points.length === 1) plot.append(svg("circle", { cx: X(points[0][0]), cy: Y(points[0][1]), r: 3, fill: colour(s.i) }));
  }
  const guide = svg("g", {}), over = svg("rect", { x: m.l, y: m.t, width: width - m.l - m.r, height: height - m.t - m.b, fill: "transparent" });
  root.append(grid, axis, plot, guide);
  root.append(over);
  if (roomy) root.append(tags(shown, Y, x1, width - m.r, m.r, m.t + 6, height - m.b, options.onpin));
  const tip = el("div", { class: "tip", hidden: true });
  box.append(root, tip);
  const moments = [...new Set(shown.flatMap((s) => s.x))].filter((x) => x >= x0 * 0.9999 && x <= x1 * 1.0001 && (!options.xlog || x > 0)).sort((a, b) => a - b);
  let at = -1, start = null;
  function point(k) {
    at = Math.max(0, Math.min(moments.length - 1, k));
    const x = moments[at];
    guide.replaceChildren(svg("line", { class: "guide", x1: X(x), x2: X(x), y1: m.t, y2: height - m.b }));
    const rows = [];
    for (const s of shown) {
      let best = -1;
      s.x.forEach((v, i) => { if (s.y[i] !== null && (best < 0 || Math.abs(v - x) < Math.abs(s.x[best] - x))) best = i; });
      const near = moments.length < 2 ? Infinity : (x1 - x0) / moments.length;
      if (best < 0 || Math.abs(s.x[best] - x) > near) continue;
      guide.append(svg("circle", { cx: X(s.x[best]), cy: Y(s.y[best]), r: 3.6, fill: colour(s.i), opacity: s.pale ? 0.35 : 1 }));
      rows.push([s.y[best], s.sd ? s.sd[best] : null, s, s.seeds ? s.seeds[best] : null]);
    }
    rows.sort((a, b) => b[0] - a[0]);
    const table = el("table", {}, ...rows.map(([v, sd, s, seeds]) => el("tr", { class: s.pale ? "pale" : null }, el("td", {}, el("i", { style: `background:${colour(s.i)}` }), s.name), el("td", {}, options.y.format(v) + (sd === null ? "" : " ± " + options.y.format(sd)) + (seeds === null ? "" : ` (${seeds} seed${seeds === 1 ? "" : "s"})`)))));
    tip.replaceChildren(el("b", {}, words(x) + " " + D.axis), table);
    tip.hidden = false;
    // Beside the guide, right or left, wherever the screen has room, and never past its edges.
    const here = box.getBoundingClientRect(), screen = document.documentElement, wide = tip.offsetWidth, tall = tip.offsetHeight;
    const least = 6 - here.left, most = screen.clientWidth - 6 - here.left - wide, right = X(x) + 14, left = X(x) - 14 - wide;
    tip.style.left = Math.max(least, Math.min(right <= most || left < least ? right : left, most)) + "px";
    // A tip wide enough to hide the curves goes below them.
    tip.style.top = Math.max(6 - here.top, Math.min(wide > width * 0.7 ? height - m.b + 24 : m.t, screen.clientHeight - 6 - here.top - tall)) + "px";
  }
  const leave = () => { guide.replaceChildren(); tip.hidden = true; at = -1; };
  const px = (event) => ((event.clientX - root.getBoundingClientRect().left) / root.getBoundingClientRect().width) * width;
  const py = (event) => ((event.clientY - root.getBoundingClientRect().top) / root.getBoundingClientRect().height) * height;
  // The line a click was meant for: the nearest, if it is close.
  function lineNear(atX, atY) {
    let found = null, least = 9;
    for (const s of shown) for (let k = 0; k + 1 < s.x.length; k++) {
      if (s.y[k] === null || s.y[k + 1] === null) continue;
      const [ax, bx] = [X(s.x[k]), X(s.x[k + 1])];
      if (!(atX >= ax && atX <= bx)) continue;
      const away = Math.abs(Y(s.y[k]) + ((atX - ax) / Math.max(bx - ax, 1e-9)) * (Y(s.y[k + 1]) - Y(s.y[k])) - atY);
      if (away < least) { least = away; found = s; }
    }
    return found;
  }
  over.addEventListener("pointermove", (event) => {
    const here = px(event), x = back(here);
    let nearest = 0;
    moments.forEach((v, i) => { if (Math.abs(X(v) - here) < Math.abs(X(moments[nearest]) - here)) nearest = i; });
    if (start === null) point(nearest);
    else guide.replaceChildren(svg("rect", { class: "zoombox", x: Math.min(X(start), here), y: m.t, width: Math.abs(here - X(start)), height: height - m.t - m.b })), (tip.hidden = true);
    void x;
  });
  over.addEventListener("pointerdown", (event) => { if (event.button === 0 && options.onzoom) { start = Math.min(Math.max(back(px(event)), x0), x1); over.setPointerCapture(event.pointerId); } });
  over.addEventListener("pointerup", (event) => {
    const end = Math.min(Math.max(back(px(event)), x0), x1), begun = start;
    start = null;
    if (begun !== null && Math.abs(X(end) - X(begun)) > 12) options.onzoom([Math.min(begun, end), Math.max(begun, end)]);
    else if (options.onpin && begun !== null) { const s = lineNear(px(event), py(event)); if (s) options.onpin(s.key); }
  });
  over.addEventListener("pointercancel", () => { start = null; leave(); });
  over.addEventListener("pointerleave", () => { if (start === null) leave(); });
  over.addEventListener("dblclick", () => options.onzoom && options.onzoom(null));
  box.tabIndex = 0;
  box.onkeydown = (event) => { const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]; if (by) { event.preventDefault(); point(at + by); } else if (event.key === "Escape") leave(); };
  box.onblur = leave;
  box.extent = [x0, x1];
}
// Spans below the axis, labelled where there is room; hovering shows the full name.
function strip(spans, X, top) {
  const group = svg("g", { class: "strip" });
  for (const s of spans) {
    const left = X(s.from), wide = Math.max(X(s.to) - left, 2);
    const box = svg("g", { "data-phase": s.name }, svg("rect", { x: left, y: top, width: wide, height: 16, fill: s.colour, rx: 2 }), svg("title"));
    box.lastChild.textContent = `${s.name}: from ${words(s.from)}`;
    if (wide > 6.4 * s.name.length + 6) { const name = label(s.name, left + wide / 2, top + 12, "middle"); name.style.fill = s.ink || "var(--panel)"; box.append(name); }
    group.append(box);
  }
  return group;
}
function label(text, x, y, anchor) { const made = svg("text", { x, y, "text-anchor": anchor }); made.textContent = text; return made; }
// Names that are too long lose their middle, where that leaves no two of them alike.
function shorten(names, letters) {
  const cut = (tail) => names.map((name) => name.length > letters ? name.slice(0, letters - tail - 1) + "…" + name.slice(-tail) : name);
  const tails = [11, 16, 6, letters - 4].filter((tail) => tail > 0 && tail < letters - 1);
  return cut(tails.find((tail) => new Set(cut(tail)).size === new Set(names).size) || tails[0]);
}
// Names beside the ends of their curves. The leaders stay in the margin, in grey: inside the plot they would look like data.
function tags(shown, Y, x1, edge, room, top, bottom, onpin) {
  const left = edge + 14, letters = Math.floor((room - 14) / 6.1);
  const group = svg("g", {});
  const ends = shown.map((s) => { let k = -1; s.x.forEach((x, i) => { if (x <= x1 * 1.0001 && s.y[i] !== null) k = i; }); return k < 0 ? null : { s, y: Math.min(Math.max(Y(s.y[k]), top), bottom) }; }).filter(Boolean).sort((a, b) => a.y - b.y);
  const gap = Math.min(14, (bottom - top) / Math.max(ends.length, 1));
  ends.forEach((e, i) => { e.at = Math.max(e.y, i ? ends[i - 1].at + gap : top); });
  for (let i = ends.length - 1; i >= 0; i--) ends[i].at = Math.min(ends[i].at, i === ends.length - 1 ? bottom : ends[i + 1].at - gap);
  const short = shorten(ends.map((e) => e.s.name), letters);
  for (const [i, e] of ends.entries()) {
    group.append(svg("path", { class: "leader", d: `M${edge + 1},${e.y}L${left - 2},${e.at}` }));
    const text = label(short[i], left, e.at + 4, "start");
    text.setAttribute("class", e.s.pale ? "tag pale" : "tag");
    text.append(svg("title"));
    text.lastChild.textContent = e.s.name + (onpin ? ": click to pin" : "");
    if (onpin) text.addEventListener("click", () => onpin(e.s.key));
    text.style.fill = colour(e.s.i);
    group.append(text);
  }
  return group;
}
