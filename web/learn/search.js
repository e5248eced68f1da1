// Search over chapters and exercises: a box with a list below it, by mouse or by arrow keys.

import * as api from "/learn/api.js";
import {make, announce} from "/learn/dom.js";

const pause = 150; // milliseconds without a key before we ask

export function searchBox(host, go) {
    const list = make("ul", {class: "found", id: "found", role: "listbox", "aria-label": "Results", hidden: true});
    const input = make("input", {type: "search", placeholder: "Search", "aria-label": "Search the course",
        role: "combobox", "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list",
        autocomplete: "off", maxlength: "80"});
    let timer = 0, asked = 0, chosen = -1, results = [];

    function choose(index) {
        chosen = index;
        [...list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === index)));
        const item = list.children[index];
        if (item) item.scrollIntoView({block: "nearest"});
        if (item?.id) input.setAttribute("aria-activedescendant", item.id);
        else input.removeAttribute("aria-activedescendant");
    }

    function close() {
        list.hidden = true;
        input.setAttribute("aria-expanded", "false");
        choose(-1);
    }

    function open(result) {
        close();
        input.value = "";
        go(result.address);
    }

    function show() {
        list.replaceChildren(...results.map((one, index) => make("li", {role: "option", id: `found-${index}`,
            "aria-selected": "false", on: {mousedown: (event) => event.preventDefault(), click: () => open(one)}},
        make("span", {class: "found-title"}, one.title, " ", make("span", {class: "found-kind"}, one.kind)), make("span", {class: "found-text"}, one.excerpt))));
        if (results.length === 0) list.replaceChildren(make("li", {role: "option", "aria-disabled": "true", "aria-selected": "false"}, "Nothing found"));
        list.hidden = false;
        input.setAttribute("aria-expanded", "true");
        announce(`${results.length} found`);
        choose(results.length > 0 ? 0 : -1);
    }

    async function ask() {
        const question = input.value.trim(), turn = ++asked;
        if (question.length < 2) {
            close();
            return;
        }
        try {
            const answer = await api.search(question);
            if (turn !== asked) return;
            results = answer.found;
            show();
        } catch (failure) {
            announce(failure.message);
        }
    }

    input.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(ask, pause);
    });
    input.addEventListener("keydown", (event) => {
        if (event.key === "Escape") {
            close();
        } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden && results.length > 0) {
            event.preventDefault();
            choose((chosen + (event.key === "ArrowDown" ? 1 : results.length - 1)) % results.length);
        } else if (event.key === "Enter" && !list.hidden && results[chosen]) {
            event.preventDefault();
            open(results[chosen]);
        }
    });
    input.addEventListener("blur", close);
    host.replaceChildren(input, list);
}
