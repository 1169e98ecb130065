// SPDX-License-Identifier: MIT
// Navigation in the timeline, with a pointer or with keys.

Object.assign(timeline, {
    statusTexts() {
        if (!this.selected) return [];
        const mark = this.markOf(this.selected);
        return mark
            ? this.markLines(data.threads[this.selected.lane], mark.kind, mark.i)
            : this.callLines(this.selected);
    },
    // Select a call or a thread, and move until it is visible.
    select(chosen) {
        this.selected = chosen;
        $("detail").textContent = this.statusTexts().join(" · ");
        const { lane: number, level } = chosen,
            lane = this.lanes[number],
            box = this.canvas.parentElement;
        const top = level < 0 ? lane.head : this.row(lane, level);
        if (top < box.scrollTop + ROW) box.scrollTop = top - ROW;
        if (top + 2 * ROW > box.scrollTop + box.clientHeight)
            box.scrollTop = top + 2 * ROW - box.clientHeight;
        const { start, took } = this.stretch(chosen) ?? {};
        if (start > this.until || start + took < this.from)
            this.move(start + took / 2 - (this.from + this.until) / 2);
        redraw();
    },
    // The time of a call or a mark; a thread has none.
    stretch(chosen) {
        const { lane, level, i } = chosen;
        if (level < 0) return this.markOf(chosen);
        const { start, took } = data.threads[lane].levels[level];
        return { start: start[i], took: took[i] };
    },
    fold(number) {
        const thread = data.threads[number];
        thread.isFolded = !thread.isFolded;
        this.unfolded();
        this.select({ lane: number, level: -1, i: 0 });
    },
    // Show all levels of a thread, or the first ones.
    unfold(number) {
        const thread = data.threads[number];
        thread.isWhole = !thread.isWhole || thread.isFolded;
        thread.isFolded = false;
        this.unfolded();
    },
    unfoldAll() {
        const isWhole = this.isAnyHidden();
        for (const thread of data.threads) {
            thread.isWhole = isWhole;
            thread.isFolded = false;
        }
        this.unfolded();
    },
    isAnyHidden: () =>
        data.threads.some(
            ({ isFolded, isWhole, levels }) =>
                levels.length > (isFolded ? 1 : isWhole ? Infinity : LEVELS_OPEN),
        ),
    unfolded() {
        this.lay();
        this.nameButton();
        redraw();
    },
    nameButton() {
        const button = $("time-unfold");
        button.textContent = this.isAnyHidden() ? "Unfold all" : "Fold all";
        button.hidden = data.threads.every((t) => t.levels.length <= LEVELS_OPEN);
    },
    // Where arrows lead: calls beside, around and inside the selected one; from a name,
    // other threads and the calls of its own.
    step(key) {
        const { lane: number, level, i } = this.selected ?? { lane: -1, level: -1 },
            lane = this.lanes[number];
        if (this.selected?.mark >= 0) return this.stepFromMark(key);
        if (level < 0) {
            if (key === "ArrowRight" && lane?.rows)
                return this.callAt(number, 0, this.from) ?? this.selected;
            return this.threadAt(number + (key === "ArrowUp" ? -1 : 1));
        }
        const { start } = lane.thread.levels[level];
        if (key === "ArrowUp") return this.around(number, level, start[i]);
        if (key === "ArrowDown") return this.inside(number, level, i);
        const next = i + (key === "ArrowLeft" ? -1 : 1);
        const last = start.length - 1;
        return { lane: number, level, i: Math.max(0, Math.min(last, next)) };
    },
    threadAt(number) {
        const last = this.lanes.length - 1;
        return { lane: Math.max(0, Math.min(last, number)), level: -1, i: 0 };
    },
    // The call of a level at a time, or the next one.
    callAt(lane, level, time) {
        const { start, took } = data.threads[lane].levels[level];
        let i = this.first(start, time + 1e-9);
        if (start[i] + took[i] < time && i + 1 < start.length) i++;
        return start.length ? { lane, level, i } : null;
    },
    // The calls around one may be too short to be drawn.
    around(lane, level, time) {
        while (--level >= 0) {
            const { start, took } = data.threads[lane].levels[level],
                i = this.first(start, time + 1e-9);
            if (start[i] <= time && start[i] + took[i] >= time)
                return { lane, level, i };
        }
        return this.threadAt(lane);
    },
    // The first call inside, else the next thread.
    inside(lane, level, i) {
        const { levels } = data.threads[lane],
            { start, took } = levels[level],
            below = levels[level + 1]?.start ?? [];
        let child = this.first(below, start[i]);
        if (below[child] < start[i]) child++;
        return level + 1 < this.lanes[lane].rows && below[child] <= start[i] + took[i]
            ? { lane, level: level + 1, i: child }
            : this.threadAt(lane + 1);
    },
    // Callers, callees and source of the selected call's function.
    chooseFunction() {
        const { lane, level, i } = this.selected ?? { level: -1 };
        if (level >= 0) func.show(data.threads[lane].levels[level].index[i]);
    },
    // Zoom to the selected call or mark; fold or unfold a thread.
    enter() {
        if (!this.selected) return;
        const found = this.stretch(this.selected);
        if (!found) {
            this.fold(this.selected.lane);
            return;
        }
        const { start, took } = found,
            wanted = took ? 1.1 * took : (this.until - this.from) / 10,
            span = Math.min(this.end - this.begin, Math.max(100, wanted));
        this.from = start + (took - span) / 2;
        this.until = this.from + span;
        this.move(0);
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
            const { x, y } = pointer(canvas, event),
                found = this.at(x, y),
                more = this.moreAt(x, y),
                lines = this.lines(event) ?? [];
            if (more >= 0) this.unfold(more);
            else if (found && found.level < 0) this.fold(found.lane);
            else if (found) this.select(found);
            else $("detail").textContent = lines.join(" · ");
        };
        canvas.onmouseleave = (event) => tip(event, null);
        canvas.parentElement.onscroll = redraw;
        $("time-unfold").onclick = () => this.unfoldAll();
        this.nameButton();
    },
    // Exactly: a computed begin may be off by a rounding.
    showWhole() {
        [this.from, this.until] = [this.begin, this.end];
        redraw();
    },
    zoom(factor, where) {
        const span = this.until - this.from,
            fixed = this.from + span * where;
        const next = Math.min(this.end - this.begin, Math.max(100, span * factor));
        this.from = fixed - next * where;
        this.until = this.from + next;
        this.move(0);
    },
    move(by) {
        const span = this.until - this.from;
        this.from = Math.max(this.begin, Math.min(this.end - span, this.from + by));
        this.until = this.from + span;
        redraw();
    },
    key(event) {
        const span = this.until - this.from;
        const moves = {
            a: () => this.move(-span / 8),
            d: () => this.move(span / 8),
            "+": () => this.zoom(0.7, 0.5),
            w: () => this.zoom(0.7, 0.5),
            "=": () => this.zoom(0.7, 0.5),
            "-": () => this.zoom(1.4, 0.5),
            s: () => this.zoom(1.4, 0.5),
            n: () => this.lanes.length && this.select(this.nextMark(1)),
            p: () => this.lanes.length && this.select(this.nextMark(-1)),
            u: () => (this.selected ? this.unfold(this.selected.lane) : this.unfoldAll()),
            Enter: () => this.enter(),
            c: () => this.chooseFunction(),
            Escape: () => this.showWhole(),
            Home: () => this.move(-1e18),
            End: () => this.move(1e18),
        };
        for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"])
            moves[key] = () => this.lanes.length && this.select(this.step(key));
        if (!moves[event.key]) return false;
        moves[event.key]();
        return true;
    },
});
