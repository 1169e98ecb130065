// SPDX-License-Identifier: MIT
// A sortable table of all functions; in a comparison, with both sides.

const HEIGHT = 24; // pixels of a row
const NARROW = 1000; // pixels of a window

// Extra columns are hidden in a narrow window, and rare ones before them.
// Times of single calls are those of all threads.
const ofCalls = (key, label, isExtra) => ({
    key,
    label,
    isExtra,
    show: (f) => (f[key] && !shown.scope ? duration(f[key]) : ""),
});
const ownColumns = [
    { key: "own", label: "Self", show: (f) => duration(f.own), share: true },
    {
        key: "share",
        isExtra: true,
        label: "%",
        show: (f) => percent(f.own, calls.base).replace(" %", ""),
        sort: "own",
    },
    { key: "all", label: "Total", show: (f) => duration(f.all) },
    { key: "times", label: "Calls", show: (f) => count(f.times) },
    {
        key: "resumes",
        isRare: true,
        label: "Resumed",
        show: (f) => (f.resumes ? count(f.resumes) : ""),
    },
    {
        key: "raised",
        isRare: true,
        label: "Raised",
        show: (f) => (f.raised ? count(f.raised) : ""),
    },
    ofCalls("mean", "Mean", true),
    ofCalls("p50", "≈p50", true),
    ofCalls("p99", "≈p99", false),
    ofCalls("max", "Max", true),
];

// Differences that are not significant are dimmed.
const tone = (by, f) =>
    (by > 0 ? "slower" : by < 0 ? "faster" : "") +
    (data.has_chance && f.chance >= 0.05 ? " chance" : "");
const comparedColumns = [
    {
        key: "selfDelta",
        label: "ΔSelf",
        show: (f) => signed(f.selfDelta),
        tone: (f) => tone(f.selfDelta, f),
        size: true,
    },
    {
        key: "selfGrowth",
        label: "%",
        show: (f) => growth(f.selfA, f.selfB),
        tone: (f) => tone(f.selfDelta, f),
    },
    {
        key: "chance",
        isExtra: true,
        label: "Chance",
        show: (f) =>
            f.chance < 0.001
                ? "<0.001 *"
                : `${f.chance.toFixed(3)}${f.chance < 0.05 ? " *" : ""}`,
        only: "has_chance",
    },
    {
        key: "selfA",
        isExtra: true,
        label: "Self A",
        show: (f) => (f.selfA ? duration(f.selfA) : "–"),
    },
    {
        key: "selfB",
        isExtra: true,
        label: "Self B",
        show: (f) => (f.selfB ? duration(f.selfB) : "–"),
    },
    {
        key: "totalDelta",
        isExtra: true,
        label: "ΔTotal",
        show: (f) => signed(f.totalDelta),
        tone: (f) => (f.totalDelta > 0 ? "slower" : "faster"),
        size: true,
    },
    {
        key: "totalA",
        isExtra: true,
        label: "Total A",
        show: (f) => (f.totalA ? duration(f.totalA) : "–"),
    },
    {
        key: "totalB",
        isExtra: true,
        label: "Total B",
        show: (f) => (f.totalB ? duration(f.totalB) : "–"),
    },
    { key: "callsA", label: "Calls A", show: (f) => count(f.callsA) },
    { key: "callsB", label: "Calls B", show: (f) => count(f.callsB) },
];
const names = [
    { key: "name", label: "Function", show: title, isText: true },
    {
        key: "place",
        label: "Where",
        show: (f) => (window.innerWidth < NARROW ? nearPlace(f) : f.place),
        isText: true,
        isDim: true,
    },
];

const table = {
    columns: [
        ...(isComparison ? comparedColumns : ownColumns).filter(
            (c) => !c.only || data[c.only],
        ),
        ...names,
    ],
    sort: null, // a column
    isUp: false,
    rows: [],
    selected: -1,

    start() {
        for (const f of functions) {
            f.place = place(f);
            f.selfGrowth = f.selfA ? f.selfDelta / f.selfA : Infinity;
        }
        // No column for values that no function has.
        this.columns = this.columns.filter(
            ({ key }) =>
                !["resumes", "raised"].includes(key) || functions.some((f) => f[key]),
        );
        this.sort = this.columns[0];
        const heads = this.columns.map((column) => {
            const th = element("th", undefined, {
                    class: this.kind(column),
                    scope: "col",
                }),
                button = element("button");
            button.onclick = () => {
                this.isUp = this.sort === column ? !this.isUp : Boolean(column.isText);
                this.sort = column;
                this.refresh();
                redraw();
            };
            th.append(button);
            return th;
        });
        $("columns").replaceChildren(...heads);
        $("rows").onscroll = redraw;
        $("table-bar").hidden = isComparison;
        if (!isComparison) {
            calls.switches($("table-switches"), ["imports", "waiting"]);
            this.showNote();
        }
        this.refresh();
    },
    refold() {
        this.showNote();
    },
    importText() {
        this.imported ??= calls.imported();
        const { total, packages } = this.imported,
            most = packages.slice(0, 3).map(([name, ns]) => `${name} ${duration(ns)}`),
            list = most.join(", ") + (packages.length > 3 ? ", …" : "");
        return `Imports: ${duration(total)} (${percent(total, calls.base)}): ${list}.`;
    },
    // What is left out, and of what the percentages are.
    showNote() {
        const scope = $("scope").selectedOptions[0]?.text,
            whose = shown.scope ? scope : "the time of all threads",
            waiting = several(calls.waiting.length, "function");
        const parts = [
            `% is of ${whose}${calls.waited && !shown.waiting ? " at work" : ""}.`,
        ];
        if (calls.waited && !shown.waiting)
            parts.push(`Waiting: ${duration(calls.waited)} in ${waiting}.`);
        if (!shown.scope && calls.hasUse("imports")) parts.push(this.importText());
        $("table-note").textContent = parts.join(" ");
    },
    kind: ({ isText, isDim, isExtra, isRare }) =>
        [isText && "text", isDim && "dim", isExtra && "extra", isRare && "rare"]
            .filter(Boolean)
            .join(" "),
    isShown(index) {
        if (matches && !matches[index]) return false;
        return isComparison ? !functions[index].hidden : this.isRow(index);
    },
    // What is folded or waits has no row.
    isRow(index) {
        const f = functions[index];
        if (f.isRun || (f.isSystem && shown.imports)) return false;
        if (f.waits && !shown.waiting) return false;
        return Boolean(f.times || f.all || (f.resumes && !shown.scope));
    },
    refresh() {
        const { key: own, sort, size } = this.sort,
            key = sort ?? own,
            sign = this.isUp ? 1 : -1;
        const value = size ? (f) => Math.abs(f[key]) : (f) => f[key];
        this.rows = functions.map((f, i) => i).filter((i) => this.isShown(i));
        this.rows.sort((a, b) => {
            const x = value(functions[a]),
                y = value(functions[b]);
            return (
                sign *
                    (typeof x === "string"
                        ? x.localeCompare(y)
                        : x === y
                          ? 0
                          : x - y) || a - b
            );
        });
        [...$("columns").children].forEach((th, i) => {
            const isSorted = this.columns[i] === this.sort,
                mark = isSorted ? (this.isUp ? " ▴" : " ▾") : "";
            th.setAttribute(
                "aria-sort",
                isSorted ? (this.isUp ? "ascending" : "descending") : "none",
            );
            th.firstChild.textContent = this.columns[i].label + mark;
        });
        this.selected = Math.min(this.selected, this.rows.length - 1);
        // Only some rows exist, and the first are the headings.
        $("functions").setAttribute("aria-rowcount", this.rows.length + 1);
    },
    // Only the visible rows exist.
    draw() {
        const box = $("rows");
        const first = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 10);
        const last = Math.min(
            this.rows.length,
            first + Math.ceil(box.clientHeight / HEIGHT) + 20,
        );
        const space = (rows) => {
            const tr = element("tr", undefined, { "aria-hidden": "true" }),
                td = element("td", undefined, { colspan: this.columns.length });
            td.style.height = `${rows * HEIGHT}px`;
            td.style.padding = 0;
            tr.append(td);
            return tr;
        };
        const rows = this.rows
            .slice(first, last)
            .map((index, i) => this.row(index, first + i));
        $("body").replaceChildren(
            space(first),
            ...rows,
            space(this.rows.length - last),
        );
    },
    row(index, number) {
        const tr = element("tr", undefined, {
            class: number === this.selected ? "selected" : "",
            "aria-rowindex": number + 2,
            "aria-selected": String(number === this.selected),
        });
        const f = functions[index];
        for (const column of this.columns) {
            const td = element("td"),
                text = column.show(f);
            if (column.share) {
                const bar = element("span", undefined, { class: "share" });
                const part = f.own / calls.base;
                bar.style.width = `${Math.min(80, 80 * part)}px`;
                td.append(bar);
            }
            if (column.key === "name") td.append(swatch(palette[index]));
            td.append(text);
            td.className = `${this.kind(column)} ${column.tone?.(f) ?? ""}`;
            if (column.isText)
                td.title = column.isDim
                    ? f.file
                        ? `${f.file}:${f.line}`
                        : text
                    : `${f.module}:${f.name}`;
            tr.append(td);
        }
        tr.onclick = () => this.select(number);
        tr.ondblclick = () => this.choose(index);
        return tr;
    },
    select(row) {
        if (!this.rows.length) return;
        this.selected = Math.max(0, Math.min(this.rows.length - 1, row));
        const f = functions[this.rows[this.selected]];
        $("detail").textContent = [
            title(f),
            f.module,
            f.file ? `${f.file}:${f.line}` : "C",
            isComparison
                ? "Enter or double click: show it in the flame graph"
                : "Enter or double click: callers, callees, source · f: flame graph",
        ].join(" · ");
        const box = $("rows"),
            y = this.selected * HEIGHT;
        if (y < box.scrollTop) box.scrollTop = y;
        if (y + 3 * HEIGHT > box.scrollTop + box.clientHeight)
            box.scrollTop = y + 3 * HEIGHT - box.clientHeight;
        redraw();
    },
    choose(index) {
        if (isComparison) this.show(index);
        else func.show(index);
    },
    // The same function in the flame graph.
    show(index) {
        seek(exactly(functions[index]));
        open("flame");
    },
    key(event) {
        const page = Math.max(1, Math.floor($("rows").clientHeight / HEIGHT) - 2);
        const moves = {
            ArrowUp: () => this.select(this.selected - 1),
            ArrowDown: () => this.select(this.selected + 1),
            PageUp: () => this.select(this.selected - page),
            PageDown: () => this.select(this.selected + page),
            Home: () => this.select(0),
            End: () => this.select(this.rows.length - 1),
            Enter: () =>
                this.rows[this.selected] !== undefined &&
                this.choose(this.rows[this.selected]),
            f: () =>
                this.rows[this.selected] !== undefined &&
                this.show(this.rows[this.selected]),
        };
        if (!moves[event.key]) return false;
        moves[event.key]();
        return true;
    },
};
