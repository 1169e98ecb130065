// SPDX-License-Identifier: MIT
// Shared by all views of the page: data, names, colours.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const isComparison = Boolean(data.sides);

// Characters that control, turn or hide text, as in src/base/text.c, and bytes that are
// not UTF-8 are shown as codes.
const unsafe =
    /[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;
const visible = (text) =>
    text.replace(unsafe, (c) => {
        const code = c.codePointAt(0).toString(16);
        if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
        return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
    });

// Regions: blocks, and decorated functions under the name of their region.
const regions = new Map(data.tags ?? []);
const functions = data.functions.map((row, i) => {
    const [name, module, file, line, ...facts] = row,
        isRegion = file === "<cunei region>";
    const f = {
        name: visible(name),
        module: isRegion ? "region" : visible(module),
        file: isRegion ? "" : visible(file),
        line,
        isRegion,
        region: isRegion ? visible(name) : visible(regions.get(i) ?? ""),
    };
    if (isComparison) {
        [f.callsA, f.callsB, f.selfA, f.selfB, f.totalA, f.totalB, f.chance, f.hidden] =
            facts;
        f.selfDelta = f.selfB - f.selfA;
        f.totalDelta = f.totalB - f.totalA;
        f.self = f.selfA + f.selfB;
    } else {
        let kind;
        [f.calls, f.resumes, f.self, f.total, f.mean, f.max, f.raised] = facts;
        [f.p50, f.p99, kind] = facts.slice(7);
        // As src/export/html/html.c writes them.
        f.waits = Boolean(kind & 1);
        f.isSystem = Boolean(kind & 2); // of imports
        f.isModule = Boolean(kind & 4); // the code of one that is imported
        f.isOwn = Boolean(kind & 8) || isRegion;
    }
    return f;
});

// Behind these are rows of several that are folded.
const functionCount = functions.length;

function duration(ns) {
    for (const [size, unit] of [
        [1e9, "s"],
        [1e6, "ms"],
        [1e3, "µs"],
    ])
        if (Math.abs(ns) >= size) return `${shortest(ns / size)} ${unit}`;
    return `${Math.round(ns)} ns`;
}
// A time, with digits for a precision of `step`.
function moment(ns, step) {
    const [size, unit] = [
        [1e9, "s"],
        [1e6, "ms"],
        [1e3, "µs"],
    ].find(([least]) => Math.abs(ns) >= least) ?? [1, "ns"];
    const digits = Math.ceil(Math.log10(size / step) - 1e-9);
    return `${(ns / size).toFixed(Math.max(0, Math.min(9, digits)))} ${unit}`;
}
// Three digits, and all digits before the point.
const shortest = (n) => (Math.abs(n) >= 100 ? n.toFixed(0) : n.toPrecision(3));
const signed = (ns) =>
    ns > 0 ? `+${duration(ns)}` : ns < 0 ? `−${duration(-ns)}` : "±0";
const count = (n) =>
    n.toLocaleString("en", { maximumFractionDigits: 1 }).replaceAll(",", "\u2009");
const several = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
const percent = (part, whole) =>
    whole ? `${((100 * part) / whole).toFixed(1)} %` : "";
const title = (f) =>
    f.name !== "<module>" || f.module === "__main__"
        ? f.name
        : f.isModule && shown.imports
          ? `import ${f.module}`
          : `<module ${f.module}>`;

// Growth in percent or as a factor; new or gone on one side.
function growth(before, after, unit = "") {
    if (!before && !after) return "";
    if (!before || !after) return after ? "new" : "gone";
    const by = (100 * (after - before)) / before;
    return by >= 1000
        ? `×${(after / before).toFixed(0)}`
        : `${by < 0 ? "−" : "+"}${Math.abs(by).toFixed(1)}${unit}`;
}

// Files without the program's or the library's folder.
const known = /^.*\/(?:site-packages|dist-packages|lib(?:64)?\/python3\.\d+t?)\//;
const folder = (() => {
    const own = functions
        .map((f) => f.file)
        .filter((file) => file.startsWith("/") && !known.test(file));
    if (data.directory && own.some((file) => file.startsWith(`${data.directory}/`)))
        return `${data.directory}/`;
    let common = own.length ? own[0].slice(0, own[0].lastIndexOf("/") + 1) : "";
    for (const file of own)
        while (!file.startsWith(common))
            common = common.slice(0, common.lastIndexOf("/", common.length - 2) + 1);
    return common.length > 1 ? common : "";
})();
function short(file) {
    if (folder && file.startsWith(folder)) return file.slice(folder.length);
    return file.replace(known, "").replace(/^<frozen (.*)>$/, "$1");
}
const at = (file, line) => (line ? `${short(file)}:${line}` : short(file));
const place = (f) =>
    f.file ? at(f.file, f.line) : f.module && !f.isRegion ? `${f.module} (C)` : "";
// The same where there is little room: the folder says less than the line.
const nearPlace = (f) => {
    const parts = place(f).split("/");
    return parts.slice(parts.at(-1).startsWith("__init__") ? -2 : -1).join("/");
};
// The line under a name.
const origin = (f) =>
    [f.isRegion ? "region" : f.module, place(f)].filter(Boolean).join(" · ") +
    (f.region && f.region !== f.name ? ` · region ${f.region}` : "");

// A pattern that matches this text alone.
const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// A hue for each package, the costliest first and as far apart as they can be; modules
// of a package are a bit lighter or darker.
const hues = new Map();
const shades = new Map();
{
    const costs = new Map();
    for (const f of functions) {
        if (f.isRegion) continue;
        const name = f.module.split(".")[0];
        costs.set(name, (costs.get(name) ?? 0) + f.self);
    }
    [...costs]
        .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
        .forEach(([name], i) => hues.set(name, (32 + i * 137.508) % 360));
}
for (const f of functions)
    if (!shades.has(f.module)) shades.set(f.module, ((shades.size * 5) % 11) - 5);

const isDark = () => document.documentElement.dataset.theme === "dark";
function colour(module) {
    const hue = (hues.get(module.split(".")[0]) ?? 0).toFixed(0),
        shade = shades.get(module) ?? 0;
    return isDark()
        ? `hsl(${hue} 42% ${36 + shade}%)`
        : `hsl(${hue} 62% ${79 + shade}%)`;
}

// Red is slower, blue is faster; `part` goes from -1 to 1.
function heat(part) {
    const size = Math.min(1, Math.abs(part)) ** 0.6;
    const hue = part > 0 ? 8 : 214;
    if (isDark())
        return `hsl(${hue} ${Math.round(size * 62)}% ${Math.round(27 + size * 17)}%)`;
    return `hsl(${hue} ${Math.round(20 + size * 65)}% ${Math.round(92 - size * 30)}%)`;
}

// The theme's colours, read once: reading them takes longer than drawing.
const theme = {};
let palette = [];
function paint() {
    const style = getComputedStyle(document.documentElement);
    for (const name of [
        "page",
        "ink",
        "dim",
        "line",
        "panel",
        "accent",
        "hit",
        "gc",
        "bad",
        "region",
        "region-fill",
    ])
        theme[name] = style.getPropertyValue(`--${name}`).trim();
    palette = functions.map((f) =>
        f.isRegion ? theme["region-fill"] : colour(f.module),
    );
}

function element(name, text, attributes = {}) {
    const made = document.createElement(name);
    if (text !== undefined) made.append(text);
    for (const [key, value] of Object.entries(attributes))
        made.setAttribute(key, value);
    return made;
}
function swatch(fill) {
    const box = element("i", undefined, { class: "swatch" });
    box.style.background = fill;
    return box;
}

// The search: which functions match, or null.
let matches = null;
function search(text) {
    matches = null;
    if (text) {
        let test;
        try {
            const expression = new RegExp(text, "i");
            test = (s) => expression.test(s);
        } catch {
            test = (s) => s.toLowerCase().includes(text.toLowerCase());
        }
        const isFound = (f) => test(`${f.module}:${f.name}`) || test(f.file);
        matches = functions.map(isFound);
        // What is folded into a row is found by its own names.
        functions.forEach(
            (f, i) => (matches[i] = f.inner?.some(isFound) ?? matches[i]),
        );
    }
    const found = matches ? matches.slice(0, functionCount).filter(Boolean).length : 0;
    $("found").value = matches
        ? `${several(found, "function")} · ${percent(flame.matched(), flame.total[0])}`
        : "";
    table.refresh();
    redraw();
}
// An expression that matches this function alone.
const exactly = (f) => `^${literally(`${f.module}:${f.name}`)}$`;
function seek(text) {
    $("search").value = text;
    search(text);
}
