// SPDX-License-Identifier: MIT
// What each thread did when: calls, steps of asyncio's tasks, pauses of the garbage
// collector, exceptions, and where events were lost.

const MARKS = 10; // pixels of the lane for what is no call
const ROWS_MAX = 40; // of a thread

const timeline = {
    canvas: $("time-canvas"),
    label: 170, // pixels for the names of threads, fewer in a narrow window
    from: 0,
    until: data.duration_ns || 1,
    lanes: [], // where each thread is
    marked: [], // what was drawn that is no call

    start() {
        this.tasks = new Map(
            data.tasks.map((task) => [`${task[0]} ${task[1]}`, visible(task[2])]),
        );
        for (const thread of data.threads) this.load(thread);
        const hidden = data.hidden_ns
            ? `Calls under ${duration(data.hidden_ns)} are not drawn; they are in the other views. `
            : "";
        $("time-note").textContent =
            `${hidden}Wheel zooms, dragging moves, a click on a name folds its thread.`;
        this.showLegend();
        this.listen();
    },
    // Calls by depth: those of one depth do not overlap, and come in order of time.
    load(thread) {
        const { slices } = thread,
            sizes = [];
        for (let i = 2; i < slices.length; i += 4)
            sizes[slices[i]] = (sizes[slices[i]] ?? 0) + 1;
        const levels = Array.from(sizes, (size = 0) => ({
            start: new Float64Array(size),
            took: new Float64Array(size),
            index: new Uint32Array(size),
            size: 0,
        }));
        for (let i = 0; i < slices.length; i += 4) {
            const level = levels[slices[i + 2]],
                n = level.size++;
            level.start[n] = slices[i];
            level.took[n] = slices[i + 1];
            level.index[n] = slices[i + 3];
        }
        thread.levels = levels;
        thread.slices = null;
        thread.isFolded = data.threads.length > 24;
        thread.hasMarks =
            thread.gc.length + thread.raises.length + thread.lost.length > 0;
        thread.title = visible(thread.name) || `thread ${thread.tid}`;
    },
    showLegend() {
        const kinds = [
            ["gc", "Garbage collection", theme.gc],
            ["raises", "Exception", theme.bad],
            ["lost", "Lost events", theme.ink],
        ];
        $("time-legend").replaceChildren(
            ...kinds
                .filter(([key]) => data.threads.some((t) => t[key].length))
                .map(([, name, fill]) => {
                    const line = element("span");
                    line.append(swatch(fill), name);
                    return line;
                }),
        );
    },

    lay() {
        let top = ROW + 6,
            pid = null;
        this.lanes = data.threads.map((thread) => {
            const isNew =
                thread.pid !== pid && new Set(data.threads.map((t) => t.pid)).size > 1;
            pid = thread.pid;
            const head = top;
            if (isNew) top += ROW;
            const begin = top,
                marks = thread.hasMarks ? MARKS : 0,
                steps = thread.steps.length ? ROW : 0;
            const rows = thread.isFolded
                ? Math.min(1, thread.levels.length)
                : Math.min(thread.levels.length, ROWS_MAX);
            top = begin + Math.max(ROW, marks + steps + rows * ROW) + 8;
            return { thread, isNew, head, begin, marks, steps, rows, end: top };
        });
        return top;
    },
    draw() {
        const height = this.lay();
        const { g, width, seen, top } = surface(this.canvas, height + ROW);
        this.label = Math.min(170, Math.round(width * 0.2));
        const scale = (width - this.label) / (this.until - this.from);
        const times = this.times(scale);
        this.marked = [];
        this.drawGrid(g, times, seen);
        g.save();
        g.translate(0, -top);
        for (const lane of this.lanes) {
            if (lane.end < top || lane.head > top + seen) continue;
            g.save();
            g.beginPath();
            g.rect(this.label, lane.begin, width - this.label, lane.end - lane.begin);
            g.clip();
            this.drawMarks(g, lane, scale);
            this.drawSteps(g, lane, scale, width);
            this.drawCalls(g, lane, scale, width);
            g.restore();
            this.drawNames(g, lane, width);
        }
        g.restore();
        this.drawRuler(g, times, width);
    },
    drawNames(g, lane, width) {
        const { thread } = lane;
        if (lane.isNew) {
            g.fillStyle = theme.panel;
            g.fillRect(0, lane.head, width, ROW - 4);
            g.fillStyle = theme.dim;
            g.fillText(
                fit(
                    g,
                    `${visible(thread.program)} · process ${thread.pid}`,
                    width - 24,
                ),
                12,
                lane.head + ROW / 2 - 2,
            );
        }
        const y = lane.begin + ROW / 2;
        g.fillStyle = theme.dim;
        if (thread.levels.length > 1) g.fillText(thread.isFolded ? "▸" : "▾", 12, y);
        g.fillStyle = theme.ink;
        g.fillText(fit(g, thread.title, this.label - 36), 26, y);
        g.strokeStyle = theme.line;
        g.lineWidth = 1;
        g.beginPath();
        g.moveTo(0, lane.end - 4.5);
        g.lineTo(width, lane.end - 4.5);
        g.stroke();
    },
    // Round times that are far enough apart, and where they are.
    times(scale) {
        const steps = 10 ** Math.floor(Math.log10((this.until - this.from) / 6)),
            times = [];
        const step =
            [1, 2, 5, 10].map((n) => n * steps).find((n) => n * scale >= 90) ||
            steps * 10;
        for (
            let time = Math.ceil(this.from / step) * step;
            time <= this.until;
            time += step
        )
            times.push([
                time,
                Math.round(this.label + (time - this.from) * scale) + 0.5,
            ]);
        return times;
    },
    drawGrid(g, times, seen) {
        g.strokeStyle = theme.line;
        g.lineWidth = 1;
        g.beginPath();
        for (const [, x] of times) {
            g.moveTo(x, 4);
            g.lineTo(x, seen);
        }
        g.stroke();
    },
    drawRuler(g, times, width) {
        g.fillStyle = theme.page;
        g.fillRect(0, 0, width, ROW);
        g.fillStyle = theme.dim;
        for (const [time, x] of times) g.fillText(duration(time), x + 4, ROW / 2);
    },
    drawMarks(g, { thread, begin, marks }, scale) {
        if (!marks) return;
        const put = (time, took, fill, lines) => {
            const x = this.label + (time - this.from) * scale,
                wide = Math.max(took * scale, 1.5);
            if (x + wide < this.label || time > this.until) return;
            g.fillStyle = fill;
            g.fillRect(x, begin, wide, marks - 2);
            this.marked.push([x - 2, begin, wide + 4, marks, lines]);
        };
        const { gc, raises, lost } = thread;
        for (let i = 0; i < gc.length; i += 3)
            put(gc[i], gc[i + 1], theme.gc, () => [
                "Garbage collection",
                `generation ${gc[i + 2]}`,
                `paused for ${duration(gc[i + 1])}`,
            ]);
        for (let i = 0; i < raises.length; i += 3)
            put(raises[i], 0, theme.bad, () => [
                visible(data.types[raises[i + 1]] ?? "exception"),
                `raised at ${duration(raises[i])}`,
            ]);
        for (let i = 0; i < lost.length; i += 2)
            put(lost[i], 0, theme.ink, () => [
                "Events were lost",
                lost[i + 1] ? count(lost[i + 1]) : "nobody knows how many",
            ]);
    },
    drawSteps(g, lane, scale, width) {
        if (!lane.steps) return;
        const { steps, pid } = lane.thread,
            y = lane.begin + lane.marks;
        let last = -1;
        for (let i = 0; i < steps.length; i += 3) {
            const x = this.label + (steps[i] - this.from) * scale,
                wide = steps[i + 1] * scale;
            if (x + wide < this.label || x > width || (wide < 1 && x < last + 0.7))
                continue;
            last = x + wide;
            const name =
                this.tasks.get(`${pid} ${steps[i + 2]}`) ?? `task ${steps[i + 2]}`;
            const left = Math.max(x, this.label),
                seen = Math.min(last, width) - left;
            g.fillStyle = theme.panel;
            g.fillRect(left, y, Math.max(seen, 1), ROW - 2);
            g.fillStyle = theme.accent;
            g.fillRect(left, y, Math.max(seen, 1), 2);
            if (seen > 24) {
                g.fillStyle = theme.ink;
                g.fillText(fit(g, name, seen - 8), left + 4, y + ROW / 2);
            }
            this.marked.push([
                left,
                y,
                seen,
                ROW - 2,
                () => [
                    name,
                    `a step of ${duration(steps[i + 1])}`,
                    `from ${duration(steps[i])} on`,
                ],
            ]);
        }
    },
    drawCalls(g, lane, scale, width) {
        for (let level = 0; level < lane.rows; level++) {
            const { start, took, index } = lane.thread.levels[level];
            const y = lane.begin + lane.marks + lane.steps + level * ROW;
            let last = -1;
            for (
                let i = this.first(start, this.from);
                i < start.length && start[i] <= this.until;
                i++
            ) {
                const x = this.label + (start[i] - this.from) * scale,
                    wide = took[i] * scale;
                if (x + wide < this.label || (wide < 1 && x < last + 0.7)) continue; // one pixel says it already
                last = x + wide;
                frame(
                    g,
                    x,
                    y,
                    Math.max(wide, 0.7),
                    index[i],
                    palette[index[i]],
                    this.label,
                    width,
                );
            }
        }
    },
    // The last that begins before a time.
    first(start, time) {
        let low = 0,
            high = start.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (start[middle] < time) low = middle + 1;
            else high = middle;
        }
        return Math.max(0, low - 1);
    },

    // What the pointer is on, as lines.
    lines(event) {
        const { x, y } = pointer(this.canvas, event);
        const mark = this.marked.findLast(
            ([left, top, w, h]) =>
                x >= left && x < left + Math.max(w, 2) && y >= top && y < top + h,
        );
        if (mark) return mark[4]();
        const lane = this.lanes.find((l) => y >= l.head && y < l.end);
        if (!lane) return null;
        const { thread } = lane;
        if (x < this.label)
            return [
                thread.title,
                `${visible(thread.program)} · process ${thread.pid}, thread ${thread.tid}`,
            ];
        const level =
            thread.levels[Math.floor((y - lane.begin - lane.marks - lane.steps) / ROW)];
        const rows = (y - lane.begin - lane.marks - lane.steps) / ROW;
        if (!level || rows < 0 || rows >= lane.rows) return null;
        const time =
            this.from +
            ((x - this.label) / (this.canvas.clientWidth - this.label)) *
                (this.until - this.from);
        const i = this.first(level.start, time + 1e-9);
        if (time < level.start[i] || time > level.start[i] + level.took[i]) return null;
        const f = functions[level.index[i]];
        return [
            title(f),
            `${f.module} · ${place(f)}`,
            `${duration(level.took[i])}, from ${duration(level.start[i])} on`,
        ];
    },
    fold(event) {
        const { x, y } = pointer(this.canvas, event),
            lane = this.lanes.find((l) => y >= l.begin && y < l.end);
        if (x >= this.label || !lane) return;
        lane.thread.isFolded = !lane.thread.isFolded;
        redraw();
    },
    listen() {
        const canvas = this.canvas;
        let held = null,
            hasMoved = false;
        canvas.addEventListener(
            "wheel",
            (event) => {
                if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                    return;
                event.preventDefault();
                const { x } = pointer(canvas, event);
                this.zoom(
                    event.deltaY > 0 ? 1.25 : 0.8,
                    Math.max(0, (x - this.label) / (canvas.clientWidth - this.label)),
                );
            },
            { passive: false },
        );
        canvas.onmousedown = (event) => {
            held = event.clientX;
            hasMoved = false;
        };
        window.addEventListener("mouseup", () => {
            held = null;
        });
        canvas.onmousemove = (event) => {
            if (held === null) {
                const lines = this.lines(event);
                canvas.style.cursor = lines ? "pointer" : "grab";
                tip(event, lines);
                return;
            }
            hasMoved ||= Math.abs(held - event.clientX) > 2;
            if (!hasMoved) return;
            this.move(
                ((held - event.clientX) / (canvas.clientWidth - this.label)) *
                    (this.until - this.from),
            );
            held = event.clientX;
        };
        canvas.onclick = (event) => {
            if (hasMoved) return;
            this.fold(event);
            $("detail").textContent = (this.lines(event) ?? []).join(" · ");
        };
        canvas.onmouseleave = (event) => tip(event, null);
        canvas.parentElement.onscroll = redraw;
    },
    zoom(factor, where) {
        const span = this.until - this.from,
            fixed = this.from + span * where;
        const next = Math.min(data.duration_ns || 1, Math.max(100, span * factor));
        this.from = fixed - next * where;
        this.until = this.from + next;
        this.move(0);
    },
    move(by) {
        const span = this.until - this.from,
            end = data.duration_ns || 1;
        this.from = Math.max(0, Math.min(end - span, this.from + by));
        this.until = this.from + span;
        redraw();
    },
    key(event) {
        const span = this.until - this.from,
            box = this.canvas.parentElement;
        const moves = {
            ArrowLeft: () => this.move(-span / 8),
            a: () => this.move(-span / 8),
            ArrowRight: () => this.move(span / 8),
            d: () => this.move(span / 8),
            "+": () => this.zoom(0.7, 0.5),
            w: () => this.zoom(0.7, 0.5),
            "=": () => this.zoom(0.7, 0.5),
            "-": () => this.zoom(1.4, 0.5),
            s: () => this.zoom(1.4, 0.5),
            ArrowUp: () => {
                box.scrollTop -= 3 * ROW;
            },
            ArrowDown: () => {
                box.scrollTop += 3 * ROW;
            },
            Escape: () => this.zoom(1e18, 0),
            Home: () => this.move(-1e18),
            End: () => this.move(1e18),
        };
        if (!moves[event.key]) return false;
        moves[event.key]();
        return true;
    },
};
