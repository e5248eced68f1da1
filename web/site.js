// The search of the static site, the mark in the list of sections, and what the keyboard reaches. The site works
// without it. No module, and the sections come as a script: a page that was opened from a file may load nothing else.
"use strict";
(() => {
    const root = document.body.dataset.root;
    const MOST = 20;
    const AROUND = 60; // characters before what was found

    // --- finding ----------------------------------------------------------------------------------------------------

    let sections = null; // {address, page, title, text} with their lower case
    let waiting = null;

    function load() {
        waiting ??= new Promise((resolve, reject) => {
            const script = document.createElement("script");
            script.src = `${root}web/search.js`;
            script.onload = () => {
                sections = window.heddleSections.map(([address, page, title, text]) => ({
                    address, page, title: title || page, text,
                    low: `${page}\n${title}\n${text}`.toLowerCase(),
                    lowTitle: title.toLowerCase(), lowPage: page.toLowerCase(), lowText: text.toLowerCase(),
                }));
                resolve();
            };
            script.onerror = reject;
            document.head.append(script);
        });
        return waiting;
    }

    const isLetter = (character) => /[\p{L}\p{N}_]/u.test(character ?? " ");

    // How well a word fits a text: 0 not at all, a little inside a word ("race" in "trace"), 2 at the start of one, 3
    // whole.
    function fit(text, word) {
        let best = 0;
        for (let at = text.indexOf(word); at >= 0 && best < 3; at = text.indexOf(word, at + 1)) {
            const starts = !isLetter(text[at - 1]), ends = !isLetter(text[at + word.length]);
            best = Math.max(best, starts && ends ? 3 : starts ? 2 : 0.1);
        }
        return best;
    }

    // Where a word begins, or else where it stands inside another; -1: nowhere.
    function placeOf(text, word) {
        let at = text.indexOf(word);
        while (at > 0 && isLetter(text[at - 1])) at = text.indexOf(word, at + 1);
        return at >= 0 ? at : text.indexOf(word);
    }

    function find(query) {
        const words = query.toLowerCase().split(/\s+/).filter(Boolean);
        if (!words.length) return [];
        const found = [];
        for (const section of sections) {
            if (!words.every((word) => section.low.includes(word))) continue;
            let score = section.lowTitle === query.toLowerCase().trim() ? 40 : 0;
            if (words.includes(section.lowTitle || section.lowPage)) score += 30; // the page of this very word
            for (const word of words)
                score += 8 * fit(section.lowTitle, word) + 4 * fit(section.lowPage, word) + fit(section.lowText, word);
            found.push({section, score, words});
        }
        return found.sort((a, b) => b.score - a.score).slice(0, MOST);
    }

    // --- showing ----------------------------------------------------------------------------------------------------

    function element(name, properties, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    // The text around the first word that it has, with all words marked.
    function excerpt(section, words) {
        const at = Math.min(...words.map((word) => placeOf(section.lowText, word)).filter((place) => place >= 0));
        const begin = Number.isFinite(at) ? Math.max(0, at - AROUND) : 0;
        const end = begin + 3 * AROUND;
        let text = section.text.slice(begin, end);
        if (end < section.text.length && text.includes(" ")) text = `${text.slice(0, text.lastIndexOf(" "))} …`;
        if (begin > 0) text = `… ${text.slice(text.indexOf(" ") + 1)}`;
        const part = element("span", {className: "found-text"});
        const literal = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
        // Three pieces per match: what is before it, the character that is no letter, the word.
        text.split(new RegExp(`(^|[^\\p{L}\\p{N}_])(${literal.join("|")})`, "giu")).forEach((piece, place) =>
            part.append(place % 3 === 2 ? element("mark", {}, piece) : piece));
        return part;
    }

    function addSearch(place) {
        const list = element("ul", {className: "found", id: "found", hidden: true});
        list.setAttribute("role", "listbox");
        list.setAttribute("aria-label", "Found");
        const input = element("input", {type: "text", inputMode: "search", enterKeyHint: "search",
            placeholder: "Search  ( / )", autocomplete: "off", spellcheck: false});
        const said = element("div", {className: "unseen"});
        said.setAttribute("role", "status");
        for (const [name, value] of Object.entries({"role": "combobox", "aria-label": "Search the site",
            "aria-expanded": "false", "aria-controls": "found", "aria-autocomplete": "list"}))
            input.setAttribute(name, value);
        place.append(input, list, said);
        let chosen = -1;

        function show(open) {
            list.hidden = !open;
            input.setAttribute("aria-expanded", String(open));
            if (!open) input.removeAttribute("aria-activedescendant");
        }

        function choose(next) {
            const items = list.querySelectorAll("li[role=option]");
            if (!items.length) return;
            items[chosen]?.removeAttribute("aria-selected");
            chosen = (next + items.length) % items.length;
            items[chosen].setAttribute("aria-selected", "true");
            items[chosen].scrollIntoView({block: "nearest"});
            input.setAttribute("aria-activedescendant", items[chosen].id);
        }

        async function search() {
            const query = input.value;
            if (!query.trim()) return show(false);
            try {
                await load();
            } catch {
                const why = "web/search.js is missing: make the site again";
                list.replaceChildren(element("li", {className: "none"}, why));
                return show(true);
            }
            if (query !== input.value) return undefined;
            const found = find(query);
            chosen = -1;
            list.replaceChildren(...found.map(({section, words}, place) => {
                const link = element("a", {href: root + section.address, tabIndex: -1},
                    element("span", {className: "found-title"}, section.title));
                if (section.title !== section.page)
                    link.append(element("span", {className: "found-page"}, section.page));
                if (section.text) link.append(excerpt(section, words));
                const item = element("li", {id: `found-${place}`}, link);
                item.setAttribute("role", "option");
                return item;
            }));
            if (!found.length) list.append(element("li", {className: "none"}, "Nothing found"));
            said.textContent = found.length ? `${found.length} found` : "Nothing found";
            show(true);
            if (found.length) choose(0);
            return undefined;
        }

        input.addEventListener("focus", () => load().catch(() => {}));
        input.addEventListener("input", search);
        input.addEventListener("keydown", (event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") {
                event.preventDefault();
                if (list.hidden) search();
                else choose(chosen + (event.key === "ArrowDown" ? 1 : -1));
            } else if (event.key === "Enter") {
                list.querySelectorAll("li[role=option] a")[Math.max(chosen, 0)]?.click();
                show(false);
            } else if (event.key === "Escape") {
                input.value = "";
                show(false);
                input.blur();
            }
        });
        list.addEventListener("click", () => show(false));
        document.addEventListener("click", (event) => place.contains(event.target) || show(false));
        document.addEventListener("keydown", (event) => {
            if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
            if (/^(input|textarea|select)$/i.test(document.activeElement?.tagName)) return;
            event.preventDefault();
            input.focus();
        });
    }

    // --- where one is -----------------------------------------------------------------------------------------------

    function followContents(contents) {
        const links = new Map([...contents.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
        const seen = new Set();
        const watch = new IntersectionObserver((entries) => {
            for (const entry of entries)
                if (entry.isIntersecting) seen.add(entry.target.id);
                else seen.delete(entry.target.id);
            const first = [...links.keys()].find((id) => seen.has(id));
            if (!first) return; // between two headings the last one stays
            for (const [id, link] of links) link.classList.toggle("here", id === first);
        }, {rootMargin: "-60px 0px -60% 0px"});
        for (const id of links.keys()) {
            const heading = document.getElementById(decodeURIComponent(id));
            if (heading) watch.observe(heading);
        }
    }

    // What scrolls sideways can be reached by keyboard, and nothing else is a stop on the way.
    function watchScrollers() {
        const watch = new ResizeObserver((entries) => {
            for (const {target} of entries)
                if (target.scrollWidth > target.clientWidth) {
                    target.tabIndex = 0;
                    target.setAttribute("role", "group");
                    const kind = target.matches("pre") ? "Code" : target.matches(".scroll") ? "Table" : "Picture";
                    target.setAttribute("aria-label", kind);
                } else {
                    for (const name of ["tabindex", "role", "aria-label"]) target.removeAttribute(name);
                }
        });
        for (const scroller of document.querySelectorAll("pre, .scroll, .figure")) watch.observe(scroller);
    }

    const traces = document.getElementById("traces");
    if (traces) window.heddlePictures.drawChapter(document, JSON.parse(traces.textContent));
    addSearch(document.querySelector(".search"));
    watchScrollers();
    const contents = document.querySelector(".contents");
    if (contents) followContents(contents);
    const current = document.querySelector(".side [aria-current]");
    if (current && getComputedStyle(document.querySelector(".side")).position === "sticky")
        document.querySelector(".side").scrollTop = current.offsetTop - 120;
})();
