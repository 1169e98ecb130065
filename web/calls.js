// SPDX-License-Identifier: MIT
// The call tree as it is shown: of all threads or of some, with imports and libraries
// folded, without waiting.  What is chosen here holds for all views.

const DEEP = 20; // levels from which on libraries are folded at first
const RUN = 2 ** 21 - 1; // the function of a row that stands for several: no real one

const shown = {
    scope: "", // p and t: the row of a process or a thread; or nothing, all of them
    imports: true, // instead of the import system
    libraries: false, // a row for calls of a library inside each other
    waiting: false, // time of functions that wait
};

const calls = {
    start() {
        this.raw = { ...data.tree, parent: this.parents(data.tree.rise) };
        this.threads = new Map(); // nodes that are threads, and their rows
        for (let i = 0; i < this.raw.threads.length; i += 2)
            this.threads.set(this.raw.threads[i], this.raw.threads[i + 1]);
        shown.libraries =
            functions.some((f) => f.isOwn && f.self) && this.depth() > DEEP;
        this.waiting = functions.filter((f) => f.waits && f.self);
        this.fold();
    },
    // From how many levels above the one before it each node is; 0: it is below that.
    parents(rise) {
        const parent = new Uint32Array(rise.length);
        for (let i = 1; i < rise.length; i++) {
            let above = i - 1;
            for (let up = rise[i]; up > 0; up--) above = parent[above];
            parent[i] = above;
        }
        return parent;
    },
    depth() {
        const { parent } = this.raw,
            level = new Uint32Array(parent.length);
        return parent.reduce((most, above, i) => {
            if (i) level[i] = level[above] + !this.threads.has(i);
            return Math.max(most, level[i]);
        }, 0);
    },
    // The trees of the flame graph, and of callers and callees.
    fold() {
        const moved = this.moved();
        functions.length = functionCount;
        this.all = null;
        this.tree = this.build(shown);
        functions.forEach((f, i) => {
            if (f.isRun) return;
            f.own = f.self + moved[i];
            f.all = f.total;
            f.times = f.calls;
        });
        if (shown.scope) this.takeScope();
        this.waited = this.waiting.reduce((sum, f) => sum + f.own, 0);
        this.base = Math.max(1, this.findBase());
    },
    // What shares are of: the time in which threads worked, or all of their time.
    findBase() {
        if (shown.scope)
            return (
                this.whole.self.reduce((sum, self) => sum + self, 0) -
                (shown.waiting ? 0 : this.waited)
            );
        return shown.waiting ? data.threads_ns : data.working_ns;
    },
    // With all functions, for callers and callees.
    get whole() {
        this.all ??= this.build({ ...shown, libraries: false, waiting: true });
        return this.all;
    },
    // Self time of the import system, by the function with the import statement.
    moved() {
        const { raw } = this,
            moved = new Float64Array(functionCount),
            callers = new Int32Array(raw.parent.length).fill(-1),
            isFolded = new Uint8Array(raw.parent.length);
        for (let i = 1; i < callers.length && shown.imports; i++) {
            const above = raw.parent[i],
                index = raw.function[i];
            if (this.threads.has(i)) continue;
            isFolded[i] = this.isFolded(
                functions[index],
                callers[above] >= 0,
                isFolded[above],
            );
            callers[i] = isFolded[i] ? callers[above] : index;
            if (isFolded[i]) moved[callers[i]] += raw.self[i];
        }
        return moved;
    },
    // What imports took, and for which packages the most.  A node is outside of imports
    // (0), in the import system (1), or in the code of a module, or below it (2).
    imported() {
        const { raw } = this,
            places = new Uint8Array(raw.parent.length),
            totals = flame.sum(raw.self, raw),
            packages = new Map();
        let total = 0;
        for (let i = 1; i < places.length; i++) {
            const around = places[raw.parent[i]],
                f = functions[raw.function[i]];
            if (this.threads.has(i)) continue;
            if (around === 2 || (around === 1 && f.isModule)) places[i] = 2;
            else if (around === 1 || f.isSystem) places[i] = 1;
            if (around === 0 && places[i] === 1) total += totals[i];
            if (around !== 1 || places[i] !== 2) continue;
            const name = f.module.split(".")[0];
            packages.set(name, (packages.get(name) ?? 0) + totals[i]);
        }
        return { total, packages: [...packages].sort((a, b) => b[1] - a[1]) };
    },
    // Of each function of the project, its time with the libraries that it calls, up to
    // the next function of the project, without imports (src/analysis/own_time.h).
    ownTimes() {
        const { raw } = this,
            selves = this.selves(shown.waiting),
            owners = new Int32Array(raw.parent.length).fill(-1),
            isOut = new Uint8Array(raw.parent.length),
            times = new Float64Array(functionCount);
        for (let i = 1; i < owners.length; i++) {
            const above = raw.parent[i],
                index = raw.function[i],
                f = functions[index];
            isOut[i] = this.threads.has(i)
                ? !this.isInScope(this.threads.get(i))
                : isOut[above];
            if (this.threads.has(i) || isOut[i]) continue;
            if (f.isOwn && !f.region) {
                times[index] += selves[i];
                if (!f.isModule) owners[i] = index;
            } else if (!f.isSystem && !f.isModule && owners[above] >= 0) {
                owners[i] = owners[above];
                times[owners[i]] += selves[i];
            }
        }
        return times;
    },
    // Whether a function is folded into its caller, by whether there is one, and whether
    // the function that called it is folded as well.
    isFolded: (f, hasCaller, isBelow) =>
        shown.imports && hasCaller && (f.isSystem || (!f.file && isBelow)),
    // The numbers of functions in some threads: a recursion counts once.
    takeScope() {
        const { parent, function: index, self, calls: times } = this.whole,
            total = flame.sum(self, this.whole);
        for (const f of functions) f.own = f.all = f.times = 0;
        for (let i = 1; i < parent.length; i++) {
            const f = functions[index[i]];
            let above = parent[i];
            f.own += self[i];
            f.times += times[i];
            while (above && index[above] !== index[i]) above = parent[above];
            if (!above) f.all += total[i];
        }
    },
    isInScope(row) {
        const number = Number(shown.scope.slice(1));
        if (!shown.scope) return true;
        if (shown.scope[0] === "t") return row === number;
        return row >= 0 && data.thread_facts[row][0] === number;
    },
    // Parents have lower numbers than their children.
    build({ libraries, waiting }) {
        if (
            !this.threads.size &&
            !libraries &&
            !(shown.imports && this.hasUse("imports"))
        )
            return { ...this.raw, self: this.selves(waiting) };
        const { raw } = this,
            here = new Int32Array(raw.parent.length), // -1: it is left out
            isFolded = new Uint8Array(raw.parent.length),
            frames = new Uint32Array(raw.parent.length), // of a run, up to here
            tree = { parent: [0], function: [0], self: [0], calls: [0] },
            children = new Map(),
            runs = new Map();
        const child = (parent, index) => {
            if (parent && tree.function[parent] === index) return parent;
            const key = parent * (RUN + 1) + index;
            let node = children.get(key);
            if (node === undefined) {
                node = tree.parent.push(parent) - 1;
                tree.function.push(index);
                tree.self.push(0);
                tree.calls.push(0);
                children.set(key, node);
            }
            return node;
        };
        for (let i = 1; i < here.length; i++) {
            const above = raw.parent[i],
                caller = here[above];
            if (this.threads.has(i) || caller < 0) {
                here[i] = caller < 0 || !this.isInScope(this.threads.get(i)) ? -1 : 0;
                continue;
            }
            const index = raw.function[i],
                f = functions[index],
                self = f.waits && !waiting ? 0 : raw.self[i];
            isFolded[i] = this.isFolded(f, caller > 0, isFolded[above]);
            if (isFolded[i]) {
                here[i] = caller;
                frames[i] = frames[above];
                const to = tree.function[caller];
                if (to === RUN) this.addFrame(runs, caller, index, self, 0);
            } else if (libraries && !f.isOwn) {
                here[i] = child(caller, RUN);
                frames[i] = here[i] === caller ? frames[above] + 1 : 1;
                this.addFrame(runs, here[i], index, self, frames[i]);
            } else {
                here[i] = child(caller, index);
                tree.calls[here[i]] += raw.calls[i];
            }
            tree.self[here[i]] += self;
        }
        for (const [node, run] of runs) this.nameRun(tree, node, run);
        return tree;
    },
    selves(waiting) {
        const { self, function: index } = this.raw;
        return waiting || !this.waiting.length
            ? self
            : self.map((ns, i) => (functions[index[i]].waits ? 0 : ns));
    },
    addFrame(runs, node, index, self, count) {
        const run = runs.get(node) ?? { frames: new Map(), longest: 0 };
        run.frames.set(index, (run.frames.get(index) ?? 0) + self);
        run.longest = Math.max(run.longest, count);
        runs.set(node, run);
    },
    // A row for several functions, or the function if it is one.
    nameRun(tree, node, { frames, longest }) {
        if (frames.size === 1) {
            [tree.function[node]] = frames.keys();
            return;
        }
        const costs = new Map(),
            order = [...frames].sort((a, b) => b[1] - a[1]);
        // The import system is no library of the program's.
        for (const [index, self] of order) {
            if (functions[index].isSystem) continue;
            const name = functions[index].module.split(".")[0] || "C";
            costs.set(name, (costs.get(name) ?? 0) + self);
        }
        const names = [...costs].sort((a, b) => b[1] - a[1]).map(([name]) => name);
        const list =
            (names.slice(0, 3).join(", ") || "imports") +
            (names.length > 3 ? ", …" : "");
        const hottest =
            functions[(order.find(([i]) => !functions[i].isSystem) ?? order[0])[0]];
        tree.function[node] =
            functions.push({
                name: `[${several(longest, "frame")} in ${list}]`,
                module: hottest.module,
                file: "",
                line: 0,
                region: "",
                isRun: true,
                inner: order.map(([index]) => functions[index]),
                costs: order.slice(0, 5),
            }) - 1;
    },
    // Choose what is shown, in all views.
    choose(choice) {
        Object.assign(shown, choice);
        this.fold();
        paint();
        for (const each of Object.values(views)) each.refold?.();
        search($("search").value);
        for (const bar of document.querySelectorAll(".switches"))
            this.showSwitches(bar);
        view().draw();
    },

    // Buttons for what can be folded here.
    switches(bar, names) {
        const labels = {
            imports: ["Fold imports", "Show modules instead of the import system (i)"],
            libraries: ["Fold libraries", "One row for frames of libraries (l)"],
            waiting: ["Show waiting", "Time in functions that only wait (w)"],
        };
        const buttons = names
            .filter((name) => this.hasUse(name))
            .map((name) => {
                const [text, help] = labels[name],
                    button = element("button", text, {
                        title: help,
                        "data-name": name,
                    });
                button.onclick = () => this.choose({ [name]: !shown[name] });
                return button;
            });
        bar.classList.add("switches");
        bar.setAttribute("role", "group");
        bar.setAttribute("aria-label", "What is shown");
        bar.replaceChildren(...buttons);
        bar.hidden = !buttons.length;
        this.showSwitches(bar);
    },
    hasUse: (name) =>
        ({
            imports: functions.some((f) => f.isSystem),
            libraries:
                functions.some((f) => f.isOwn) && functions.some((f) => !f.isOwn),
            waiting: calls.waiting.length > 0,
        })[name],
    showSwitches(bar) {
        for (const button of bar.children)
            button.setAttribute("aria-pressed", String(shown[button.dataset.name]));
    },
    key(event) {
        const name = { i: "imports", l: "libraries", w: "waiting" }[event.key];
        if (!name || !this.hasUse(name)) return false;
        this.choose({ [name]: !shown[name] });
        return true;
    },

    // Processes and threads to choose from, the costliest first.
    startScopes(select) {
        const totals = flame.sum(this.selves(false), this.raw),
            hasSeveral = new Set(data.thread_facts.map((t) => t[0])).size > 1,
            option = (text, value) => element("option", text, { value });
        const rows = [...this.threads]
            .filter(([, row]) => row >= 0)
            .map(([node, row]) => ({ row, total: totals[node] }))
            .sort((a, b) => b.total - a.total);
        const processes = new Map();
        for (const { row, total } of rows) {
            const process = data.thread_facts[row][0];
            processes.set(process, (processes.get(process) ?? 0) + total);
        }
        const group = (label, options) => {
            const made = element("optgroup", undefined, { label });
            made.append(...options);
            return options.length ? [made] : [];
        };
        const ofProcess = [...processes].map(([row, total]) =>
            option(
                `${data.processes[row]?.[0]} · ${visible(data.processes[row]?.[2] ?? "")} · ${duration(total)}`,
                `p${row}`,
            ),
        );
        const ofThread = rows.map(({ row, total }) => {
            const [process, tid, name] = data.thread_facts[row],
                pid = hasSeveral ? ` · process ${data.processes[process]?.[0]}` : "";
            return option(
                `${visible(name) || `thread ${tid}`}${pid} · ${duration(total)}`,
                `t${row}`,
            );
        });
        const others = [...this.threads.values()].includes(-1);
        select.replaceChildren(
            option("All threads", ""),
            ...group("Processes", hasSeveral && !others ? ofProcess : []),
            ...group("Threads", ofThread),
        );
        select.hidden = rows.length < 2;
        select.onchange = () => this.choose({ scope: select.value });
    },
};
