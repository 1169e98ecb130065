// SPDX-License-Identifier: MIT
// The source of a function, with the hits and the time of its lines where they were
// recorded.

const WORDS = new Set(
    (
        "and as assert async await break case class continue def del elif else except " +
        "finally for from global if import in is lambda match nonlocal not or pass raise " +
        "return try while with yield None True False"
    ).split(" "),
);
const PARTS =
    /(#.*)|((?:\b[bfru]{1,2})?(?:"""|'''|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?))|(@?[\p{L}_][\p{L}\d_]*)|(\b\d[\w.]*)/giu;

const source = {
    start() {
        this.blocks = new Map(); // of functions: [source, first, last]
        for (let i = 0; i < data.blocks.length; i += 4)
            this.blocks.set(data.blocks[i], data.blocks.slice(i + 1, i + 4));
        this.hits = new Map(); // of functions: lines with [hits, time]
        for (let i = 0; i < data.lines.length; i += 4) {
            const [index, line, hits, time] = data.lines.slice(i, i + 4);
            if (!this.hits.has(index)) this.hits.set(index, new Map());
            this.hits.get(index).set(line, [hits, time]);
        }
    },
    show(index) {
        if (!this.blocks) this.start();
        const block = this.blocks.get(index),
            hits = this.hits.get(index),
            box = $("source");
        box.replaceChildren();
        if (!block && !hits) {
            box.append(element("p", this.absence(functions[index]), { class: "note" }));
            return;
        }
        const [file, hasChanged] = data.sources[block?.[0]] ?? [functions[index].file],
            head = element("p", short(visible(file)), { class: "note" });
        if (hasChanged)
            head.append(
                element("b", " has changed since the recording: lines may not match", {
                    class: "bad",
                }),
            );
        box.append(head, this.table(index, block, hits));
        box.scrollTop = 0;
    },
    absence(f) {
        if (!f.file) return "This function is not written in Python.";
        if (f.file.startsWith("<")) return "The source of this function is not a file.";
        return "The page does not have the source of this function.";
    },
    // Lines of the block, those around it, and lines with numbers alone.
    lines(block, hits) {
        const lines = new Map();
        if (block) {
            const [number, first, last] = block;
            for (const [begin, text] of data.sources[number][2]) {
                const rows = text.split("\n");
                for (let i = 0; i < rows.length; i++)
                    if (begin + i >= first - 2 && begin + i <= last + 2)
                        lines.set(begin + i, rows[i]);
            }
        }
        for (const line of hits?.keys() ?? [])
            if (!lines.has(line)) lines.set(line, "");
        return [...lines].sort((a, b) => a[0] - b[0]);
    },
    table(index, block, hits) {
        const table = element("table", undefined, { class: "lines" }),
            body = element("tbody"),
            lines = this.lines(block, hits),
            most = Math.max(1, ...[...(hits?.values() ?? [])].map(([, time]) => time)),
            whole = functions[index].total,
            indent = this.indent(lines);
        if (hits) table.append(this.head());
        let quote = ""; // of a string over several lines
        for (const [line, text] of lines) {
            const isInside = !block || (line >= block[1] && line <= block[2]),
                row = element("tr", undefined, { class: isInside ? "" : "around" }),
                [times, time] = hits?.get(line) ?? [];
            row.append(element("th", String(line), { scope: "row" }));
            if (hits)
                for (const cell of times === undefined
                    ? ["", "", "", ""]
                    : [
                          count(times),
                          duration(time),
                          duration(time / times),
                          percent(time, whole).replace(" %", ""),
                      ])
                    row.append(element("td", cell));
            const code = element("td", undefined, { class: "code" });
            if (time) {
                const part = Math.round((100 * time) / most);
                code.style.background = `linear-gradient(90deg, var(--heat) ${part}%, transparent ${part}%)`;
            }
            quote = this.colour(
                code,
                visible(text.replaceAll("\t", "    ").slice(indent)),
                quote,
            );
            row.append(code);
            body.append(row);
        }
        table.append(body);
        return table;
    },
    head() {
        const head = element("thead"),
            row = element("tr");
        for (const name of ["Line", "Hits", "Time", "Per hit", "%", ""])
            row.append(element("th", name, { scope: "col" }));
        head.append(row);
        return head;
    },
    // The columns that all lines begin with.
    indent: (lines) =>
        lines
            .filter(([, text]) => text.trim())
            .reduce((least, [, text]) => {
                const wide = text.replaceAll("\t", "    ");
                return Math.min(least, wide.length - wide.trimStart().length);
            }, Infinity),
    // Words, strings and comments in colours; returns the quote that stays open.
    colour(cell, text, quote) {
        let at = 0;
        const put = (part, kind) => {
            if (part) cell.append(kind ? element("span", part, { class: kind }) : part);
        };
        if (quote) {
            const end = text.indexOf(quote);
            at = end < 0 ? text.length : end + 3;
            put(text.slice(0, at), "string");
            if (end < 0) return quote;
        }
        PARTS.lastIndex = at;
        for (let found; (found = PARTS.exec(text));) {
            const [part, comment, string, word, number] = found;
            put(text.slice(at, found.index));
            at = PARTS.lastIndex;
            const mark = string?.slice(-3);
            if (mark === '"""' || mark === "'''") {
                const end = text.indexOf(mark, at);
                at = end < 0 ? text.length : end + 3;
                put(text.slice(found.index, at), "string");
                if (end < 0) return mark;
                PARTS.lastIndex = at;
            } else if (comment) put(part, "comment");
            else if (string) put(part, "string");
            else if (number) put(part, "number");
            else put(part, WORDS.has(word) ? "word" : word[0] === "@" ? "number" : "");
        }
        put(text.slice(at));
        return "";
    },
};
