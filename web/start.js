// SPDX-License-Identifier: MIT
// Switches between views, and handles the keys that they share.

const views = isComparison
    ? { flame, table }
    : { flame, table, func, time: timeline, details };
let current = "flame";
const view = () => views[current];

const keys = {
    flame: [
        ["←↑↓→", "move"],
        ["Enter", "zoom"],
        ["Esc", "back"],
        ...(isComparison ? [] : [["c", "callers"]]),
        ...(isComparison ? [["a b d", "side"]] : []),
    ],
    table: [
        ["↑↓", "move"],
        ["Enter", isComparison ? "show in flame graph" : "callers, source"],
    ],
    func: [
        ["←↑↓→", "move"],
        ["Enter", "choose"],
        ["Esc", "back"],
        ["f", "flame graph"],
    ],
    time: [
        ["←↑↓→", "select"],
        ["Enter", "zoom, fold"],
        ["u", "unfold"],
        ["c", "callers"],
        ["n p", "marks"],
        ["a d", "move"],
        ["+ −", "zoom"],
        ["Esc", "all"],
    ],
    details: [["↑↓", "scroll"]],
};

function open(name) {
    current = name;
    for (const key of Object.keys(views)) {
        $(key).hidden = key !== name;
        $(`tab-${key}`).setAttribute("aria-selected", String(key === name));
        $(`tab-${key}`).tabIndex = key === name ? 0 : -1;
    }
    const shared = [
        [
            Object.keys(views)
                .map((_, i) => i + 1)
                .join(" "),
            "views",
        ],
        ["/", "search"],
        ["t", "theme"],
    ];
    const shown = [...keys[name], ...shared].flatMap(([key, what], i) => [
        i ? " · " : "",
        element("kbd", key),
        ` ${what}`,
    ]);
    $("keys").replaceChildren(...shown);
    tip(null, null);
    $("detail").textContent = (view().statusTexts?.() ?? []).join(" · ");
    view().draw();
    // Some browsers have no history for a page from a file.
    try {
        history.replaceState(null, "", `#${name}`);
    } catch {
        /* The view is shown anyway. */
    }
}

function setTheme(name) {
    document.documentElement.dataset.theme = name;
    paint();
    flame.showLegend();
    if (!isComparison) flame.showHot();
    if (!isComparison) timeline.showLegend();
    view().draw();
}
const switchTheme = () => setTheme(isDark() ? "light" : "dark");

// From one tab to the next, if there is one.
function stepTab(event) {
    const names = Object.keys(views),
        at = names.indexOf(current);
    const next = {
        ArrowLeft: at - 1,
        ArrowRight: at + 1,
        Home: 0,
        End: names.length - 1,
    }[event.key];
    if (next === undefined) return false;
    open(names.at(next % names.length));
    $(`tab-${current}`).focus();
    return true;
}

// Keys for what is folded; a view may use them itself.
const foldKey = (event) => !isComparison && calls.key(event);

function onKey(event) {
    if (event.target === $("search")) {
        if (event.key === "Escape") seek("");
        if (event.key === "Enter" && current === "func") func.showMatch();
        if (event.key === "Escape" || event.key === "Enter") event.target.blur();
        return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // A focused button handles its keys first.
    if (event.key === "Enter" && event.target.tagName === "BUTTON") return;
    if (event.target.tagName === "SELECT") return;
    const names = Object.keys(views),
        isTab = event.target.getAttribute("role") === "tab";
    if (event.key === "/") $("search").focus();
    else if (event.key >= "1" && event.key <= String(names.length))
        open(names[event.key - 1]);
    else if (event.key === "t") switchTheme();
    else if (!(isTab && stepTab(event)) && !view().key(event) && !foldKey(event))
        return;
    event.preventDefault();
}

function start() {
    $("summary").remove();
    document.body.classList.add("ready");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
    if (!isComparison) calls.start();
    paint();
    $("program").textContent = visible(data.program);
    document.title = `${visible(data.program)} · cunei`;
    const facts = [data.python, data.facts].filter(Boolean).join(" · ");
    $("facts").textContent = visible(facts);
    for (const tab of document.querySelectorAll("[role=tab]")) {
        const name = tab.id.slice(4);
        tab.hidden = !views[name];
        tab.onclick = (event) => {
            open(name);
            // After a click, keys go to the view and not to the tabs.
            if (event.detail)
                $(name)
                    .querySelector(".scroll[tabindex], .scroll [tabindex]")
                    .focus({ preventScroll: true });
        };
    }
    $("search").oninput = (event) => search(event.target.value);
    $("theme").onclick = switchTheme;
    dark.onchange = () => setTheme(dark.matches ? "dark" : "light");
    for (const each of Object.values(views)) each.start();
    open(views[location.hash.slice(1)] ? location.hash.slice(1) : "flame");
    window.onresize = redraw;
    document.onkeydown = onKey;
}

start();
