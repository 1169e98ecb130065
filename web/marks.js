// SPDX-License-Identifier: MIT
// Selects marks, exceptions and the like with keys, as the pointer does.

// How many numbers each has; the first is its time.
const MARK_SIZES = { gc: 3, raises: 3, lost: 3, steps: 3, user_marks: 4 };
const LASTING = new Set(["gc", "lost", "steps"]); // the second is how long it took

Object.assign(timeline, {
    // All of a thread, in the order of time.
    marksOf(thread) {
        const read = ([kind, size]) =>
            Array.from({ length: thread[kind].length / size }, (_, n) => ({
                kind,
                i: n * size,
                start: thread[kind][n * size],
                took: LASTING.has(kind) ? thread[kind][n * size + 1] : 0,
            }));
        thread.events ??= Object.entries(MARK_SIZES)
            .flatMap(read)
            .sort((a, b) => a.start - b.start);
        return thread.events;
    },
    // The one that is selected, or nothing.
    markOf: ({ lane, mark }) => timeline.marksOf(data.threads[lane])[mark ?? -1],
    markAt: (lane, mark) => ({ lane, level: -1, i: 0, mark }),
    // The next one or the one before the selection, across threads.
    nextMark(by) {
        const chosen = this.selected ?? this.threadAt(0),
            { lane: number, level, i, mark } = chosen;
        let marks = this.marksOf(data.threads[number]),
            at = mark + by;
        if (mark === undefined) {
            const time =
                level < 0 ? this.from : data.threads[number].levels[level].start[i];
            at = marks.findIndex((each) => each.start >= time);
            if (at < 0) at = marks.length;
            if (by < 0) at--;
        }
        let lane = number;
        while (!marks[at]) {
            lane += by;
            if (!data.threads[lane]) return chosen;
            marks = this.marksOf(data.threads[lane]);
            at = by > 0 ? 0 : marks.length - 1;
        }
        return this.markAt(lane, at);
    },
    // Where arrows lead: others of its thread, the thread, the call around it.
    stepFromMark(key) {
        const { lane, mark } = this.selected,
            { start } = this.markOf(this.selected),
            last = this.marksOf(data.threads[lane]).length - 1;
        if (key === "ArrowUp") return this.threadAt(lane);
        if (key === "ArrowDown") return this.around(lane, this.lanes[lane].rows, start);
        const next = mark + (key === "ArrowLeft" ? -1 : 1);
        return this.markAt(lane, Math.max(0, Math.min(last, next)));
    },
});
