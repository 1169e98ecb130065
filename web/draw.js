// SPDX-License-Identifier: MIT
// Drawing on a canvas: frames with their names, and the tooltip.

const ROW = 20; // pixels of a frame
const MIN = 0.4; // pixels: what is narrower is not drawn

// Draw at most once per frame.
let isWaiting = false;
function redraw() {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
        isWaiting = false;
        view().draw();
    });
}

// How far a canvas can be scrolled.
function stretch(canvas, height) {
    const box = canvas.parentElement;
    let filler = box.querySelector(".filler");
    if (!filler) box.append((filler = element("div", undefined, { class: "filler" })));
    filler.style.height = `${Math.max(0, height - box.clientHeight)}px`;
}

// A canvas of the size of its visible part, at the resolution of the screen: memory does
// not grow with the height of the graph.
function surface(canvas, height) {
    const box = canvas.parentElement,
        ratio = window.devicePixelRatio || 1;
    stretch(canvas, height);
    const width = box.clientWidth,
        seen = box.clientHeight;
    const size = [Math.round(width * ratio), Math.round(seen * ratio)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) {
        [canvas.width, canvas.height] = size;
        canvas.style.height = `${seen}px`;
    }
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
    g.textBaseline = "middle";
    g.clearRect(0, 0, width, seen);
    return { g, width, seen, top: box.scrollTop };
}

// The position of the pointer on a canvas, with what is scrolled away.
function pointer(canvas, event) {
    const box = canvas.getBoundingClientRect();
    return {
        x: event.clientX - box.left,
        y: event.clientY - box.top + canvas.parentElement.scrollTop,
    };
}

// The text that fits; guesses first, so that few texts are measured.
const widths = new Map();
function measure(g, text) {
    let width = widths.get(text);
    if (width === undefined) {
        if (widths.size > 50000) widths.clear();
        widths.set(text, (width = g.measureText(text).width));
    }
    return width;
}
function fit(g, text, width) {
    if (width < 16) return "";
    const whole = measure(g, text);
    if (whole <= width) return text;
    let size = Math.floor((text.length * (width - 10)) / whole);
    while (size > 1 && measure(g, `${text.slice(0, size)}…`) > width) size--;
    return size > 1 ? `${text.slice(0, size)}…` : "";
}

// A frame at x, clipped to `left` and `right`.
function frame(g, x, y, width, index, fill, left, right) {
    const hit = matches && matches[index],
        start = Math.max(x, left);
    const wide = Math.min(x + width, right) - start;
    g.globalAlpha = matches && !hit ? 0.3 : 1;
    g.fillStyle = fill;
    g.fillRect(start, y, Math.max(wide - (wide > 3 ? 1 : 0.2), MIN), ROW - 1);
    if (functions[index].region) {
        g.fillStyle = theme.region;
        g.fillRect(start, y, Math.max(wide - (wide > 3 ? 1 : 0.2), MIN), 3);
    }
    if (hit) {
        g.fillStyle = theme.hit;
        g.fillRect(start, y + ROW - 4, Math.max(wide - 1, MIN), 3);
    }
    if (wide >= 24) {
        g.fillStyle = theme.ink;
        g.fillText(fit(g, title(functions[index]), wide - 8), start + 4, y + ROW / 2);
    }
    g.globalAlpha = 1;
}

function outline(g, x, y, width, height = ROW) {
    g.strokeStyle = theme.accent;
    g.lineWidth = 2;
    g.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), height - 3);
}

// A tooltip with these lines, the first one bold; null hides it.
function tip(event, lines) {
    const box = $("tip");
    box.hidden = !lines;
    if (!lines) return;
    box.replaceChildren(
        ...lines.filter(Boolean).map((text, i) => element(i ? "span" : "b", text)),
    );
    const { innerWidth: w, innerHeight: h } = window;
    const { offsetWidth: wide, offsetHeight: high } = box;
    box.style.left = `${Math.max(4, Math.min(event.clientX + 14, w - wide - 8))}px`;
    const below = event.clientY + 18,
        above = Math.max(4, event.clientY - high - 10);
    box.style.top = `${below + high > h ? above : below}px`;
}
