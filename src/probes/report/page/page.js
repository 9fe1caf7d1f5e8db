"use strict";
(() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const MEAN = "mean";
  const DASHES = ["", "7 3", "2 3", "10 3 2 3", "5 2 1 2 1 2", "14 4", "3 4"];

  // ---------------------------------------------------------------- small parts
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
  const colour = (i) => `var(--c${i % 7})`;
  const dash = (i) => DASHES[(i + Math.floor(i / 7)) % 7];
  function choice(label, options, value, change, id) {
    const select = el("select", { id, onchange: (event) => change(event.target.value) });
    for (const [key, text] of options) select.append(el("option", { value: key, selected: String(key) === String(value) }, text));
    return el("label", {}, label, select);
  }
  function sample(i) {
    return svg("svg", { viewBox: "0 0 30 10", "aria-hidden": "true" }, svg("line", { x1: 1, x2: 29, y1: 5, y2: 5, stroke: colour(i), "stroke-width": 2.5, "stroke-dasharray": dash(i) }));
  }

  // --------------------------------------------------------------------- charts
  function ticks(low, high, count) {
    const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw)), ratio = raw / power;
    const step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
    const found = [];
    for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) found.push(+v.toPrecision(12));
    return found;
  }
  function powers(low, high) {
    const found = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
      for (const m of [1, 2, 5]) { const v = m * 10 ** p; if (v >= low * 0.999 && v <= high * 1.001) found.push(v); }
    return found;
  }
  // options: series [{name, i, x, y, sd}], y {low, high, log, format}, height, xlog, zoom, onzoom, chance, tags, label
  function chart(box, options) {
    box.replaceChildren();
    const width = Math.max(box.clientWidth, 260), height = options.height;
    const shown = options.series.filter((s) => s.x.length);
    const roomy = options.tags && width > 680;
    const m = { l: 46, r: roomy ? 190 : 14, t: 12, b: 40 };
    const all = shown.flatMap((s) => s.x).filter((x) => !options.xlog || x > 0);
    if (!all.length) { box.append(el("p", { class: "note" }, "No curve: these models were asked once, or all lines are switched off.")); return; }
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
    if (options.y.log && ys.length < 2) ys = ticks(low, high, 4);
    for (const v of ys) grid.append(svg("line", { x1: m.l, x2: width - m.r, y1: Y(v), y2: Y(v) }), label(options.y.format(v), m.l - 7, Y(v) + 4, "end"));
    let xs = options.xlog ? powers(x0, x1) : ticks(x0, x1, width < 480 ? 4 : 7);
    if (options.xlog && xs.length > (width < 480 ? 5 : 9)) xs = xs.filter((v) => /^1/.test(v.toPrecision(1)));
    for (const v of xs) if (!options.xlog || v > 0) axis.append(svg("line", { x1: X(v), x2: X(v), y1: height - m.b, y2: height - m.b + 4 }), label(words(v), X(v), height - m.b + 18, "middle"));
    axis.append(svg("line", { x1: m.l, x2: width - m.r, y1: height - m.b, y2: height - m.b }), label("words seen", (m.l + width - m.r) / 2, height - 4, "middle"));
    const plot = svg("g", { "clip-path": `url(#${clip})` });
    if (options.chance && options.chance > low) plot.append(svg("line", { class: "chance", x1: m.l, x2: width - m.r, y1: Y(options.chance), y2: Y(options.chance) }));
    for (const s of shown) {
      const points = s.x.map((x, k) => [x, s.y[k], s.sd ? s.sd[k] : null]).filter(([x, y]) => y !== null && (!options.xlog || x > 0) && (!options.y.log || y > 0));
      const spread = points.filter((p) => p[2] !== null);
      const floor = options.y.log ? low : -Infinity;
      if (spread.length > 1) plot.append(svg("path", { class: "band", fill: colour(s.i), d: "M" + spread.map((p) => `${X(p[0])},${Y(p[1] + p[2])}`).join("L") + "L" + spread.reverse().map((p) => `${X(p[0])},${Y(Math.max(p[1] - p[2], floor))}`).join("L") + "Z" }));
      plot.append(svg("path", { class: "curve", "data-name": s.name, stroke: colour(s.i), "stroke-dasharray": dash(s.i), d: "M" + points.map((p) => `${X(p[0])},${Y(p[1])}`).join("L") }));
      if (points.length === 1) plot.append(svg("circle", { cx: X(points[0][0]), cy: Y(points[0][1]), r: 3, fill: colour(s.i) }));
    }
    const guide = svg("g", {}), over = svg("rect", { x: m.l, y: m.t, width: width - m.l - m.r, height: height - m.t - m.b, fill: "transparent" });
    root.append(grid, axis, plot, guide);
    if (roomy) root.append(tags(shown, X, Y, x1, width - m.r + 8, m.t + 6, height - m.b));
    root.append(over);
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
        guide.append(svg("circle", { cx: X(s.x[best]), cy: Y(s.y[best]), r: 3.6, fill: colour(s.i) }));
        rows.push([s.y[best], s.sd ? s.sd[best] : null, s]);
      }
      rows.sort((a, b) => b[0] - a[0]);
      const table = el("table", {}, ...rows.slice(0, 14).map(([v, sd, s]) => el("tr", {}, el("td", {}, el("i", { style: `background:${colour(s.i)}` }), s.name), el("td", {}, options.y.format(v) + (sd === null ? "" : " ± " + options.y.format(sd))))));
      tip.replaceChildren(el("b", {}, words(x) + " words"), table);
      tip.hidden = false;
      const side = X(x) > width / 2;
      tip.style.left = side ? "" : X(x) + 14 + "px";
      tip.style.right = side ? width - X(x) + 14 + "px" : "";
      tip.style.top = m.t + "px";
    }
    const leave = () => { guide.replaceChildren(); tip.hidden = true; at = -1; };
    const px = (event) => ((event.clientX - root.getBoundingClientRect().left) / root.getBoundingClientRect().width) * width;
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
    });
    over.addEventListener("pointercancel", () => { start = null; leave(); });
    over.addEventListener("pointerleave", () => { if (start === null) leave(); });
    over.addEventListener("dblclick", () => options.onzoom && options.onzoom(null));
    box.tabIndex = 0;
    box.onkeydown = (event) => { const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key]; if (by) { event.preventDefault(); point(at + by); } else if (event.key === "Escape") leave(); };
    box.onblur = leave;
    box.extent = [x0, x1];
  }
  function label(text, x, y, anchor) { const made = svg("text", { x, y, "text-anchor": anchor }); made.textContent = text; return made; }
  function tags(shown, X, Y, x1, left, top, bottom) {
    const group = svg("g", {});
    const ends = shown.map((s) => { let k = -1; s.x.forEach((x, i) => { if (x <= x1 * 1.0001 && s.y[i] !== null) k = i; }); return k < 0 ? null : { s, y: Y(s.y[k]), x: X(s.x[k]) }; }).filter(Boolean).sort((a, b) => a.y - b.y);
    const gap = Math.min(14, (bottom - top) / Math.max(ends.length, 1));
    ends.forEach((e, i) => { e.at = Math.max(e.y, i ? ends[i - 1].at + gap : top); });
    for (let i = ends.length - 1; i >= 0; i--) ends[i].at = Math.min(ends[i].at, i === ends.length - 1 ? bottom : ends[i + 1].at - gap);
    for (const e of ends) {
      group.append(svg("path", { d: `M${e.x + 2},${e.y}L${left - 2},${e.at}`, stroke: colour(e.s.i), "stroke-opacity": 0.5, fill: "none" }));
      const text = label(e.s.name.length > 30 ? e.s.name.slice(0, 29) + "…" : e.s.name, left, e.at + 4, "start");
      text.setAttribute("class", "tag");
      text.style.fill = colour(e.s.i);
      group.append(text);
    }
    return group;
  }

  // ------------------------------------------------------------- learning curves
  const sets = [...new Set(D.groups.map((g) => `${g.language}/${g.set}`))];
  const names = Object.keys(D.constructions);
  const setName = (key) => { const [language, ...rest] = key.split("/"); return `${D.languages[language]}, ${rest.join("/")}`; };
  const inSet = (key) => D.groups.map((g, i) => [g, i]).filter(([g]) => `${g.language}/${g.set}` === key);
  const state = { set: (sets.find((key) => inSet(key).some(([g]) => Object.keys(g.curves).length)) || sets[0]), lines: "constructions", group: 0, construction: MEAN, off: new Set([MEAN]), xlog: false, zoom: null };
  function lines() {
    const own = inSet(state.set);
    if (state.lines === "constructions") {
      const group = D.groups[state.group];
      return [...group.constructions, MEAN].filter((c) => group.curves[c]).map((c) => line(group.curves[c], D.constructions[c], names.indexOf(c), c));
    }
    return own.filter(([g]) => g.curves[state.construction]).map(([g, i], k) => line(g.curves[state.construction], g.name, k, "group" + i));
  }
  const line = ([x, y, sd], name, i, key) => ({ x, y, sd, name, i, key });
  function drawCurves() {
    const own = inSet(state.set);
    if (!own.some(([, i]) => i === state.group)) state.group = (own.find(([g]) => Object.keys(g.curves).length) || own[0])[1];
    const controls = $("curve-controls");
    const update = (change) => (value) => { change(value); state.zoom = null; drawCurves(); };
    controls.replaceChildren(
      sets.length > 1 ? choice("language", sets.map((key) => [key, setName(key)]), state.set, update((v) => { state.set = v; }), "pick-set") : "",
      own.length > 1 ? choice("lines", [["constructions", "constructions"], ["conditions", "conditions"]], state.lines, update((v) => { state.lines = v; }), "pick-lines") : "",
      state.lines === "constructions"
        ? (own.length > 1 ? choice("condition", own.map(([g, i]) => [i, g.name]), state.group, update((v) => { state.group = +v; }), "pick-group") : "")
        : choice("construction", names.filter((c) => own.some(([g]) => g.curves[c])).map((c) => [c, D.constructions[c]]), state.construction, update((v) => { state.construction = v; }), "pick-construction"),
      el("button", { id: "xlog", "aria-pressed": String(state.xlog), onclick: () => { state.xlog = !state.xlog; state.zoom = null; drawCurves(); } }, "log words"),
      el("button", { id: "zoom-in", "aria-label": "zoom in", onclick: () => zoomBy(0.5) }, "+"),
      el("button", { id: "zoom-out", "aria-label": "zoom out", onclick: () => zoomBy(2) }, "−"),
      state.zoom ? el("button", { id: "zoom-reset", onclick: () => { state.zoom = null; drawCurves(); } }, "whole curve") : "",
    );
    const all = lines();
    const chips = $("chips");
    chips.replaceChildren(...all.map((s) => el("button", { "aria-pressed": String(!state.off.has(s.key)), "data-key": s.key, onclick: () => { state.off.has(s.key) ? state.off.delete(s.key) : state.off.add(s.key); drawCurves(); const again = chips.querySelector(`[data-key="${CSS.escape(s.key)}"]`); if (again) again.focus(); } }, sample(s.i), s.name)));
    const visible = all.filter((s) => !state.off.has(s.key));
    const onzoom = (zoom) => { state.zoom = zoom; drawCurves(); };
    const lowest = Math.min(0.4, ...visible.flatMap((s) => s.y.filter((v) => v !== null)));
    chart($("accuracy-chart"), { series: visible, y: { low: Math.floor(lowest * 10) / 10, high: 1.005, format: (v) => v.toFixed(2) }, height: 400, xlog: state.xlog, zoom: state.zoom, onzoom, chance: 0.5, tags: true, label: "accuracy against words seen" });
    const group = D.groups[state.group];
    const perplexities = state.lines === "constructions" ? (group.perplexity ? [line(group.perplexity, group.name, 6, "p")] : []) : own.filter(([g]) => g.perplexity).map(([g], k) => line(g.perplexity, g.name, k, "p" + k));
    $("perplexity-box").hidden = !perplexities.length;
    const extent = $("accuracy-chart").extent;
    chart($("perplexity-chart"), { series: perplexities, y: { log: true, format: (v) => (v >= 100 || v === Math.round(v) ? v.toFixed(0) : v.toFixed(v >= 10 ? 1 : 2)) }, height: 190, xlog: state.xlog, zoom: state.zoom || extent, onzoom, tags: true, label: "validation perplexity against words seen" });
    drawEnds(own);
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

  // ------------------------------------------------------------------ at the end
  function drawEnds(own) {
    const box = $("ends");
    const groups = own.slice(0, 7), rows = names.filter((c) => own.some(([g]) => g.estimates[c] && g.estimates[c][0] !== null));
    const width = Math.max(box.clientWidth, 260), narrow = width < 560, left = narrow ? 12 : 200, each = Math.max(15, 8 + 9 * groups.length), head = narrow ? 18 : 0;
    const height = rows.length * (each + head + 8) + 34;
    const X = (v) => left + v * (width - left - 40);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "accuracy at the end, with 95 % intervals" });
    const grid = svg("g", { class: "grid" });
    for (const v of [0, 0.25, 0.5, 0.75, 1]) grid.append(svg("line", { x1: X(v), x2: X(v), y1: 0, y2: height - 26, class: v === 0.5 ? "chance" : "" }), label(v.toFixed(2), X(v), height - 10, "middle"));
    root.append(grid);
    rows.forEach((c, r) => {
      const top = r * (each + head + 8) + 4;
      if (r) root.append(svg("line", { class: "row", x1: 0, x2: width, y1: top - 4, y2: top - 4 }));
      root.append(label(D.constructions[c], narrow ? 0 : left - 10, narrow ? top + 12 : top + each / 2 + 4, narrow ? "start" : "end"));
      groups.forEach(([g], k) => {
        const found = g.estimates[c];
        if (!found || found[0] === null) return;
        const y = top + head + ((k + 0.5) / groups.length) * each;
        if (found[2] !== null) root.append(svg("line", { x1: X(found[2]), x2: X(found[3]), y1: y, y2: y, stroke: colour(k), "stroke-width": 2.4, "stroke-opacity": 0.55 }));
        const dot = mark(k, X(found[0]), y);
        dot.append(svg("title"));
        dot.lastChild.textContent = `${g.name}: ${share(found[0])}` + (found[2] === null ? "" : ` [${share(found[2])}, ${share(found[3])}]`);
        root.append(dot);
        if (groups.length === 1) root.append(label(share(found[0]), width - 2, y + 4, "end"));
      });
    });
    box.replaceChildren(root);
    $("ends-legend").replaceChildren(...(groups.length > 1 ? groups.map(([g], k) => el("span", {}, svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14 }, mark(k, 7, 7)), " " + g.name)) : []));
  }
  function mark(k, x, y) {
    const shapes = ["M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0", "M-4,-4h8v8h-8Z", "M0,-5L5,4H-5Z", "M0,-5.5L5.5,0L0,5.5L-5.5,0Z", "M0,5L5,-4H-5Z", "M-1.5,-5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5Z", "M-4,-4L4,4M-4,4L4,-4"];
    return svg("g", { transform: `translate(${x},${y})` }, svg("path", { d: shapes[k % 7], fill: colour(k), stroke: "var(--panel)", "stroke-width": 1 }));
  }

  // ---------------------------------------------------------- sortable run table
  function sortable(table) {
    table.querySelectorAll("thead th").forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const value = (row) => { const raw = row.children[column].dataset.v; return raw === "" ? null : isNaN(raw) ? raw : +raw; };
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => {
          const x = value(a), y = value(b);
          if (x === null || y === null) return (x === null) - (y === null); // what is missing stays at the end
          const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
          return down ? -order : order;
        });
        table.tBodies[0].append(...rows);
      });
    });
  }

  // ----------------------------------------------------------- construction pages
  const loaded = {};
  function itemsOf(key) {
    if (!(key in loaded)) { const holder = document.getElementById("items:" + key); loaded[key] = holder ? JSON.parse(holder.textContent) : null; }
    return loaded[key];
  }
  function showPage() {
    const match = /^#\/(.+)\/([^/]+)$/.exec(decodeURIComponent(location.hash));
    const known = match && sets.includes(match[1]) && match[2] in D.constructions;
    $("main").hidden = !!known;
    $("page").hidden = !known;
    if (known) { construction(match[1], match[2]); window.scrollTo(0, 0); return; }
    drawCurves();
    const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (place) place.scrollIntoView(); // it could not be scrolled to while it was hidden
  }
  function construction(key, name) {
    const own = inSet(key).filter(([g]) => g.constructions.includes(name));
    const rest = [...new Set(own.flatMap(([g]) => g.constructions))], here = rest.indexOf(name);
    const link = (c, text) => el("a", { href: `#/${key}/${c}` }, text);
    const page = $("page");
    const box = el("div", { class: "chart" });
    page.replaceChildren(
      el("a", { class: "back", href: "#constructions" }, "← all of the report"),
      el("h1", {}, D.constructions[name]), el("p", { class: "lead" }, setName(key), " · ",
        here > 0 ? link(rest[here - 1], "← " + D.constructions[rest[here - 1]]) : "", here > 0 && here < rest.length - 1 ? " · " : "",
        here < rest.length - 1 ? link(rest[here + 1], D.constructions[rest[here + 1]] + " →") : ""),
      el("div", { class: "scroll" }, accuracyTable(own, name)),
      el("h3", {}, "Learning curve"), el("div", { class: "panel" }, box), el("h3", {}, "Items"), el("div", { id: "explorer" }),
    );
    let zoom = null;
    const draw = () => chart(box, { series: own.filter(([g]) => g.curves[name]).map(([g], k) => line(g.curves[name], g.name, k, g.name)), y: { low: Math.min(0.4, ...own.flatMap(([g]) => (g.curves[name] ? g.curves[name][1] : []))), high: 1.005, format: (v) => v.toFixed(2) }, height: 280, zoom, onzoom: (z) => { zoom = z; draw(); }, chance: 0.5, tags: true, label: "accuracy against words seen" });
    draw();
    page.redraw = draw;
    explorer($("explorer"), key, name, own);
  }
  function accuracyTable(own, name) {
    const parts = Object.keys(D.parts).filter((part) => own.some(([g]) => g.results.some((r) => (D.results[r].parts[name] || {})[part] !== undefined)));
    const head = el("tr", {}, ...["condition", "accuracy", "95 %", "n", ...parts.map((p) => D.parts[p])].map((text) => el("th", { scope: "col" }, text)));
    const rows = own.map(([g]) => {
      const [mean, sd, low, high, n] = g.estimates[name];
      const means = parts.map((part) => { const v = g.results.map((r) => (D.results[r].parts[name] || {})[part]).filter((x) => x !== undefined && x !== null); return v.length ? v.reduce((a, b) => a + b) / v.length : null; });
      const cell = (v, text) => (v === null ? el("td", {}, "–") : el("td", { class: "shade", style: `--a:${v}` }, text || share(v)));
      return el("tr", {}, el("th", { scope: "row" }, g.name), cell(mean, share(mean) + (sd === null ? "" : " ± " + share(sd))), el("td", {}, low === null ? "–" : `${share(low)}–${share(high)}`), el("td", {}, n.toLocaleString("en")), ...means.map((v) => cell(v)));
    });
    return el("table", { class: "grid" }, el("thead", {}, head), el("tbody", {}, ...rows));
  }

  // ---------------------------------------------------------------------- items
  function explorer(box, key, name, own) {
    const found = itemsOf(key);
    const chosen = found ? found.items.map((item, i) => [item, i]).filter(([item]) => item[0] === name) : [];
    if (!chosen.length) { box.append(el("p", { class: "note" }, "No items of this construction are at hand: their verdicts were not found.")); return; }
    const runs = own.flatMap(([g]) => g.results).filter((r) => found.traces[r]);
    const curved = runs.filter((r) => found.traces[r].at.length > 1);
    const view = { way: curved.length ? "checkpoints" : "models", run: curved[0] ?? runs[0], from: 0, to: null, a: runs[0], b: runs[runs.length > 1 ? runs.length - 1 : 0], show: "differ" };
    const rtl = own.some(([g]) => g.rtl), language = key.split("/")[0];
    const moment = (t, k) => (t.at[k] < 0 ? "end: best weights" : t.at[k] === 0 ? "untrained" : words(t.at[k]) + " words");
    const at = (r, k, i) => { const t = found.traces[r]; const good = t.good[k][i], bad = t.bad[k][i]; return good === null || bad === null ? null : [good / 100, bad / 100]; };
    function draw() {
      const t = found.traces[view.run];
      // The last probe of the sample, not the end: best weights may be older than the last.
      const last = t.at.length - 1 - (t.at[t.at.length - 1] < 0 && t.at.length > 2 ? 1 : 0);
      if (view.to === null || view.to >= t.at.length) view.to = last;
      if (view.from >= t.at.length) view.from = 0;
      const options = (list) => list.map((r) => [r, D.results[r].name]);
      const change = (field) => (value) => { view[field] = field === "way" || field === "show" ? value : +value; draw(); };
      const moments = t.at.map((_, k) => [k, moment(t, k)]);
      const controls = el("div", { class: "controls" },
        curved.length && runs.length > 1 ? choice("between", [["checkpoints", "two checkpoints of a run"], ["models", "two models"]], view.way, change("way"), "pick-way") : "",
        ...(view.way === "checkpoints"
          ? [choice("run", options(curved), view.run, change("run"), "pick-run"), choice("from", moments, view.from, change("from"), "pick-from"), choice("to", moments, view.to, change("to"), "pick-to")]
          : [choice("model", options(runs), view.a, change("a"), "pick-a"), choice("and", options(runs), view.b, change("b"), "pick-b")]),
        choice("show", [["differ", "items that differ"], ["better", "wrong, then right"], ["worse", "right, then wrong"], ["all", "all items here"]], view.show, change("show"), "pick-show"));
      const end = (r) => found.traces[r].at.length - 1;
      const one = view.way === "checkpoints" ? [view.run, view.from, moment(t, view.from)] : [view.a, end(view.a), D.results[view.a].name];
      const two = view.way === "checkpoints" ? [view.run, view.to, moment(t, view.to)] : [view.b, end(view.b), D.results[view.b].name];
      const rows = [];
      for (const [item, i] of chosen) {
        const a = at(one[0], one[1], i), b = at(two[0], two[1], i);
        if (!a || !b) continue;
        const before = a[0] - a[1], after = b[0] - b[1], flip = (after > 0) - (before > 0);
        if (view.show === "all" || (view.show === "differ" && flip) || (view.show === "better" && flip > 0) || (view.show === "worse" && flip < 0)) rows.push([item, a, b, Math.abs(after - before)]);
      }
      rows.sort((x, y) => y[3] - x[3]);
      const counted = el("p", { class: "note", id: "item-count" }, `${rows.length} of the ${chosen.length} items in this page (of ${(found.sizes[name] || 0).toLocaleString("en")} that were asked: those on which checkpoints or models disagree most). Scores are log-probabilities in nats; the tested words are underlined, the ungrammatical ones starred.`);
      box.replaceChildren(controls, counted, el("ol", { class: "items" }, ...rows.slice(0, 60).map(([item, a, b]) => card(item, [[one[2], a], [two[2], b]], rtl, language))));
    }
    draw();
  }
  function card(item, scored, rtl, language) {
    const [, before, good, bad, after, features] = item;
    const sentence = item.length > 1
      ? el("p", { class: "sentence", dir: rtl ? "rtl" : "ltr", lang: language }, before ? before + " " : "", el("mark", {}, good || "∅"), el("span", { class: "slash" }, "/"), el("s", {}, bad || "∅"), after ? (after.length < 3 ? "\u00a0" : " ") + after : "")
      : el("p", { class: "sentence" }, "(the sentence is not in these folders: the run is not finished)");
    const number = (what, value, sign = "") => el("td", { class: "num" }, el("span", { class: "lab" }, what), sign + value.toFixed(2).replace("-", "−"));
    const rows = scored.map(([who, [g, b]]) => {
      const margin = g - b, right = margin > 0 ? "right" : margin < 0 ? "wrong" : "tie";
      return el("tr", {}, el("td", { class: "who", title: who }, who), number("good ", g), number("bad ", b, "*"), number("difference ", margin, margin > 0 ? "+" : ""), el("td", { class: right }, { right: "✓ right", wrong: "✗ wrong", tie: "= tie" }[right]));
    });
    return el("li", { class: "item" }, sentence, el("table", {}, el("tbody", {}, ...rows)), features ? el("p", { class: "features" }, features) : "");
  }

  // ----------------------------------------------------------------------- begin
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
  document.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", () => copy(button)));
  window.addEventListener("hashchange", showPage);
  let wide = window.innerWidth;
  window.addEventListener("resize", () => { if (window.innerWidth !== wide) { wide = window.innerWidth; $("page").hidden ? drawCurves() : $("page").redraw && $("page").redraw(); } });
  showPage();
  document.documentElement.dataset.ready = "yes";
})();
