// SPDX-License-Identifier: MIT
// The timeline of each thread: calls, task steps, garbage collections, exceptions,
// marks and lost events; counters are in counters.js.

const MARKS = 10; // pixels of the lane for what is no call
const LEVELS_OPEN = 8; // of a thread that is neither folded nor whole

const timeline = {
    canvas: $("time-canvas"),
    label: 170, // pixels for the names of threads, fewer in a narrow window
    begin: data.begin_ns, // since the trace's first event
    end: data.begin_ns + (data.duration_ns || 1),
    from: 0, // what is to be seen of it
    until: 1,
    lanes: [], // where each thread is
    marked: [], // what was drawn that is no call
    selected: null, // { lane, level, i }: a call, or at level -1 a thread or its `mark`

    start() {
        [this.from, this.until] = [this.begin, this.end];
        this.hasSeveral = new Set(data.threads.map((t) => t.pid)).size > 1;
        this.tasks = new Map(
            data.tasks.map((task) => [`${task[0]} ${task[1]}`, visible(task[2])]),
        );
        this.sortThreads();
        for (const thread of data.threads) this.load(thread);
        $("time-note").textContent = this.notes().join(" ");
        this.loadCounters();
        calls.switches($("time-switches"), ["imports"]);
        this.showLegend();
        this.listen();
        this.startOverview();
    },
    notes() {
        const notes = [],
            left = data.threads.reduce((sum, thread) => sum + thread.left_out, 0);
        if (data.hidden_ns)
            notes.push(
                `Calls shorter than ${duration(data.hidden_ns)} are thinned here.`,
            );
        if (left)
            notes.push(`${several(left, "mark")} not shown, too close to others.`);
        if (data.uncharted)
            notes.push(`${several(data.uncharted, "counter event")} hidden.`);
        notes.push("Wheel: zoom. Drag: move. Click on a name: fold the thread.");
        return notes;
    },
    // Processes come in the order of their starts, the threads of each by its files.
    sortThreads() {
        let process = 0;
        data.threads.forEach((thread, i) => {
            if (i > 0 && thread.pid !== data.threads[i - 1].pid) process++;
            thread.process = process;
        });
        data.threads.sort((a, b) => a.process - b.process || a.start - b.start);
    },
    // Where each call is drawn: with folded imports, calls inside of the import system
    // are further up, and its own are not drawn (-1).
    depthsOf(slices) {
        const count = slices.length / 4,
            depths = new Int32Array(count);
        for (let i = 0; i < count; i++) depths[i] = slices[4 * i + 2];
        if (!shown.imports || !calls.hasUse("imports")) return depths;
        const order = Uint32Array.from({ length: count }, (_, i) => i).sort(
            (a, b) =>
                slices[4 * a] - slices[4 * b] || slices[4 * a + 2] - slices[4 * b + 2],
        );
        const open = []; // calls around the next one
        for (const i of order) {
            const [start, took, depth, index] = slices.subarray(4 * i, 4 * i + 4);
            while (
                open.length &&
                (open.at(-1).depth >= depth || open.at(-1).end < start)
            )
                open.pop();
            const around = open.at(-1) ?? { hidden: 0, isFolded: false },
                f = functions[index],
                isFolded =
                    depth > around.hidden &&
                    (f.isSystem || (!f.file && around.isFolded));
            depths[i] = isFolded ? -1 : depth - around.hidden;
            const hidden = around.hidden + isFolded;
            open.push({ depth, end: start + took, hidden, isFolded });
        }
        return depths;
    },
    refold() {
        const isOpen = (thread) => [thread.isFolded, thread.isWhole];
        for (const thread of data.threads) {
            const before = isOpen(thread);
            this.loadCalls(thread);
            [thread.isFolded, thread.isWhole] = before;
        }
        this.selected = null;
        this.skyline = null;
        this.unfolded();
    },
    // Calls by depth: those of one depth do not overlap, and come in order of time.
    load(thread) {
        const slices = Float64Array.from(thread.slices);
        for (let i = 4; i < slices.length; i += 4) slices[i] += slices[i - 4];
        thread.slices = slices;
        this.loadCalls(thread);
        this.sortSteps(thread);
        thread.isFolded = false; // to its first level
        thread.isWhole = false; // with all of its levels
        thread.hasMarks =
            thread.gc.length + thread.raises.length + thread.lost.length > 0;
        thread.title = visible(thread.name) || `thread ${thread.tid}`;
    },
    loadCalls(thread) {
        const { slices } = thread,
            depths = this.depthsOf(slices),
            sizes = [];
        for (const depth of depths)
            if (depth >= 0) sizes[depth] = (sizes[depth] ?? 0) + 1;
        const levels = Array.from(sizes, (size = 0) => ({
            start: new Float64Array(size),
            took: new Float64Array(size),
            index: new Uint32Array(size),
            values: new Map(), // arguments, parameters and results of some
            size: 0,
        }));
        const values = new Map();
        for (let i = 0; i < thread.values.length; i += 2)
            values.set(thread.values[i], thread.values[i + 1]);
        for (let i = 0; i < slices.length; i += 4) {
            if (depths[i / 4] < 0) continue;
            const level = levels[depths[i / 4]],
                n = level.size++,
                text = values.get(i / 4);
            if (text !== undefined) level.values.set(n, text);
            level.start[n] = slices[i];
            level.took[n] = slices[i + 1];
            level.index[n] = slices[i + 3];
        }
        thread.levels = levels;
    },
    // Steps inside others come before them, but are drawn over them.
    sortSteps(thread) {
        const { steps } = thread,
            order = [];
        for (let i = 0; i < steps.length; i += 3) order.push(i);
        order.sort((a, b) => steps[a] - steps[b] || steps[b + 1] - steps[a + 1]);
        thread.steps = order.flatMap((i) => steps.slice(i, i + 3));
    },
    showLegend() {
        const kinds = [
            ["gc", "Garbage collection", theme.gc],
            ["raises", "Exception", theme.bad],
            ["lost", "Lost events", theme.ink],
            ["user_marks", "Mark", theme.accent],
            ["region", "Region", theme.region],
        ];
        const has = (key) =>
            key === "region"
                ? functions.some((f) => f.region)
                : data.threads.some((t) => t[key].length);
        $("time-legend").replaceChildren(
            ...kinds
                .filter(([key]) => has(key))
                .map(([, name, fill]) => {
                    const line = element("span");
                    line.append(swatch(fill), name);
                    return line;
                }),
        );
    },

    lay() {
        let top = this.layCounters(ROW + 6, 0, TRACKS_ABOVE),
            pid = null;
        this.lanes = data.threads.map((thread) => {
            const isNew = thread.pid !== pid && this.hasSeveral;
            pid = thread.pid;
            const head = top;
            if (isNew) top += ROW;
            const begin = top,
                marks = thread.hasMarks ? MARKS : 0,
                userMarks = thread.user_marks.length ? ROW : 0,
                steps = thread.steps.length ? ROW : 0;
            const levels = thread.levels.length,
                limit = thread.isFolded ? 1 : thread.isWhole ? levels : LEVELS_OPEN,
                rows = Math.min(levels, limit),
                hasMore = !thread.isFolded && levels > LEVELS_OPEN,
                below = marks + userMarks + steps + (rows + hasMore) * ROW;
            top = begin + Math.max(ROW, below) + 8;
            const parts = { marks, userMarks, steps, rows, hasMore };
            return { thread, isNew, head, begin, ...parts, end: top };
        });
        return this.layCounters(top, TRACKS_ABOVE);
    },
    draw() {
        const height = this.lay();
        const { g, width, seen, top } = surface(this.canvas, height + ROW);
        this.label = Math.min(170, Math.round(width * 0.2));
        const scale = (width - this.label) / (this.until - this.from);
        const { times, step } = this.times(scale);
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
            this.drawUserMarks(g, lane, scale, width);
            this.drawSteps(g, lane, scale, width);
            this.drawCalls(g, lane, scale, width, top, top + seen);
            this.drawMore(g, lane, width);
            g.restore();
            this.drawNames(g, lane, width);
        }
        this.drawCounters(g, scale, width, top, seen);
        this.drawSelected(g, scale, width);
        g.restore();
        this.drawRuler(g, times, step, width);
        this.drawOverview();
    },
    drawSelected(g, scale, width) {
        if (!this.selected) return;
        const { lane: number, level } = this.selected,
            lane = this.lanes[number],
            found = this.stretch(this.selected);
        if (!found) {
            outline(g, 6, lane.begin, this.label - 8);
        } else if (level < lane.rows) {
            const x = this.label + (found.start - this.from) * scale,
                left = Math.max(x, this.label),
                right = Math.min(x + found.took * scale, width);
            if (left > width || right < this.label) return;
            if (level >= 0) outline(g, left, this.row(lane, level), right - left);
            else if (found.kind === "steps")
                outline(g, left, this.stepRow(lane), right - left);
            else if (found.kind === "user_marks")
                outline(g, left - 4, lane.begin + lane.marks, 9, ROW - 2);
            else outline(g, left - 4, lane.begin - 1, right - left + 9, MARKS + 1);
        }
    },
    // The positions of the steps of tasks, and of a level's calls.
    stepRow: (lane) => lane.begin + lane.marks + lane.userMarks,
    row: (lane, level) => timeline.stepRow(lane) + lane.steps + level * ROW,
    drawNames(g, lane, width) {
        const { thread } = lane;
        if (lane.isNew) {
            g.fillStyle = theme.panel;
            g.fillRect(0, lane.head, width, ROW - 4);
            g.fillStyle = theme.dim;
            const name = `${visible(thread.program)} · process ${thread.pid}`;
            g.fillText(fit(g, name, width - 24), 12, lane.head + ROW / 2 - 2);
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
    // Round times for the axis, and their positions.
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
        return { times, step };
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
    drawRuler(g, times, step, width) {
        g.fillStyle = theme.page;
        g.fillRect(0, 0, width, ROW);
        g.fillStyle = theme.dim;
        for (const [time, x] of times) {
            const text = moment(time, step),
                last = width - measure(g, text) - 4; // further right it would be cut off
            g.fillText(text, Math.min(x + 4, last), ROW / 2);
        }
    },
    drawMarks(g, { thread, begin, marks }, scale) {
        if (!marks) return;
        const put = (kind, fill, size, took) => {
            const list = thread[kind];
            let last = -1;
            g.fillStyle = fill;
            for (let i = 0; i < list.length; i += size) {
                const x = this.label + (list[i] - this.from) * scale,
                    wide = Math.max(took * list[i + 1] * scale, 1.5);
                if (x + wide < this.label || list[i] > this.until) continue;
                if (x + wide < last + 1) continue; // its pixel is drawn already
                last = x + wide;
                g.fillRect(x, begin, wide, marks - 2);
                this.marked.push([x - 2, begin, wide + 4, marks, thread, kind, i]);
            }
        };
        put("gc", theme.gc, 3, 1);
        put("raises", theme.bad, 3, 0);
        put("lost", theme.ink, 3, 1);
    },
    // The lines of a tooltip on anything but a call.
    markLines(thread, kind, i) {
        const list = thread[kind],
            [time, fact, more] = list.slice(i, i + 3);
        return {
            gc: () => [
                "Garbage collection",
                `generation ${more}`,
                `paused for ${duration(fact)}`,
            ],
            raises: () => [
                visible(data.types[fact] ?? "exception"),
                `raised at ${this.moment(time)}`,
            ],
            lost: () => [
                "Events were lost",
                more ? count(more) : "number unknown",
                `within ${duration(fact)}`,
            ],
            user_marks: () => [
                this.text(fact),
                more ? this.text(more) : "",
                `${list[i + 3] ? "error" : "mark"} at ${this.moment(time)}`,
            ],
            steps: () => [
                this.taskName(thread, more),
                `step of ${duration(fact)}`,
                `started at ${this.moment(time)}`,
            ],
        }[kind]();
    },
    taskName: ({ pid }, task) => timeline.tasks.get(`${pid} ${task}`) ?? `task ${task}`,
    // With the digits that the zoom can show.
    moment(time) {
        return moment(time, (this.until - this.from) / 1000);
    },
    drawSteps(g, lane, scale, width) {
        if (!lane.steps) return;
        const { steps } = lane.thread,
            y = this.stepRow(lane);
        let last = -1;
        for (let i = 0; i < steps.length; i += 3) {
            const x = this.label + (steps[i] - this.from) * scale,
                wide = steps[i + 1] * scale;
            if (x + wide < this.label || x > width || (wide < 1 && x < last + 0.7))
                continue;
            last = x + wide;
            const left = Math.max(x, this.label),
                seen = Math.min(last, width) - left;
            g.fillStyle = theme.panel;
            g.fillRect(left, y, Math.max(seen, 1), ROW - 2);
            g.fillStyle = theme.accent;
            g.fillRect(left, y, Math.max(seen, 1), 2);
            if (seen > 24) {
                const name = this.taskName(lane.thread, steps[i + 2]);
                g.fillStyle = theme.ink;
                g.fillText(fit(g, name, seen - 8), left + 4, y + ROW / 2);
            }
            this.marked.push([left, y, seen, ROW - 2, lane.thread, "steps", i]);
        }
    },
    drawCalls(g, lane, scale, width, top, bottom) {
        for (let level = 0; level < lane.rows; level++) {
            const { start, took, index } = lane.thread.levels[level];
            const y = this.row(lane, level);
            if (y + ROW < top || y > bottom) continue;
            let last = -1;
            for (
                let i = this.first(start, this.from);
                i < start.length && start[i] <= this.until;
                i++
            ) {
                const x = this.label + (start[i] - this.from) * scale,
                    wide = took[i] * scale,
                    fill = palette[index[i]];
                if (x + wide < this.label) continue;
                if (wide < 1 && x < last + 0.7) continue; // its pixel is drawn already
                last = x + wide;
                frame(g, x, y, Math.max(wide, 0.7), index[i], fill, this.label, width);
            }
        }
    },
    // The row that shows or hides the deeper levels of a thread.
    moreText: ({ thread, rows }) =>
        thread.isWhole
            ? `▴ show ${LEVELS_OPEN} levels`
            : `▾ ${several(thread.levels.length - rows, "more level")}`,
    drawMore(g, lane, width) {
        if (!lane.hasMore) return;
        const y = this.row(lane, lane.rows);
        g.fillStyle = theme.panel;
        g.fillRect(this.label, y, width - this.label, ROW - 2);
        g.fillStyle = theme.dim;
        g.fillText(this.moreText(lane), this.label + 8, y + ROW / 2 - 1);
    },
    // The last one that begins before a time.
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

    // The lines of the tooltip under the pointer.
    lines(event) {
        const { x, y } = pointer(this.canvas, event);
        const mark = this.marked.findLast(
            ([left, top, w, h]) =>
                x >= left && x < left + Math.max(w, 2) && y >= top && y < top + h,
        );
        if (mark) return this.markLines(...mark.slice(4));
        const more = this.lanes[this.moreAt(x, y)];
        if (more) return [this.moreText(more), more.thread.title];
        const found = this.at(x, y);
        return found ? this.callLines(found) : this.counterLines(x, y);
    },
    callLines({ lane, level: number, i }) {
        const thread = data.threads[lane];
        if (number < 0)
            return [
                thread.title,
                visible(thread.program),
                `process ${thread.pid}, thread ${thread.tid}`,
                thread.levels.length > 1 && thread.isFolded ? "folded" : "",
            ].filter(Boolean);
        const level = thread.levels[number],
            f = functions[level.index[i]],
            values = level.values.get(i);
        return [
            title(f),
            origin(f),
            values === undefined ? "" : this.text(values),
            `${duration(level.took[i])}, started at ${this.moment(level.start[i])}`,
        ].filter(Boolean);
    },
    // The number of the thread whose row of more levels is at a point, or -1.
    moreAt(x, y) {
        return this.lanes.findIndex((lane) => {
            const top = this.row(lane, lane.rows);
            return lane.hasMore && x >= this.label && y >= top && y < top + ROW;
        });
    },
    // The call or the thread at a point.
    at(x, y) {
        const number = this.lanes.findIndex((l) => y >= l.head && y < l.end),
            lane = this.lanes[number];
        if (!lane) return null;
        if (x < this.label) return { lane: number, level: -1, i: 0 };
        const level = Math.floor((y - this.row(lane, 0)) / ROW);
        if (level < 0 || level >= lane.rows) return null;
        const time =
            this.from +
            ((x - this.label) / (this.canvas.clientWidth - this.label)) *
                (this.until - this.from);
        const { start, took } = lane.thread.levels[level],
            i = this.first(start, time + 1e-9);
        const isOn = time >= start[i] && time <= start[i] + took[i];
        return isOn ? { lane: number, level, i } : null;
    },
};
