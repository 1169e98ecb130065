// SPDX-License-Identifier: MIT
// The strip above the timeline: how deep the calls of the whole run are, and which part
// of it the timeline shows.

const GRIP = 5; // pixels beside an end of the visible part that still belong to it

Object.assign(timeline, {
    startOverview() {
        const canvas = $("overview");
        this.overview = canvas;
        let held = null; // what a press began: { time } or { by }, from its middle
        const time = (event) => {
            const { x } = pointer(canvas, event),
                wide = canvas.clientWidth - this.label,
                part = Math.max(0, Math.min(1, (x - this.label) / wide));
            return this.begin + part * (this.end - this.begin);
        };
        canvas.onmousedown = (event) => {
            const at = time(event),
                near = (GRIP * (this.end - this.begin)) / canvas.clientWidth;
            const isPart = this.until - this.from < this.end - this.begin,
                isInside = at >= this.from - near && at <= this.until + near;
            held = isPart && isInside ? { by: at - this.from } : { time: at };
        };
        window.addEventListener("mousemove", (event) => {
            if (!held) return;
            if (held.by !== undefined) this.move(time(event) - held.by - this.from);
            else this.showBetween(held.time, time(event));
        });
        window.addEventListener("mouseup", (event) => {
            // A click without a drag moves the part to that time.
            if (held && held.time === time(event))
                this.move(held.time - (this.from + this.until) / 2);
            held = null;
        });
        canvas.onkeydown = (event) => this.keyInOverview(event);
        canvas.title = "Drag over a part to show it; drag the part to move it";
    },
    showBetween(one, other) {
        const span = Math.abs(other - one);
        if (span * this.overview.clientWidth < GRIP * (this.end - this.begin)) return;
        [this.from, this.until] = [Math.min(one, other), Math.max(one, other)];
        this.zoom(1, 0.5);
    },
    // Arrows move the part, as those of a slider do; other keys do what they do below.
    keyInOverview(event) {
        const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -4, PageDown: 4 }[event.key];
        if (!by) return;
        this.move((by * (this.until - this.from)) / 8);
        event.preventDefault();
        event.stopPropagation();
    },
    // The mean depth of the calls of all threads in each pixel.
    depths(width) {
        if (this.skyline?.length === width) return this.skyline;
        const ends = new Float64Array(width + 2), // of steps in depth
            scale = width / (this.end - this.begin);
        // From x on, `by` more: the pixel of x has the part that is right of x.
        const step = (x, by) => {
            const at = Math.max(0, Math.min(width, x)),
                pixel = Math.floor(at),
                part = at - pixel;
            ends[pixel] += by * (1 - part);
            ends[pixel + 1] += by * part;
        };
        for (const { levels } of data.threads)
            for (const { start, took } of levels)
                for (let i = 0; i < start.length; i++) {
                    const x = (start[i] - this.begin) * scale;
                    step(x, 1);
                    step(x + took[i] * scale, -1);
                }
        this.skyline = new Float64Array(width);
        for (let x = 0, depth = 0; x < width; x++)
            this.skyline[x] = depth += ends[x];
        return this.skyline;
    },
    drawOverview() {
        const { g, width, seen } = surface(this.overview, 0),
            wide = Math.max(1, width - this.label),
            depths = this.depths(wide),
            most = depths.reduce((a, b) => Math.max(a, b), 1),
            scale = wide / (this.end - this.begin),
            left = this.label + (this.from - this.begin) * scale,
            right = Math.max(left + 2, this.label + (this.until - this.begin) * scale);
        g.fillStyle = theme.dim;
        g.fillText(fit(g, "whole run", this.label - 36), 26, seen / 2 - 5);
        const whole = duration(this.end - this.begin);
        g.fillText(fit(g, whole, this.label - 36), 26, seen - 9);
        g.fillStyle = theme.accent;
        g.globalAlpha = 0.55;
        for (let x = 0; x < wide; x++) {
            const high = Math.sqrt(depths[x] / most) * (seen - 6); // low parts show
            g.fillRect(this.label + x, seen - high, 1, high);
        }
        g.globalAlpha = 0.7;
        g.fillStyle = theme.page;
        g.fillRect(this.label, 0, left - this.label, seen);
        g.fillRect(right, 0, width - right, seen);
        g.globalAlpha = 1;
        outline(g, left, 0, right - left, seen + 1);
        const at = {
            "aria-valuemin": Math.round(this.begin),
            "aria-valuemax": Math.round(this.end),
            "aria-valuenow": Math.round(this.from),
            "aria-valuetext": `${this.moment(this.from)} to ${this.moment(this.until)}`,
        };
        for (const [name, value] of Object.entries(at))
            this.overview.setAttribute(name, value);
    },
});
