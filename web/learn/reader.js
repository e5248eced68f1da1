// A chapter or the glossary, in a pane or as a page of its own, with pictures of what the simulator recorded.

import * as api from "/learn/api.js";
import {make} from "/learn/dom.js";
import {highlightBlocks} from "/highlight.js";
import {drawChapter} from "/pictures/pictures.js";

const chapters = new Map(); // that were read already
const LONG = 4; // sections of a chapter that needs a list of them

// The server's HTML, which it made of the course's Markdown without any HTML in it. Wide tables scroll by themselves,
// and links that lead away from the course open a page of their own.
export function fill(element, html) {
    element.innerHTML = html;
    for (const table of element.querySelectorAll("table")) {
        const scroll = make("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "table"});
        table.replaceWith(scroll);
        scroll.append(table);
    }
    for (const figure of element.querySelectorAll("img")) {
        const scroll = make("span", {class: "figure"});
        figure.replaceWith(scroll);
        scroll.append(figure);
        new ResizeObserver(() => { // what scrolls sideways can be reached by keyboard, and nothing else is a stop
            const wide = scroll.scrollWidth > scroll.clientWidth;
            for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", figure.alt || "figure"]])
                if (wide) scroll.setAttribute(name, value);
                else scroll.removeAttribute(name);
        }).observe(scroll);
    }
    for (const block of element.querySelectorAll("pre")) block.tabIndex = 0;
    for (const link of element.querySelectorAll("a[href^='http'], a[href^='/course/']"))
        Object.assign(link, {target: "_blank", rel: "noopener noreferrer"});
    highlightBlocks(element);
}

async function readChapter(name) {
    if (!chapters.has(name)) {
        const chapter = await api.chapter(name);
        const traces = chapter.html.includes("data-picture") ? await api.pictures(chapter.name).catch(() => ({})) : {};
        chapters.set(name, {...chapter, traces});
    }
    return chapters.get(name);
}

// Shows a chapter inside `element`, at an anchor where one is given.
export async function showChapter(element, name, anchor) {
    element.dataset.wanted = name;
    if (element.dataset.chapter !== name) {
        const chapter = await readChapter(name);
        if (element.dataset.wanted !== name) return; // another one was asked for meanwhile
        fill(element, chapter.html);
        drawChapter(element, chapter.traces);
        element.dataset.chapter = name;
    }
    const target = anchor ? element.querySelector(`[id="${CSS.escape(anchor)}"]`) : null;
    if (target) target.scrollIntoView({block: "start"});
    else if (anchor === "") element.scrollTop = 0;
}

// The sections of a long chapter, folded below its title.
function addContents(text) {
    const headings = [...text.querySelectorAll("h2 a[id]")];
    if (headings.length < LONG) return;
    text.querySelector("h1")?.after(make("details", {class: "contents"}, make("summary", {}, "Contents"),
        make("ul", {}, ...headings.map((one) => make("li", {}, make("a", {href: `#${one.id}`}, one.parentElement.textContent))))));
}

// A chapter as a whole page, with its exercises and its neighbours.
export async function chapterView(course, name, anchor) {
    const chapter = await readChapter(name);
    const text = make("article", {class: "text"});
    const index = course.chapters.findIndex((one) => one.name === chapter.name);
    fill(text, chapter.html);
    addContents(text);
    const next = text.lastElementChild?.textContent.startsWith("Next:") ? text.lastElementChild : null;
    // It stands below the exercises, above the button that leads there.
    next?.querySelectorAll(`a[href='/read/${course.chapters[index + 1]?.name}']`).forEach((one) => one.replaceWith(...one.childNodes));
    const exercises = course.chapters[index]?.exercises ?? [];
    const view = make("div", {class: "reading chapter"}, text,
        exercises.length > 0 ? make("nav", {class: "exercises", "aria-label": "Exercises of this chapter"},
            make("h2", {}, "Exercises"),
            make("ul", {}, ...exercises.map((one) => make("li", {},
                make("a", {href: `/exercise/${one.number}`}, `${one.number} ${one.title}`),
                one.solved ? make("span", {class: "good"}, " ✓ solved") : null)))) : null,
        next,
        index >= 0 ? make("nav", {class: "neighbours", "aria-label": "Chapters before and after"},
            ...[index - 1, index + 1].map((other) => course.chapters[other]).map((one, place) => one
                ? make("a", {class: "button", href: `/read/${one.name}`}, place === 0 ? `← ${one.title}` : `${one.title} →`)
                : make("span"))) : null);
    return {title: chapter.title, element: view,
        shown() {
            drawChapter(text, chapter.traces);
            if (anchor) view.querySelector(`[id="${CSS.escape(anchor)}"]`)?.scrollIntoView();
        }};
}
