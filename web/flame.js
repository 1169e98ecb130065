// SPDX-License-Identifier: MIT
// The flame graph: the call tree, each path as wide as its time.  In a comparison, as
// wide as on one side or on both, and coloured by the difference.

const ZOOM_MS = 180;
const HOT = 6; // functions above the graph …
const OWN = 4; // … and how many of the project may come first
const OWN_LEAST = 1 / 200; // of the time: those that took less do not, but for the first

const flame = {
    canvas: $("flame-canvas"),
    root: 0, // what is zoomed to
    selected: 0,
    side: "Δ", // of a comparison: A, B, or Δ for both
    children: [], // of each node, the costliest first
    total: null,
    left: null, // where each node begins, on the scale of `total`
    level: null,
    from: 0, // what is to be seen of that scale
    until: 1,

    start() {
        this.take(isComparison ? data.tree : calls.tree);
        if (isComparison) this.startSides();
        else this.startChoices();
        this.listen();
        this.showLegend();
        this.zoom(0, false);
    },
    // Show this tree.
    take(tree) {
        const { parent } = tree,
            size = parent.length;
        this.tree = tree;
        this.level = new Uint32Array(size);
        this.children = Array.from({ length: size }, () => []);
        for (let i = 1; i < size; i++) {
            this.level[i] = this.level[parent[i]] + 1;
            this.children[parent[i]].push(i);
        }
        if (isComparison) {
            this.totals = { A: this.sum(tree.selfA), B: this.sum(tree.selfB) };
            this.totals["Δ"] = this.totals.A.map((a, i) => a + this.totals.B[i]);
            this.most = 1;
            for (let i = 1; i < size; i++)
                this.most = Math.max(this.most, Math.abs(this.delta(i)));
        } else {
            this.totals = { all: this.sum(tree.self) };
        }
        const order = this.totals["Δ"] ?? this.totals.all;
        for (const list of this.children) list.sort((a, b) => order[b] - order[a]);
        this.lay();
    },
    sum(self, { parent } = this.tree) {
        const total = Float64Array.from(self);
        for (let i = total.length - 1; i > 0; i--) total[parent[i]] += total[i];
        return total;
    },
    startChoices() {
        calls.startScopes($("scope"));
        calls.switches($("flame-switches"), ["imports", "libraries", "waiting"]);
        this.showHot();
    },
    // After another choice of what is folded.
    refold() {
        this.take(calls.tree);
        this.showHot();
        this.showLegend();
        this.zoom(0, false);
    },
    // The functions with the most self time, so that they are seen at once; before them
    // those of the project with the most time, unless they are among them.
    showHot() {
        const rows = this.longest(functions.map((f) => f.own)),
            own = this.longest(calls.ownTimes())
                .slice(0, OWN)
                .filter(([time], i) => !i || time >= calls.base * OWN_LEAST),
            has = (list, [, i]) => list.some(([, j]) => i === j);
        if (own.every((each) => has(rows.slice(0, HOT - 1), each))) own.length = 0;
        const others = rows.filter((each) => !has(own, each));
        const cards = [
            ...own.map(([time, i]) => this.card(time, i, true)),
            ...others.map(([time, i]) => this.card(time, i, false)),
        ].slice(0, HOT);
        $("hot").replaceChildren(...cards);
        $("hot").hidden = !cards.length;
    },
    longest: (times) =>
        [...times]
            .map((time, i) => [time, i])
            .filter(([time, i]) => time > 0 && table.isRow(i))
            .sort((a, b) => b[0] - a[0])
            .slice(0, HOT),
    card(time, i, isOwn) {
        const f = functions[i],
            help = isOwn ? "with the libraries that it calls" : "self time",
            card = element("button", undefined, {
                class: isOwn ? "card own" : "card",
                title: `${f.module}:${f.name}, ${place(f)}: ${help}`,
            }),
            bar = element("i", undefined, { class: "bar-of" });
        bar.style.width = `${Math.min(100, (100 * time) / calls.base)}%`;
        bar.style.background = palette[i];
        card.append(
            bar,
            element("b", title(f)),
            ...(isOwn ? [element("em", "your code")] : []),
            element("span", `${percent(time, calls.base)} · ${duration(time)}`),
            element("small", nearPlace(f)),
        );
        card.onclick = () => func.show(i);
        return card;
    },
    // The position of every node, for the chosen widths.
    lay() {
        this.total = isComparison ? this.totals[this.side] : this.totals.all;
        this.left = new Float64Array(this.total.length);
        for (let node = 0; node < this.total.length; node++) {
            let x = this.left[node];
            for (const child of this.children[node]) {
                this.left[child] = x;
                x += this.total[child];
            }
        }
    },
    delta(node) {
        return this.totals.B[node] - this.totals.A[node];
    },
    fill(node) {
        if (isComparison) return heat(this.delta(node) / this.most);
        return palette[this.tree.function[node]] ?? theme.line;
    },

    startSides() {
        const names = {
            A: `A  ${data.sides[0]}`,
            B: `B  ${data.sides[1]}`,
            Δ: "Difference",
        };
        const buttons = Object.entries(names).map(([side, name]) => {
            const button = element("button", visible(name), { "data-side": side });
            button.onclick = () => this.choose(side);
            return button;
        });
        $("sides").replaceChildren(...buttons);
        $("sides").hidden = false;
        this.choose(this.side);
    },
    choose(side) {
        this.side = side;
        for (const button of $("sides").children)
            button.setAttribute("aria-pressed", String(button.dataset.side === side));
        if (!this.left) return;
        this.lay();
        // A node that this side does not have: go up to one that it has.
        while (this.root && !this.total[this.root])
            this.root = this.tree.parent[this.root];
        this.zoom(this.root, false);
    },
    showLegend() {
        if (isComparison) {
            const ramp = element("i", undefined, { class: "ramp" });
            const stops = [-1, -0.5, -0.1, 0, 0.1, 0.5, 1].map(heat).join(",");
            ramp.style.background = `linear-gradient(90deg, ${stops})`;
            const line = element("span", "faster");
            line.append(ramp, "slower");
            $("legend").replaceChildren(line);
            return;
        }
        const region = element("button", undefined, { title: "Search regions" });
        region.append(swatch(theme.region), "region");
        region.onclick = () => seek("^region:");
        $("legend").replaceChildren(
            ...(functions.some((f) => f.isRegion) ? [region] : []),
            ...this.packages()
                .slice(0, 8)
                .map((name) => {
                    const button = element("button", undefined, {
                        title: `Search ${name}`,
                    });
                    button.append(swatch(colour(name)), name || "?");
                    button.onclick = () => seek(`^${literally(name)}[.:]`);
                    return button;
                }),
        );
    },

    // The packages that took the most time of what is shown.
    packages() {
        const costs = new Map();
        this.tree.function.forEach((index, node) => {
            const { isRegion, module } = functions[index],
                name = module.split(".")[0];
            if (node && !isRegion)
                costs.set(name, (costs.get(name) ?? 0) + this.tree.self[node]);
        });
        return [...costs]
            .filter(([, cost]) => cost > 0)
            .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
            .map(([name]) => name);
    },

    // Time of the outermost frames that match, so that nothing counts twice.
    matched() {
        let sum = 0;
        const stack = [0];
        while (stack.length) {
            const node = stack.pop();
            if (node && matches[this.tree.function[node]]) sum += this.total[node];
            else for (const child of this.children[node]) stack.push(child);
        }
        return sum;
    },
    path(node) {
        const path = [];
        for (; node; node = this.tree.parent[node]) path.unshift(node);
        return path;
    },

    draw() {
        const span = this.until - this.from || 1;
        const { g, width, seen, top } = surface(this.canvas, (this.deepest + 2) * ROW);
        const scale = width / span;
        let deepest = 0;
        // Not recursive: a tree may be deeper than the stack of JavaScript.
        const todo = [0];
        while (todo.length) {
            const node = todo.pop(),
                y = this.level[node] * ROW - top;
            const x = (this.left[node] - this.from) * scale,
                wide = this.total[node] * scale;
            if (this.level[node] > deepest) deepest = this.level[node];
            if (y > -ROW && y < seen) this.box(g, node, x, y, wide, width);
            for (const child of this.children[node]) {
                const start = (this.left[child] - this.from) * scale,
                    w = this.total[child] * scale;
                if (w < MIN) {
                    if (isComparison) continue;
                    break; // they are sorted: the rest is narrower
                }
                if (start > width) break;
                if (start + w > 0) todo.push(child);
            }
        }
        if (deepest !== this.deepest) {
            this.deepest = deepest;
            stretch(this.canvas, (deepest + 2) * ROW);
        }
    },
    deepest: 0,
    box(g, node, x, y, wide, width) {
        if (node) {
            frame(g, x, y, wide, this.tree.function[node], this.fill(node), 0, width);
        } else {
            g.fillStyle = theme.panel;
            g.fillRect(0, y, width, ROW - 1);
            g.fillStyle = theme.ink;
            g.fillText(this.lines(0).join(" · "), 4, y + ROW / 2);
        }
        if (node === this.selected) {
            const left = Math.max(0, x);
            outline(g, left, y, Math.min(width, x + wide) - left);
        }
    },
    at(event) {
        const { x, y } = pointer(this.canvas, event),
            row = Math.floor(y / ROW);
        const time =
            this.from + ((this.until - this.from) * x) / this.canvas.clientWidth;
        let node = 0;
        while (node >= 0 && this.level[node] < row)
            node =
                this.children[node].find(
                    (c) => time >= this.left[c] && time < this.left[c] + this.total[c],
                ) ?? -1;
        return node;
    },
    lines(node) {
        if (!node && !isComparison)
            return [
                $("scope").selectedOptions[0]?.text ?? "all",
                `${duration(this.total[0])} in functions`,
                calls.waited > calls.base / 1000 && !shown.waiting
                    ? `without ${duration(calls.waited)} of waiting`
                    : "",
            ].filter(Boolean);
        const f = functions[this.tree.function[node]];
        const head = node ? [title(f), origin(f)] : ["all"];
        if (isComparison) {
            const { A, B } = this.totals,
                { selfA, selfB, callsA, callsB } = this.tree;
            const sides = (a, b) => `${duration(a[node])} → ${duration(b[node])}`,
                delta = signed(this.delta(node)),
                calls = several(callsB[node], "call");
            return [
                ...head,
                `${sides(A, B)}: ${delta}, ${growth(A[node], B[node], " %")}`,
                node ? `self ${sides(selfA, selfB)}` : "",
                node ? `${count(callsA[node])} → ${calls}` : "",
            ].filter(Boolean);
        }
        const share = percent(this.total[node], this.total[0]);
        return [
            ...head,
            `total ${duration(this.total[node])} (${share})`,
            `self ${duration(this.tree.self[node])}`,
            ...(f.isRun ? this.runLines(f) : [several(this.tree.calls[node], "call")]),
        ];
    },
    // What took the most time of the frames that a row stands for.
    runLines: ({ costs }) =>
        costs
            .filter(([, self]) => self)
            .map(([index, self]) => `${duration(self)} in ${title(functions[index])}`)
            .concat("l shows all frames"),
    statusTexts() {
        return this.lines(this.selected);
    },
    select(node) {
        this.selected = node;
        $("detail").textContent = this.statusTexts().join(" · ");
        const box = this.canvas.parentElement,
            y = this.level[node] * ROW;
        if (y < box.scrollTop) box.scrollTop = y;
        if (y + ROW > box.scrollTop + box.clientHeight)
            box.scrollTop = y + ROW - box.clientHeight;
        redraw();
    },
    zoom(node, isSmooth = true) {
        this.root = node;
        const crumbs = [0, ...this.path(node)].map((step) => {
            const button = element(
                "button",
                step ? title(functions[this.tree.function[step]]) : "all",
            );
            button.onclick = () => this.zoom(step);
            return button;
        });
        const shown =
            crumbs.length > 6 ? [crumbs[0], "…", ...crumbs.slice(-4)] : crumbs;
        $("crumbs").replaceChildren(...shown.flatMap((c, i) => (i ? [" › ", c] : [c])));
        const goal = [this.left[node], this.left[node] + this.total[node]];
        this.go(
            goal,
            isSmooth && !matchMedia("(prefers-reduced-motion: reduce)").matches,
        );
        this.select(node);
    },
    // Move there in a few frames.
    go(goal, isSmooth) {
        const begin = [this.from, this.until],
            start = performance.now();
        this.goal = goal;
        const step = (now) => {
            if (this.goal !== goal) return;
            const part = isSmooth
                ? Math.min(1, Math.max(0, (now - start) / ZOOM_MS))
                : 1;
            const eased = 1 - (1 - part) ** 3;
            this.from = begin[0] + (goal[0] - begin[0]) * eased;
            this.until = begin[1] + (goal[1] - begin[1]) * eased;
            redraw();
            if (part < 1) requestAnimationFrame(step);
        };
        step(start);
    },
    choosable(node) {
        return node && !isComparison && !functions[this.tree.function[node]].isRun;
    },
    key(event) {
        const { parent } = this.tree,
            node = this.selected;
        const siblings = node
            ? this.children[parent[node]].filter((n) => this.total[n] > 0)
            : [0];
        const beside = (by) =>
            siblings[
                Math.max(0, Math.min(siblings.length - 1, siblings.indexOf(node) + by))
            ] ?? node;
        const below = this.children[node].find((n) => this.total[n] > 0);
        const moves = {
            ArrowUp: () => node && this.select(parent[node]),
            ArrowDown: () => below !== undefined && this.select(below),
            ArrowLeft: () => this.select(beside(-1)),
            ArrowRight: () => this.select(beside(1)),
            Enter: () => this.zoom(node),
            Escape: () => this.zoom(this.root ? parent[this.root] : 0),
            Home: () => this.zoom(0),
            c: () => this.choosable(node) && func.show(this.tree.function[node]),
        };
        if (isComparison)
            Object.assign(moves, {
                a: () => this.choose("A"),
                b: () => this.choose("B"),
                d: () => this.choose("Δ"),
            });
        if (!moves[event.key]) return false;
        moves[event.key]();
        return true;
    },
    listen() {
        const canvas = this.canvas;
        canvas.onmousemove = (event) => {
            const node = this.at(event);
            canvas.style.cursor = node < 0 ? "default" : "pointer";
            tip(event, node < 0 ? null : this.lines(node));
        };
        canvas.onmouseleave = (event) => tip(event, null);
        canvas.onclick = (event) => {
            const node = this.at(event);
            if (node >= 0) this.zoom(node);
        };
        canvas.ondblclick = (event) => {
            if (this.choosable(this.selected))
                func.show(this.tree.function[this.selected]);
            tip(event, null);
        };
        canvas.parentElement.onscroll = redraw;
    },
};
