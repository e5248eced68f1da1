// A plain editor: a textarea over a coloured copy of its text, with line numbers that carry the marks.

import {make} from "/learn/dom.js";
import {coloured} from "/highlight.js";

const indent = 4;

export function create(options) {
    const numbers = make("div", {class: "plain-numbers"});
    const copy = make("pre", {class: "plain-copy", "aria-hidden": "true"});
    const area = make("textarea", {"aria-label": options.label, spellcheck: "false", autocapitalize: "off",
        autocomplete: "off", wrap: "off"});
    const element = make("div", {class: "editor plain"}, numbers, make("div", {class: "plain-text"}, copy, area));
    let marks = [], tabLeaves = false;

    function draw() {
        copy.replaceChildren(coloured(`${area.value}\n`));
        const count = area.value.split("\n").length;
        numbers.replaceChildren(...Array.from({length: count}, (_, index) => {
            const mark = marks.find((one) => one.line === index + 1);
            const kind = mark ? mark.main ? "number marked-main" : "number marked" : "number";
            return make("div", {class: kind, title: mark?.headline}, String(index + 1));
        }));
        element.style.setProperty("--text-height", `calc(${count + 1} * 1.3125rem + 1rem)`); // as .plain-copy's lines
        follow();
    }

    function follow() {
        copy.scrollLeft = area.scrollLeft;
        copy.scrollTop = area.scrollTop;
        numbers.scrollTop = area.scrollTop;
    }

    function insert(text) {
        area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
        draw();
        options.changed();
    }

    function pressed(event) {
        if ((event.ctrlKey || event.metaKey) && event.key === "s") {
            event.preventDefault();
            options.saved();
        } else if (event.key === "Escape") {
            tabLeaves = true;
        } else if (event.key === "Tab" && !event.shiftKey && !tabLeaves) {
            event.preventDefault();
            const column = area.selectionStart - (area.value.lastIndexOf("\n", area.selectionStart - 1) + 1);
            insert(" ".repeat(indent - column % indent));
        } else if (event.key === "Enter" && !event.isComposing) {
            event.preventDefault();
            const begin = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
            insert(`\n${/^[ \t]*/.exec(area.value.slice(begin, area.selectionStart))[0]}`);
        }
    }

    area.addEventListener("input", () => {
        draw();
        options.changed();
    });
    area.addEventListener("scroll", follow);
    area.addEventListener("keydown", pressed);
    area.addEventListener("blur", () => {
        tabLeaves = false;
    });

    return {
        element,
        text: () => area.value,
        setText(text) {
            const at = area.selectionStart;
            area.value = text;
            area.setSelectionRange(at, at);
            draw();
        },
        setMarks(list) {
            marks = list;
            draw();
        },
        show(line) {
            const lines = area.value.split("\n");
            const at = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
            area.focus();
            area.setSelectionRange(at, at);
            area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(area).lineHeight));
        },
        focus: () => area.focus(),
        refresh: draw,
        setReadOnly(flag) {
            area.readOnly = flag;
        },
    };
}
