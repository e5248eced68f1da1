// The page: which view the address asks for, and what they all share.

import * as api from "/learn/api.js";
import {make, announce} from "/learn/dom.js";
import {exerciseView} from "/learn/exercise.js";
import {mapView} from "/learn/map.js";
import {chapterView} from "/learn/reader.js";
import {searchBox} from "/learn/search.js";

const main = document.getElementById("main");
let course, view, shownAddress, turn = 0;

function drawProgress() {
    const place = document.getElementById("progress");
    place.replaceChildren(
        make("progress", {max: String(course.count), value: String(course.solved), "aria-hidden": "true"}),
        make("span", {class: "count"}, `${course.solved} of ${course.count}`), make("span", {class: "unseen"}, " solved"));
}

async function makeView(address) {
    const [, place, name] = address.pathname.split("/");
    if (place === "read" && name) return chapterView(course, decodeURIComponent(name), decodeURIComponent(address.hash.slice(1)));
    if (place === "exercise" && name) return exerciseView(course, decodeURIComponent(name));
    if (place !== "map" && course.current) {
        history.replaceState(null, "", `/exercise/${course.current}`);
        return exerciseView(course, course.current);
    }
    return mapView(course);
}

function failureView(failure) {
    return {title: "That did not work", element: make("div", {class: "reading"},
        make("h1", {}, "That did not work"), make("p", {class: "note warning"}, failure.message),
        make("p", {}, make("a", {href: "/map"}, "To the map")))};
}

// Whether the view may go: one with edits that could not be saved stays.
async function leave() {
    return await view?.leave?.() ?? true;
}

// Shows what the address bar says.
async function show() {
    const mine = ++turn, address = new URL(location.href);
    if (!await leave()) {
        if (mine === turn) history.pushState(null, "", shownAddress);
        return;
    }
    let next;
    try {
        course = await api.course();
        drawProgress();
        next = await makeView(address);
    } catch (failure) {
        next = failureView(failure);
    }
    if (mine !== turn) return;
    view = next;
    shownAddress = location.href;
    main.replaceChildren(view.element);
    document.title = `${view.title} · heddle learn`;
    for (const [id, place] of [["to-map", "/map"], ["to-glossary", "/read/glossary"]]) {
        const link = document.getElementById(id);
        if (location.pathname === place) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    scrollTo(0, 0);
    view.shown?.();
    document.body.dataset.ready = location.pathname;
}

async function go(address) {
    if (!await leave()) return;
    history.pushState(null, "", address);
    await show();
    main.focus({preventScroll: true});
    announce(document.title);
}

// Links to our own views need no new page.
document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='/']");
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey
        || event.altKey || link.target) return;
    event.preventDefault();
    go(link.getAttribute("href"));
});
document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") event.preventDefault(); // it is the editor's
});
addEventListener("popstate", show);
addEventListener("beforeunload", (event) => {
    if (view?.unsaved?.()) event.preventDefault(); // the browser asks
});
addEventListener("pagehide", () => view?.flush?.());

// The token has done its work: the cookie has it now, and the address bar need not show it.
if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname + location.hash);

api.listen((name, data) => {
    if (name === "verdict" && course && data.solved_count !== undefined) {
        course.solved = data.solved_count;
        for (const one of course.chapters.flatMap((chapter) => chapter.exercises))
            if (one.number === data.exercise) one.solved = data.solved;
        drawProgress();
    }
    view?.happened?.(name, data);
});
searchBox(document.getElementById("search"), go);
show();
