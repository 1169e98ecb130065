// SPDX-License-Identifier: MIT
// One function: its callers above it and its callees below, as wide as their part of its
// time; its numbers, and its source.

const LEAST = 1 / 4000; // of the function's time: what takes less is not shown
const NEIGHBOURS = 40; // rows of a table of callers or callees

const func = {
    canvas: $("func-canvas"),
    index: -1,
    past: [], // functions before it
    boxes: [], // { index, level, left, total, self, calls, around }: 0 is the function
    selected: 0,

    start() {
        this.listen();
        this.index = Math.max(0, this.hottest());
    },
    hottest(isWanted = () => true) {
        let best = -1;
        for (let i = 0; i < functionCount; i++) {
            if (!isWanted(i) || !table.isRow(i)) continue;
            if (best < 0 || functions[i].own > functions[best].own) best = i;
        }
        return best;
    },
    refold() {
        this.isPlaced = false;
    },
    show(index, isBack = false) {
        if (!isBack && index !== this.index) this.past.push(this.index);
        this.index = index;
        this.isPlaced = false;
        open("func");
        this.canvas.focus({ preventScroll: true });
    },
    // The costliest function that the search finds.
    showMatch() {
        const index = matches ? this.hottest((i) => matches[i]) : -1;
        if (index >= 0) this.show(index);
    },
    back() {
        if (this.past.length) this.show(this.past.pop(), true);
    },
    take() {
        if (!functions[this.index]) return;
        this.selected = 0;
        this.lay();
        this.showHead();
        this.showNeighbours();
        source.show(this.index);
        // The function itself is in the middle, or further up where all of it fits.
        const box = this.canvas.parentElement;
        surface(this.canvas, this.height());
        box.scrollTop = this.y(this.boxes[0]) - box.clientHeight / 2;
        this.isPlaced = true;
    },

    // The outermost calls of the function, as nodes of the tree.
    outermost() {
        const { parent, function: index } = calls.whole,
            isInside = new Uint8Array(parent.length),
            found = [];
        for (let i = 1; i < parent.length; i++) {
            const isOne = index[i] === this.index;
            if (isOne && !isInside[parent[i]]) found.push(i);
            isInside[i] = isOne || isInside[parent[i]];
        }
        return found;
    },
    // Callers and callees as trees of boxes that are added up.
    lay() {
        const tree = calls.whole,
            total = flame.sum(tree.self, tree),
            found = this.outermost();
        const root = this.box(this.index);
        const below = new Map([[0, []]]); // children of nodes
        const isWanted = new Uint8Array(total.length);
        for (const node of found) isWanted[node] = 1;
        for (let i = 1; i < total.length; i++)
            if (
                isWanted[tree.parent[i]] ||
                (below.has(tree.parent[i]) && tree.parent[i])
            ) {
                isWanted[i] = 1;
                const list = below.get(tree.parent[i]);
                if (list) list.push(i);
                else below.set(tree.parent[i], [i]);
            }
        for (const node of found) {
            root.total += total[node];
            root.self += tree.self[node];
            root.calls += tree.calls[node];
            this.addCallers(root, tree, node, total[node]);
        }
        this.least = root.total * LEAST;
        this.addCallees(root, tree, found, below, total);
        this.boxes = [root];
        this.place(root.callers, root, -1);
        this.place(root.callees, root, 1);
        this.above = this.boxes.reduce((most, box) => Math.max(most, -box.level), 0);
        this.under = this.boxes.reduce((most, box) => Math.max(most, box.level), 0);
    },
    box: (index) => ({
        index,
        level: 0,
        left: 0,
        total: 0,
        self: 0,
        calls: 0,
        callers: new Map(),
        callees: new Map(),
    }),
    inside(map, index) {
        if (!map.has(index)) map.set(index, this.box(index));
        return map.get(index);
    },
    addCallers(root, tree, node, total) {
        let at = root;
        for (let i = tree.parent[node]; i; i = tree.parent[i]) {
            at = this.inside(at.callers, tree.function[i]);
            at.total += total;
            if (at.calls === 0 || i === tree.parent[node]) at.calls += tree.calls[node];
        }
    },
    // Not recursive: a tree may be deeper than the stack of JavaScript.
    addCallees(root, tree, found, below, total) {
        const todo = found.map((node) => [node, root]);
        while (todo.length) {
            const [node, box] = todo.pop();
            for (const child of below.get(node) ?? []) {
                const at = this.inside(box.callees, tree.function[child]);
                at.total += total[child];
                at.self += tree.self[child];
                at.calls += tree.calls[child];
                todo.push([child, at]);
            }
        }
    },
    // Positions of what is wide enough to be seen.
    place(map, around, step) {
        const todo = [[map, around]];
        while (todo.length) {
            const [inner, outer] = todo.pop();
            let x = outer.left;
            for (const box of this.ordered(inner)) {
                box.level = outer.level + step;
                box.left = x;
                box.around = outer;
                x += box.total;
                this.boxes.push(box);
                todo.push([step < 0 ? box.callers : box.callees, box]);
            }
        }
    },
    ordered(map) {
        return [...map.values()]
            .filter((box) => box.total > this.least)
            .sort((a, b) => b.total - a.total);
    },

    draw() {
        if (!this.isPlaced) this.take(); // it was not visible before
        if (!this.boxes.length) return;
        const { g, width, seen, top } = surface(this.canvas, this.height());
        const [root] = this.boxes,
            scale = width / (root.total || 1);
        for (const box of this.boxes) {
            const y = this.y(box) - top;
            if (y < -ROW || y > seen) continue;
            const x = box.left * scale,
                wide = box.total * scale;
            if (box === root) {
                g.fillStyle = theme.accent;
                g.fillRect(0, y - 2, width, ROW + 3);
            }
            if (wide >= MIN || box === root)
                frame(
                    g,
                    x,
                    y,
                    box === root ? width : wide,
                    box.index,
                    palette[box.index],
                    0,
                    width,
                );
        }
        const chosen = this.boxes[this.selected];
        if (this.selected)
            outline(g, chosen.left * scale, this.y(chosen) - top, chosen.total * scale);
    },
    height() {
        return (this.above + this.under + 1) * ROW + 12;
    },
    y(box) {
        const gap = box.level > 0 ? 8 : box.level === 0 ? 4 : 0;
        return (this.above + box.level) * ROW + gap;
    },
    at(event) {
        const { x, y } = pointer(this.canvas, event),
            [root] = this.boxes,
            time = (x / this.canvas.clientWidth) * root.total;
        return this.boxes.findIndex((box) => {
            const top = this.y(box);
            const isRow = y >= top && y < top + ROW;
            return isRow && time >= box.left && time < box.left + (box.total || 1);
        });
    },
    lines(number) {
        const box = this.boxes[number],
            f = functions[box.index],
            [root] = this.boxes,
            share = percent(box.total, root.total);
        if (!number) return [title(f), origin(f), `total ${duration(box.total)}`];
        return [
            title(f),
            origin(f),
            box.level < 0
                ? `${duration(box.total)} (${share}) of ${title(functions[root.index])} is below it`
                : `total ${duration(box.total)} (${share}), self ${duration(box.self)}`,
            box.level > 0 ? several(box.calls, "call") : "",
        ].filter(Boolean);
    },
    statusTexts() {
        return this.boxes.length ? this.lines(this.selected) : [];
    },
    select(number) {
        this.selected = Math.max(0, number);
        $("detail").textContent = this.statusTexts().join(" · ");
        const pane = this.canvas.parentElement,
            y = this.y(this.boxes[this.selected]);
        if (y < pane.scrollTop) pane.scrollTop = y;
        if (y + ROW > pane.scrollTop + pane.clientHeight)
            pane.scrollTop = y + ROW - pane.clientHeight;
        redraw();
    },

    // The name, where it is, and its numbers.
    showHead() {
        const f = functions[this.index],
            back = element("button", "←", {
                title: "The function before (Backspace)",
                "aria-label": "Back",
            }),
            flames = element("button", "Show in flame graph", { class: "plain" });
        back.onclick = () => this.back();
        back.disabled = !this.past.length;
        flames.onclick = () => table.show(this.index);
        const name = element("h2");
        name.append(swatch(palette[this.index]), title(f));
        const where = element("p", origin(f), { class: "note" });
        $("func-title").replaceChildren(back, name, where, flames);
        const facts = [
            ["Self", duration(f.own), percent(f.own, calls.base)],
            ["Total", duration(f.all), ""],
            ["Calls", count(f.times), f.resumes ? `${count(f.resumes)} resumed` : ""],
            ...(shown.scope ? [] : this.timesOf(f)),
            ...(f.raised ? [["Raised", count(f.raised), ""]] : []),
        ];
        $("func-facts").replaceChildren(
            ...facts.map(([label, value, more]) => {
                const fact = element("div");
                fact.append(element("dt", label), element("dd", value));
                if (more) fact.append(element("small", more));
                return fact;
            }),
        );
    },
    timesOf: (f) =>
        [
            ["Mean", f.mean],
            ["≈p50", f.p50],
            ["≈p99", f.p99],
            ["Longest", f.max],
        ]
            .filter(([, ns]) => ns)
            .map(([label, ns]) => [label, duration(ns), ""]),
    // Tables of the functions beside it, to walk on from.
    showNeighbours() {
        const [root] = this.boxes;
        const rows = (map) =>
            [...map.values()].sort((a, b) => b.total - a.total).slice(0, NEIGHBOURS);
        $("func-callers").replaceChildren(
            ...this.list(
                "Called by",
                rows(root.callers),
                root.total,
                "nothing recorded",
            ),
        );
        $("func-callees").replaceChildren(
            ...this.list(
                "Calls",
                rows(root.callees),
                root.total,
                "nothing recorded",
                root,
            ),
        );
    },
    list(heading, rows, whole, nothing, root) {
        const body = element("ul");
        const line = (text, total, open_) => {
            const row = element("li"),
                bar = element("i", undefined, { class: "bar-of" }),
                name = open_
                    ? element("button", text, { class: "link" })
                    : element("em", text);
            bar.style.width = `${Math.min(100, (100 * total) / (whole || 1))}%`;
            if (open_) name.onclick = open_;
            row.append(
                bar,
                name,
                element("span", `${duration(total)} · ${percent(total, whole)}`),
            );
            return row;
        };
        if (root && rows.length) body.append(line("its own code", root.self));
        for (const box of rows)
            body.append(
                line(title(functions[box.index]), box.total, () =>
                    this.show(box.index),
                ),
            );
        return [
            element("h3", heading),
            rows.length ? body : element("p", nothing, { class: "note" }),
        ];
    },

    // To a box beside, above or below the selected one.
    step(key) {
        const box = this.boxes[this.selected],
            down = key === "ArrowDown" ? 1 : -1,
            number = (found) => (found ? this.boxes.indexOf(found) : this.selected);
        if (key === "ArrowUp" || key === "ArrowDown") {
            if (box.level * down < 0) return number(box.around);
            const inner = this.ordered(down > 0 ? box.callees : box.callers);
            return number(inner[0]);
        }
        if (!box.around) return this.selected;
        const beside = this.ordered(
                box.level < 0 ? box.around.callers : box.around.callees,
            ),
            at = beside.indexOf(box) + (key === "ArrowLeft" ? -1 : 1);
        return number(beside[Math.max(0, Math.min(beside.length - 1, at))]);
    },
    key(event) {
        const moves = {
            Enter: () => this.selected && this.show(this.boxes[this.selected].index),
            Escape: () => this.back(),
            Backspace: () => this.back(),
            f: () => table.show(this.index),
        };
        for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"])
            moves[key] = () => this.select(this.step(key));
        if (!moves[event.key]) return false;
        moves[event.key]();
        return true;
    },
    listen() {
        const { canvas } = this;
        canvas.onmousemove = (event) => {
            const number = this.at(event);
            canvas.style.cursor = number > 0 ? "pointer" : "default";
            tip(event, number < 0 ? null : this.lines(number));
        };
        canvas.onmouseleave = (event) => tip(event, null);
        canvas.onclick = (event) => {
            const number = this.at(event);
            tip(event, null);
            if (number > 0) this.show(this.boxes[number].index);
        };
        canvas.parentElement.onscroll = redraw;
    },
};
