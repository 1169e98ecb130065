// SPDX-License-Identifier: MIT
// Marks and counters in the timeline.

const TRACK = 38; // pixels of a counter
const TRACKS_ABOVE = 4; // the number of tracks above the threads; the others are below them
const plain = (n) => n.toLocaleString("en", { maximumSignificantDigits: 6 });

Object.assign(timeline, {
    // A text of a mark, from 1 on.
    text: (number) => visible(data.texts[number - 1] ?? "…"),
    // Each mark is a tick, with its name if that fits.
    drawUserMarks(g, lane, scale, width) {
        if (!lane.userMarks) return;
        const marks = lane.thread.user_marks,
            y = lane.begin + lane.marks,
            place = (i) => this.label + (marks[i] - this.from) * scale;
        let last = -2;
        for (let i = 0; i < marks.length; i += 4) {
            const x = place(i);
            if (x < this.label - 1 || x < last + 1) continue; // the pixel is drawn already
            if (x > width) break;
            last = x;
            const fill = marks[i + 3] ? theme.bad : theme.accent;
            g.fillStyle = fill;
            g.fillRect(x, y, 1.5, ROW - 2);
            g.beginPath();
            g.moveTo(x - 3, y);
            g.lineTo(x + 4.5, y);
            g.lineTo(x + 0.75, y + 5);
            g.fill();
            const room = (i + 4 < marks.length ? place(i + 4) : width) - x - 10;
            if (room > 16) {
                const value = marks[i + 2] ? ` ${this.text(marks[i + 2])}` : "";
                g.fillStyle = theme.ink;
                const text = this.text(marks[i + 1]) + value;
                g.fillText(fit(g, text, room), x + 6, y + ROW / 2);
            }
            this.marked.push([x - 3, y, 8, ROW - 2, lane.thread, "user_marks", i]);
        }
    },

    loadCounters() {
        this.tracks = data.counters.map(({ pid, name, points }) => {
            const size = points.length / 2,
                times = new Float64Array(size),
                values = new Float64Array(size);
            let least = 0,
                most = 0; // the chart stands on zero
            for (let i = 0; i < size; i++) {
                times[i] = points[2 * i];
                values[i] = points[2 * i + 1];
                least = Math.min(least, values[i]);
                most = Math.max(most, values[i]);
            }
            return { pid, title: visible(name), times, values, least, most };
        });
        data.counters = null;
    },
    layCounters(top, from, until) {
        for (const track of this.tracks.slice(from, until)) {
            track.top = top;
            top += TRACK;
        }
        return top;
    },
    drawCounters(g, scale, width, top, seen) {
        for (const track of this.tracks) {
            if (track.top + TRACK < top || track.top > top + seen) continue;
            this.drawArea(g, track, scale, width);
            this.drawTrackNames(g, track, width);
        }
    },
    // Steps: a counter keeps its value until the next.  Each pixel shows the range from
    // the least to the greatest value in it.
    drawArea(g, track, scale, width) {
        const { times, values, least, most } = track,
            range = most - least || 1,
            height = TRACK - 12,
            bottom = track.top + height + 4;
        const level = (value) => bottom - ((value - least) / range) * height;
        g.save();
        g.beginPath();
        g.rect(this.label, track.top, width - this.label, TRACK);
        g.clip();
        const path = new Path2D();
        let i = this.first(times, this.from),
            x = this.label + (times[i] - this.from) * scale,
            y = level(values[i]);
        path.moveTo(x, y);
        const from = x;
        for (i++; i < times.length && times[i] <= this.until; i++) {
            x = this.label + (times[i] - this.from) * scale;
            path.lineTo(x, y);
            y = level(values[i]);
            path.lineTo(x, y);
        }
        path.lineTo(width + 2, y);
        const area = new Path2D(path);
        area.lineTo(width + 2, level(0));
        area.lineTo(from, level(0));
        g.fillStyle = theme.region;
        g.globalAlpha = 0.25;
        g.fill(area);
        g.globalAlpha = 1;
        g.strokeStyle = theme.region;
        g.lineWidth = 1.25;
        g.stroke(path);
        g.restore();
    },
    drawTrackNames(g, track, width) {
        const several = this.hasSeveral ? ` · ${track.pid}` : "";
        g.fillStyle = theme.ink;
        const name = track.title + several;
        g.fillText(fit(g, name, this.label - 36), 26, track.top + ROW / 2);
        g.fillStyle = theme.dim;
        const range = `${plain(track.least)} … ${plain(track.most)}`;
        g.fillText(fit(g, range, this.label - 36), 26, track.top + ROW / 2 + 15);
        g.strokeStyle = theme.line;
        g.lineWidth = 1;
        g.beginPath();
        g.moveTo(0, track.top + TRACK - 3.5);
        g.lineTo(width, track.top + TRACK - 3.5);
        g.stroke();
    },
    // The counter at a point, and its value then.
    counterLines(x, y) {
        const track = this.tracks.find((t) => y >= t.top && y < t.top + TRACK);
        if (!track) return null;
        const { title, pid, times, values } = track,
            range = `from ${plain(track.least)} to ${plain(track.most)}`;
        if (x < this.label) return [title, `process ${pid}`, range];
        const time =
                this.from +
                ((x - this.label) / (this.canvas.clientWidth - this.label)) *
                    (this.until - this.from),
            i = this.first(times, time + 1e-9);
        return times[i] <= time
            ? [title, plain(values[i]), `since ${this.moment(times[i])}`]
            : [title, "not set yet", range];
    },
});
