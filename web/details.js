// SPDX-License-Identifier: MIT
// Tables besides calls: processes, regions and counters, tasks, exceptions, collections.

const ROWS_SHOWN = 500;

const details = {
    start() {
        const parts = [
            ...this.processes(),
            ...this.threads(),
            ...this.metadata(),
            ...this.regions(),
            ...this.parameters(),
            ...this.counters(),
            ...this.tokens(),
            ...this.exceptions(),
            ...this.tasks(),
            ...this.collections(),
        ];
        $("details-scroll").replaceChildren(...parts);
    },
    draw() {},
    key(event) {
        const by = { ArrowUp: -60, ArrowDown: 60, PageUp: -500, PageDown: 500 }[
            event.key
        ];
        if (!by) return false;
        $("details-scroll").scrollTop += by;
        return true;
    },
    // Columns that begin with a space hold text.
    list(heading, columns, rows) {
        if (!rows.length) return [];
        const isText = columns.map((name) => name.startsWith(" ")),
            table = element("table"),
            head = element("tr");
        const kind = (i, isCell) =>
            isText[i] ? `text${isCell && i === columns.length - 1 ? " dim" : ""}` : "";
        columns.forEach((name, i) =>
            head.append(element("th", name.trim(), { class: kind(i), scope: "col" })),
        );
        const thead = element("thead"),
            body = element("tbody");
        thead.append(head);
        for (const row of rows.slice(0, ROWS_SHOWN)) {
            const tr = element("tr");
            row.forEach((text, i) =>
                tr.append(
                    element("td", text, {
                        class: kind(i, true),
                        title: isText[i] ? (text.textContent ?? text) : "",
                    }),
                ),
            );
            body.append(tr);
        }
        table.append(thead, body);
        const more =
            rows.length > ROWS_SHOWN
                ? [element("p", `and ${count(rows.length - ROWS_SHOWN)} more`)]
                : [];
        return [element("h2", heading), table, ...more];
    },
    where(index, line) {
        const f = functions[index];
        return f
            ? [title(f), f.file ? at(f.file, line ?? f.line) : place(f)]
            : ["", ""];
    },
    processes() {
        const depth = (i, limit = 40) =>
            data.processes[i]?.[1] >= 0 && limit
                ? 1 + depth(data.processes[i][1], limit - 1)
                : 0;
        return this.list(
            "Processes",
            [
                " Process",
                "PID",
                "Start",
                "End",
                "Wall",
                "CPU",
                "Threads",
                "GC pauses",
                " Ended",
            ],
            data.processes.map(
                ([pid, , program, begin, end, ended, cpu, threads, pause], i) => [
                    "\u2003".repeat(depth(i)) +
                        (depth(i) ? "└ " : "") +
                        visible(program),
                    String(pid),
                    `+${duration(begin)}`,
                    `+${duration(end)}`,
                    duration(end - begin),
                    cpu < 0 ? "" : duration(cpu),
                    String(threads),
                    pause ? duration(pause) : "",
                    visible(ended),
                ],
            ),
        );
    },
    // A click on a name shows the thread in the flame graph.
    threads() {
        const isApart = new Set(calls.threads.values());
        const name = (text, row) => {
            if (!isApart.has(row) || data.thread_facts.length < 2) return text;
            const button = element("button", text, { class: "link" });
            button.onclick = () => {
                $("scope").value = `t${row}`;
                calls.choose({ scope: `t${row}` });
                open("flame");
            };
            return button;
        };
        return this.list(
            "Threads",
            [
                " Thread",
                "PID",
                "TID",
                "Begin",
                "Wall",
                "CPU",
                "Waiting",
                "% waiting",
                "Calls",
                "GC pauses",
            ],
            data.thread_facts.map(
                ([process, tid, text, begin, end, cpu, waiting, times, pause], row) => [
                    name(visible(text) || `thread ${tid}`, row),
                    String(data.processes[process]?.[0] ?? ""),
                    String(tid),
                    `+${duration(begin)}`,
                    duration(end - begin),
                    cpu < 0 ? "" : duration(cpu),
                    waiting < 0 ? "" : duration(waiting),
                    waiting < 0 ? "" : percent(waiting, cpu + waiting),
                    count(times),
                    pause ? duration(pause) : "",
                ],
            ),
        );
    },
    // Some times and rates are unknown.
    known: (ns) => (ns < 0 ? "–" : duration(ns)),
    rate: (n) => (n >= 100 ? count(Math.round(n)) : n ? n.toFixed(1) : "–"),
    metadata() {
        return this.list(
            "Metadata",
            [" Key", " Value"],
            data.metadata.map((row) => row.map(visible)),
        );
    },
    regions() {
        return this.list(
            "Regions",
            ["Total", "Count", "Mean", "≈p50", "≈p99", "Longest", " Region"],
            data.regions.map(([name, times, total, ...facts]) => [
                duration(total),
                count(times),
                ...facts.map(this.known),
                visible(name),
            ]),
        );
    },
    // Those of one owner together, of one name the costliest first.
    parameters() {
        const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
        const rows = data.parameters.toSorted(
            (a, b) =>
                b[3] - a[3] ||
                order(a[2], b[2]) ||
                order(a[0], b[0]) ||
                b[5] - a[5] ||
                order(a[1], b[1]),
        );
        return this.list(
            "Parameters",
            ["Total", "Count", "Mean", " Parameter", " Of"],
            rows.map(([name, value, owner, isRegion, times, total]) => [
                duration(total),
                count(times),
                duration(total / times),
                `${visible(name)} = ${visible(value)}`,
                `${isRegion ? "region " : ""}${visible(owner)}`,
            ]),
        );
    },
    tokens() {
        return this.list(
            "Tokens",
            [
                "Tokens",
                "To first",
                "Tokens/s",
                "≈p50",
                "≈p90",
                "≈p99",
                "Longest",
                "Begin",
                "PID",
                "Stream",
                " Name",
            ],
            data.tokens.map(
                ([name, pid, stream, times, begin, first, rate, ...gaps]) => [
                    count(times),
                    this.known(first),
                    this.rate(rate),
                    ...gaps.map(this.known),
                    begin < 0 ? "" : `+${duration(begin)}`,
                    String(pid),
                    String(stream),
                    visible(name),
                ],
            ),
        );
    },
    counters() {
        return this.list(
            "Counters",
            ["Least", "Greatest", "Last", "PID", " Counter"],
            timeline.tracks.map(({ title, pid, values }) => [
                plain(values.reduce((a, b) => Math.min(a, b))),
                plain(values.reduce((a, b) => Math.max(a, b))),
                plain(values.at(-1)),
                String(pid),
                title,
            ]),
        );
    },
    // Those of the project first, then the most frequent ones, as in the report.
    exceptions() {
        const isOwn = ([, index]) => Number(functions[index]?.isOwn ?? false);
        const rows = data.exceptions.toSorted(
            (a, b) => isOwn(b) - isOwn(a) || b[3] - a[3],
        );
        const catcher = ([index, line, times], isOne) =>
            (index < 0 ? "C code" : this.where(index, line).join(" ")) +
            (isOne ? "" : ` (${count(times)})`);
        return this.list(
            "Exceptions",
            ["Raised", " Exception", " In", " At", " Caught by"],
            rows.map(([type, index, line, raised, , , handlers]) => [
                count(raised),
                visible(type),
                ...this.where(index, line),
                handlers.length
                    ? handlers.map((h) => catcher(h, handlers.length < 2)).join(", ")
                    : "not caught",
            ]),
        );
    },
    tasks() {
        return this.list(
            "asyncio tasks",
            [
                "Run",
                "Wait",
                "Steps",
                "Begin",
                " Ended",
                " Task",
                " Coroutine",
                " Where",
            ],
            data.tasks.map(([, , name, index, run, wait, steps, begin, , ended]) => [
                duration(run),
                duration(wait),
                count(steps),
                `+${duration(begin)}`,
                ended,
                visible(name),
                ...this.where(index),
            ]),
        );
    },
    collections() {
        const { count: counts, pause, max, collected } = data.gc,
            all = counts.reduce((a, b) => a + b, 0);
        if (!all) return [];
        return [
            element("h2", "Garbage collection"),
            element(
                "p",
                `${several(all, "collection")} (generations 0, 1, 2: ` +
                    `${counts.map(count).join(", ")}) paused the program for ` +
                    `${duration(pause)}, at most ${duration(max)} at a time, ` +
                    `and freed ${several(collected, "object")}.`,
            ),
        ];
    },
};
