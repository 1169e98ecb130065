// SPDX-License-Identifier: MIT
// The page of `cunei export --to html`: flame graph, table and timeline of one recording.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const ROW = 20; // pixels of a frame
const LABEL = 160; // pixels for the names of threads
const MIN = 0.4; // pixels: what is narrower is drawn with its neighbours

// What functions are: parallel arrays, by index.
const functions = data.functions.map((row) => ({
  name: row[0], module: row[1], file: row[2], line: row[3],
  calls: row[4], resumes: row[5], self: row[6], total: row[7], max: row[8],
}));

function duration(ns) {
  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];
  for (const [size, unit] of units)
    if (ns >= size) return `${(ns / size).toPrecision(ns / size >= 100 ? 3 : 3)} ${unit}`;
  return `${Math.round(ns)} ns`;
}
const count = (n) => n.toLocaleString("en").replaceAll(",", " ");
const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "");
const title = (f) => (f.name === "<module>" ? `<module ${f.module}>` : f.name);
const place = (f) => (f.file ? `${f.file}:${f.line}` : f.module);

// Colours: a hue for each module, chosen by its package first so that relatives look alike.
const hues = new Map();
function hue(module) {
  if (!hues.has(module)) {
    const hash = (text) => {
      let value = 2166136261;
      for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
      return value >>> 0;
    };
    hues.set(module, (hash(module.split(".")[0]) + (hash(module) % 24)) % 360);
  }
  return hues.get(module);
}
const isDark = () => document.documentElement.dataset.theme === "dark";
let palette = [];
function paint() {
  const dark = isDark();
  palette = functions.map((f) => `hsl(${hue(f.module)} ${dark ? "38% 34%" : "58% 78%"})`);
}
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The search: which functions match.
let matches = null;
function search(text) {
  if (!text) {
    matches = null;
  } else {
    let test;
    try {
      const expression = new RegExp(text, "i");
      test = (s) => expression.test(s);
    } catch {
      test = (s) => s.toLowerCase().includes(text.toLowerCase());
    }
    matches = functions.map((f) => test(`${f.module}:${f.name}`) || test(f.file));
  }
  $("found").value = matches ? percent(flame.matched(), flame.total[0]) : "";
  table.refresh();
  view().draw();
}

// A canvas that is as sharp as the screen.
function context(canvas, height) {
  const width = canvas.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
  canvas.style.height = `${height}px`;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.font = "12px system-ui, sans-serif";
  g.textBaseline = "middle";
  return [g, width];
}

// The text that fits, by a guess at first so that few texts are measured.
function fit(g, text, width) {
  if (width < 24) return "";
  let size = Math.min(text.length, Math.ceil(width / 3));
  if (size === text.length && g.measureText(text).width <= width) return text;
  while (size > 1 && g.measureText(`${text.slice(0, size)}…`).width > width)
    size = Math.min(size - 1, Math.floor(size * 0.92));
  return size > 1 ? `${text.slice(0, size)}…` : "";
}

function frame(g, x, y, width, index, isSelected, isFaint) {
  const hit = matches && matches[index];
  g.globalAlpha = isFaint || (matches && !hit) ? 0.35 : 1;
  g.fillStyle = palette[index] ?? style("--line");
  g.fillRect(x, y, Math.max(width - 0.5, MIN), ROW - 1);
  if (hit) {
    g.fillStyle = style("--hit");
    g.fillRect(x, y + ROW - 4, Math.max(width - 0.5, MIN), 3);
  }
  if (width >= 24) {
    g.fillStyle = style("--ink");
    g.fillText(fit(g, title(functions[index]), width - 8), x + 4, y + ROW / 2);
  }
  g.globalAlpha = 1;
  if (isSelected) {
    g.strokeStyle = style("--accent");
    g.lineWidth = 2;
    g.strokeRect(x + 1, y + 1, Math.max(width - 2.5, 1), ROW - 3);
  }
}

function tip(event, lines) {
  const box = $("tip");
  box.hidden = !lines;
  if (!lines) return;
  box.replaceChildren(...lines.map((text, i) => {
    const line = document.createElement(i ? "span" : "b");
    line.textContent = text;
    return line;
  }));
  const { innerWidth: w, innerHeight: h } = window;
  box.style.left = `${Math.min(event.clientX + 14, w - box.offsetWidth - 8)}px`;
  box.style.top = `${event.clientY + 18 + box.offsetHeight > h ? event.clientY - box.offsetHeight - 10 : event.clientY + 18}px`;
}

const flame = {
  canvas: $("flame-canvas"),
  root: 0, // what is zoomed to
  selected: 0,
  children: [], // of each node, the costliest first
  total: null,
  depth: 0,
  boxes: [], // what was drawn: node, x, y, width

  load() {
    const { parent, self } = data.tree, size = parent.length;
    this.total = Float64Array.from(self);
    for (let i = size - 1; i > 0; i--) this.total[parent[i]] += this.total[i];
    this.children = Array.from({ length: size }, () => []);
    for (let i = 1; i < size; i++) this.children[parent[i]].push(i);
    for (const list of this.children) list.sort((a, b) => this.total[b] - this.total[a]);
  },
  name(node) { return node ? title(functions[data.tree.function[node]]) : "all"; },
  // Time below the outermost frames that match: each stretch counts once.
  matched() {
    let sum = 0;
    const stack = [0];
    while (stack.length) {
      const node = stack.pop();
      if (node && matches[data.tree.function[node]]) sum += this.total[node];
      else stack.push(...this.children[node]);
    }
    return sum;
  },
  path(node) {
    const path = [];
    for (; node; node = data.tree.parent[node]) path.unshift(node);
    return path;
  },
  draw() {
    const above = this.path(this.root), scale0 = this.total[this.root] || 1;
    let [g, width] = context(this.canvas, Math.max((this.depth + 1) * ROW, 100));
    this.boxes = [];
    let deepest = 0;
    g.clearRect(0, 0, width, this.canvas.height);
    // A stack of its own: a recursion may be deeper than JavaScript's.
    const todo = [[this.root, 0, above.length ? above.length : 0]];
    above.slice(0, -1).forEach((node, i) => this.box(g, node, 0, (i + 1) * ROW, width, true));
    this.root && this.box(g, 0, 0, 0, width, true);
    while (todo.length) {
      const [node, x, level] = todo.pop();
      const w = (this.total[node] / scale0) * width;
      this.box(g, node, x, level * ROW, w, false);
      deepest = Math.max(deepest, level);
      let at = x;
      for (const child of this.children[node]) {
        const wide = (this.total[child] / scale0) * width;
        if (wide >= MIN) todo.push([child, at, level + 1]);
        at += wide;
        if (wide < MIN) break; // they are sorted: the rest is narrower
      }
    }
    if (deepest !== this.depth) {
      this.depth = deepest;
      this.draw();
    }
  },
  box(g, node, x, y, width, isFaint) {
    this.boxes.push([node, x, y, width]);
    if (node) {
      frame(g, x, y, width, data.tree.function[node], node === this.selected, isFaint);
      return;
    }
    g.fillStyle = style("--panel");
    g.fillRect(x, y, width, ROW - 1);
    g.fillStyle = style("--ink");
    g.fillText(`all · ${duration(this.total[0])}`, x + 4, y + ROW / 2);
    if (this.selected === 0) {
      g.strokeStyle = style("--accent");
      g.strokeRect(x + 1, y + 1, width - 2, ROW - 3);
    }
  },
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const found = this.boxes.findLast(([, left, top, w]) =>
      x >= left && x < left + Math.max(w, 1) && y >= top && y < top + ROW);
    return found ? found[0] : -1;
  },
  lines(node) {
    if (!node) return ["all", duration(this.total[0])];
    const f = functions[data.tree.function[node]];
    return [title(f), `${f.module} · ${place(f)}`,
      `${duration(this.total[node])} here, ${percent(this.total[node], this.total[0])} of all`,
      `${duration(data.tree.self[node])} of it in itself`,
      `${count(data.tree.calls[node])} calls`];
  },
  select(node) {
    this.selected = node;
    $("detail").textContent = this.lines(node).join(" · ");
    this.draw();
  },
  zoom(node) {
    this.root = node;
    const crumbs = [0, ...this.path(node)].map((step) => {
      const button = document.createElement("button");
      button.textContent = this.name(step);
      button.onclick = () => this.zoom(step);
      return button;
    });
    $("crumbs").replaceChildren(...crumbs.flatMap((c, i) => (i ? [" › ", c] : [c])));
    this.select(node);
    this.canvas.parentElement.scrollTop = Math.max(0, (this.path(node).length - 3) * ROW);
  },
  key(event) {
    const { parent } = data.tree, node = this.selected;
    const siblings = node ? this.children[parent[node]] : [0];
    const moves = {
      ArrowUp: () => node && this.select(parent[node]),
      ArrowDown: () => this.children[node].length && this.select(this.children[node][0]),
      ArrowLeft: () => this.select(siblings[Math.max(0, siblings.indexOf(node) - 1)]),
      ArrowRight: () => this.select(siblings[Math.min(siblings.length - 1, siblings.indexOf(node) + 1)]),
      Enter: () => this.zoom(node),
      Escape: () => this.zoom(this.root ? parent[this.root] : 0),
      Home: () => this.zoom(0),
    };
    if (!moves[event.key]) return false;
    moves[event.key]();
    return true;
  },
  start() {
    this.load();
    this.canvas.onmousemove = (event) => {
      const node = this.at(event);
      this.canvas.style.cursor = node < 0 ? "default" : "pointer";
      tip(event, node < 0 ? null : this.lines(node));
    };
    this.canvas.onmouseleave = (event) => tip(event, null);
    this.canvas.onclick = (event) => {
      const node = this.at(event);
      if (node >= 0) this.zoom(node);
    };
    this.zoom(0);
  },
};

const table = {
  columns: [
    ["self", "Self", (f) => duration(f.self)],
    ["total", "Total", (f) => duration(f.total)],
    ["calls", "Calls", (f) => count(f.calls)],
    ["resumes", "Resumed", (f) => (f.resumes ? count(f.resumes) : "")],
    ["mean", "Mean", (f) => (f.calls ? duration(f.mean) : "")],
    ["max", "Max", (f) => duration(f.max)],
    ["name", "Function", (f) => title(f)],
    ["file", "Where", (f) => place(f)],
  ],
  sort: "self",
  isUp: false,
  rows: [],
  selected: -1,

  start() {
    for (const f of functions) f.mean = f.total / (f.calls + f.resumes || 1);
    const heads = this.columns.map(([key, label]) => {
      const th = document.createElement("th"), button = document.createElement("button");
      if (key === "name" || key === "file") th.className = "text";
      button.onclick = () => {
        this.isUp = this.sort === key ? !this.isUp : th.className === "text";
        this.sort = key;
        this.refresh();
        this.draw();
      };
      button.dataset.label = label;
      th.dataset.key = key;
      th.append(button);
      return th;
    });
    $("columns").replaceChildren(...heads);
    $("rows").onscroll = () => this.draw();
    this.refresh();
  },
  refresh() {
    const key = this.sort, sign = this.isUp ? 1 : -1;
    this.rows = functions.map((f, i) => i)
      .filter((i) => (!matches || matches[i]) && (functions[i].calls || functions[i].resumes || functions[i].total));
    this.rows.sort((a, b) => {
      const x = functions[a][key], y = functions[b][key];
      return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
    });
    for (const th of $("columns").children) {
      const isSorted = th.dataset.key === key;
      th.ariaSort = isSorted ? (this.isUp ? "ascending" : "descending") : "none";
      th.firstChild.textContent = th.firstChild.dataset.label + (isSorted ? (this.isUp ? " ▴" : " ▾") : "");
    }
  },
  // Only the rows that are to be seen are there.
  draw() {
    const box = $("rows"), height = 24;
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 10);
    const last = Math.min(this.rows.length, first + Math.ceil(box.clientHeight / height) + 20);
    const space = (rows) => {
      const tr = document.createElement("tr"), td = document.createElement("td");
      td.colSpan = this.columns.length;
      td.style.height = `${rows * height}px`;
      td.style.padding = 0;
      tr.append(td);
      return tr;
    };
    const whole = data.duration_ns || 1;
    const rows = this.rows.slice(first, last).map((index, i) => {
      const tr = document.createElement("tr"), f = functions[index];
      if (first + i === this.selected) tr.className = "selected";
      for (const [key, , show] of this.columns) {
        const td = document.createElement("td");
        if (key === "self") {
          const bar = document.createElement("span");
          bar.className = "bar";
          bar.style.width = `${Math.min(80, (80 * f.self) / whole)}px`;
          td.append(bar);
        }
        td.append(show(f));
        if (key === "name" || key === "file") td.className = `text ${key === "file" ? "place" : ""}`;
        if (td.className) td.title = td.textContent;
        tr.append(td);
      }
      tr.onclick = () => { this.select(first + i); };
      tr.ondblclick = () => this.show(index);
      return tr;
    });
    $("body").replaceChildren(space(first), ...rows, space(this.rows.length - last));
  },
  select(row) {
    this.selected = Math.max(0, Math.min(this.rows.length - 1, row));
    const f = functions[this.rows[this.selected]];
    if (f) $("detail").textContent = `${title(f)} · ${f.module} · ${place(f)} · ${percent(f.self, data.duration_ns)} in itself`;
    const box = $("rows"), y = this.selected * 24;
    if (y < box.scrollTop) box.scrollTop = y;
    if (y + 72 > box.scrollTop + box.clientHeight) box.scrollTop = y + 72 - box.clientHeight;
    this.draw();
  },
  // The same function in the flame graph.
  show(index) {
    const f = functions[index];
    $("search").value = `^${`${f.module}:${f.name}`.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`;
    search($("search").value);
    open("flame");
  },
  key(event) {
    const moves = {
      ArrowUp: () => this.select(this.selected - 1),
      ArrowDown: () => this.select(this.selected + 1),
      PageUp: () => this.select(this.selected - 20),
      PageDown: () => this.select(this.selected + 20),
      Home: () => this.select(0),
      End: () => this.select(this.rows.length - 1),
      Enter: () => this.rows[this.selected] !== undefined && this.show(this.rows[this.selected]),
    };
    if (!moves[event.key]) return false;
    moves[event.key]();
    return true;
  },
};

const timeline = {
  canvas: $("time-canvas"),
  from: 0,
  until: data.duration_ns || 1,
  boxes: [],

  start() {
    for (const thread of data.threads) {
      thread.depth = 0;
      for (let i = 2; i < thread.slices.length; i += 4) thread.depth = Math.max(thread.depth, thread.slices[i] + 1);
      thread.rows = Math.max(1, Math.min(thread.depth, 40));
    }
    $("time-note").textContent = data.hidden_ns
      ? `Calls shorter than ${duration(data.hidden_ns)} are not drawn; they are in the flame graph and the table.`
      : "Every call is drawn. Wheel or + and − zoom, drag or ← and → move.";
    const canvas = this.canvas;
    canvas.addEventListener("wheel", (event) => {
      if (event.shiftKey) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      const at = Math.max(0, (event.clientX - box.left - LABEL) / (box.width - LABEL));
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, at);
    }, { passive: false });
    let held = null;
    canvas.onmousedown = (event) => { held = event.clientX; };
    window.addEventListener("mouseup", () => { held = null; });
    canvas.onmousemove = (event) => {
      if (held !== null) {
        this.move(((held - event.clientX) / (canvas.clientWidth - LABEL)) * (this.until - this.from));
        held = event.clientX;
        return;
      }
      const found = this.at(event);
      tip(event, found && this.lines(found));
    };
    canvas.onmouseleave = (event) => tip(event, null);
  },
  lines([, , , , index, start, took]) {
    const f = functions[index];
    return [title(f), `${f.module} · ${place(f)}`, `${duration(took)}, from ${duration(start)} on`];
  },
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    return this.boxes.findLast(([left, top, w]) => x >= left && x < left + Math.max(w, 1) && y >= top && y < top + ROW);
  },
  zoom(factor, at) {
    const span = this.until - this.from, fixed = this.from + span * at;
    const next = Math.min(data.duration_ns || 1, Math.max(100, span * factor));
    this.from = fixed - next * at;
    this.until = this.from + next;
    this.move(0);
  },
  move(by) {
    const span = this.until - this.from, end = data.duration_ns || 1;
    this.from = Math.max(0, Math.min(end - span, this.from + by));
    this.until = this.from + span;
    this.draw();
  },
  draw() {
    const rows = data.threads.reduce((sum, thread) => sum + thread.rows + 1, 1);
    const [g, width] = context(this.canvas, rows * ROW + ROW);
    const span = this.until - this.from, scale = (width - LABEL) / span;
    this.boxes = [];
    g.clearRect(0, 0, width, rows * ROW + ROW);
    this.ruler(g, width, span, scale);
    let top = ROW + 4;
    let pid = null;
    for (const thread of data.threads) {
      g.save();
      g.beginPath();
      g.rect(LABEL, top, width - LABEL, thread.rows * ROW);
      g.clip();
      this.slices(g, thread, top, scale);
      g.restore();
      g.fillStyle = style("--ink");
      const label = thread.name || `thread ${thread.tid}`;
      g.fillText(fit(g, label, LABEL - 24), 12, top + ROW / 2);
      g.fillStyle = style("--dim");
      if (thread.rows > 1 || thread.pid !== pid)
        g.fillText(fit(g, `${thread.program} ${thread.pid}`, LABEL - 24), 12, top + ROW * 1.5);
      pid = thread.pid;
      top += (thread.rows + 1) * ROW;
    }
  },
  ruler(g, width, span, scale) {
    const steps = 10 ** Math.floor(Math.log10(span / 6));
    const step = [1, 2, 5, 10].map((n) => n * steps).find((n) => n * scale >= 90) || steps * 10;
    g.strokeStyle = style("--line");
    g.fillStyle = style("--dim");
    for (let time = Math.ceil(this.from / step) * step; time <= this.until; time += step) {
      const x = LABEL + (time - this.from) * scale;
      g.beginPath();
      g.moveTo(x, 0);
      g.lineTo(x, this.canvas.height);
      g.stroke();
      g.fillText(duration(time), x + 4, ROW / 2);
    }
  },
  slices(g, thread, top, scale) {
    const { slices } = thread;
    const ends = new Float64Array(thread.rows).fill(-1); // the last pixel of each row
    for (let i = 0; i < slices.length; i += 4) {
      const start = slices[i], took = slices[i + 1], level = slices[i + 2], index = slices[i + 3];
      if (level >= thread.rows || start > this.until || start + took < this.from) continue;
      const x = LABEL + (start - this.from) * scale, w = took * scale;
      if (w < 1 && x < ends[level] + 0.7) continue; // one pixel says it already
      ends[level] = x + w;
      const left = Math.max(x, LABEL);
      const wide = Math.min(x + w, g.canvas.width) - left;
      frame(g, left, top + level * ROW, wide, index, false, false);
      this.boxes.push([left, top + level * ROW, wide, 0, index, start, took]);
    }
  },
  key(event) {
    const span = this.until - this.from;
    const moves = {
      ArrowLeft: () => this.move(-span / 8), a: () => this.move(-span / 8),
      ArrowRight: () => this.move(span / 8), d: () => this.move(span / 8),
      "+": () => this.zoom(0.7, 0.5), w: () => this.zoom(0.7, 0.5),
      "-": () => this.zoom(1.4, 0.5), s: () => this.zoom(1.4, 0.5),
      Escape: () => this.zoom(1e18, 0), Home: () => this.move(-1e18), End: () => this.move(1e18),
    };
    if (!moves[event.key]) return false;
    moves[event.key]();
    return true;
  },
};

const views = { flame, table, time: timeline };
let current = "flame";
const view = () => views[current];
function open(name) {
  current = name;
  for (const key of Object.keys(views)) {
    $(key).hidden = key !== name;
    $(`tab-${key}`).ariaSelected = String(key === name);
    $(`tab-${key}`).setAttribute("aria-selected", String(key === name));
  }
  view().draw();
  history.replaceState(null, "", `#${name}`);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  paint();
  view().draw();
}

function start() {
  $("program").textContent = data.program;
  document.title = `${data.program} · cunei`;
  $("facts").textContent = data.facts;
  for (const key of Object.keys(views)) $(`tab-${key}`).onclick = () => open(key);
  $("search").oninput = (event) => search(event.target.value);
  $("theme").onclick = () => setTheme(isDark() ? "light" : "dark");
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  paint();
  for (const each of Object.values(views)) each.start();
  open(views[location.hash.slice(1)] ? location.hash.slice(1) : "flame");
  window.onresize = () => view().draw();
  document.onkeydown = (event) => {
    if (event.target === $("search")) {
      if (event.key === "Escape") { event.target.value = ""; search(""); event.target.blur(); }
      if (event.key === "Enter") event.target.blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const names = Object.keys(views);
    if (event.key === "/") $("search").focus();
    else if (event.key >= "1" && event.key <= String(names.length)) open(names[event.key - 1]);
    else if (event.key === "t") setTheme(isDark() ? "light" : "dark");
    else if (!view().key(event)) return;
    event.preventDefault();
  };
}

start();
