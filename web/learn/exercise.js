// An exercise: task, chapter, hints and solution on one side, editor and verdict on the other. The file on the server is
// the truth; saver.js keeps it and the editor in step.

import * as api from "/learn/api.js";
import {make, announce} from "/learn/dom.js";
import {createEditor} from "/learn/editor.js";
import {drawPictures, malformed} from "/learn/pictures.js";
import {fill, showChapter} from "/learn/reader.js";
import {createSaver} from "/learn/saver.js";
import {createTabs} from "/learn/tabs.js";
import {marksOf, verdictNodes, verdictSentence} from "/learn/verdict.js";
import {coloured} from "/highlight.js";

// The section that the task says to read, such as "52-which-element-is-mine".
function sectionOf(task) {
    const link = [...task.querySelectorAll("a[href^='/read/']")].at(-1);
    return link ? new URL(link.href).hash.slice(1) : "";
}

function hintsPane(exercise) {
    const list = make("ol", {class: "hints"});
    const more = make("button", {type: "button"});
    const element = make("div", {}, make("h1", {}, "Hints"), list, more);

    function draw(state) {
        list.replaceChildren(...state.hints.map((html) => {
            const item = make("li");
            fill(item, html);
            return item;
        }));
        const left = state.hint_count - state.hints.length;
        more.hidden = left === 0;
        more.textContent = state.hints.length === 0 ? "Show the first hint" : `Show one more (${left} left)`;
    }

    more.addEventListener("click", async () => {
        try {
            draw(await api.hint(exercise.number));
            announce(list.lastElementChild?.textContent ?? "");
        } catch (failure) {
            announce(failure.message);
        }
    });
    draw(exercise);
    return element;
}

// Long lines wrap as in the editor: the rest of one stands as deep as the line itself.
function wrapped(text) {
    const lines = [make("span")];
    for (const node of coloured(text.trimEnd()).childNodes) {
        node.textContent.split("\n").forEach((part, index) => {
            if (index > 0) lines.push(make("span"));
            if (part) lines.at(-1).append(node.nodeType === Node.ELEMENT_NODE ? make("span", {class: node.className}, part) : part);
        });
    }
    for (const line of lines) {
        const deep = line.textContent.search(/\S|$/);
        line.style.paddingLeft = `${deep}ch`;
        line.style.textIndent = `-${deep}ch`;
        line.append("\n");
    }
    return make("pre", {class: "wrapped", tabindex: "0"}, make("code", {}, ...lines));
}

function solutionPane(exercise) {
    const element = make("div");

    async function load() {
        try {
            const solution = await api.solution(exercise.number, !exercise.solved);
            element.replaceChildren(make("h1", {}, "A solution"), wrapped(solution.text));
        } catch (failure) {
            element.replaceChildren(make("p", {class: "note warning"}, failure.message));
        }
    }

    function shown() {
        if (exercise.solved) load();
        else element.replaceChildren(make("h1", {}, "A solution"),
            make("p", {}, "It is shown here once you have passed. A hint may be all you need."),
            make("button", {type: "button", on: {click: load}}, "Show it anyway"));
    }

    return {element, shown};
}

const LONG = 3000; // milliseconds of judging that a learner should hear about
let judgedBefore = false; // by this page: then the compiler is ready

// The part on the right: what the file is called, how it stands, the editor, the verdict.
async function workPane(course, exercise, links) {
    const status = make("span", {class: "status", id: "status"}, "");
    const verdict = make("div", {class: "verdict", id: "verdict"});
    const notice = make("div", {class: "notice"});
    const pane = make("section", {class: "verdict-pane", "aria-label": "Verdict", tabindex: "0"}, verdict);
    let turn = 0, patience = 0, endPictures = () => {};
    const editor = await createEditor(course.codemirror, {
        label: `Your code, ${exercise.file}`,
        changed: () => saver.changed(),
        saved: () => saver.now(),
    });
    const saver = createSaver(exercise, editor, {status: (text) => { status.textContent = text; }, notice});
    const check = make("button", {type: "button", class: "primary", title: "Ctrl-S", on: {click: () => saver.now()}},
        "Check");
    const reset = make("button", {type: "button", on: {click: () => askReset()}}, "Reset");
    const element = make("section", {class: "work", "aria-label": "Your code"},
        make("div", {class: "toolbar"}, make("code", {class: "file"}, exercise.file), status, reset, check),
        notice, editor.element, pane);

    function askReset() {
        notice.replaceChildren(make("div", {class: "note warning"},
            make("p", {}, "Restore the original file? Your text is kept beside it as a .bak file."),
            make("button", {type: "button", on: {click: doReset}}, "Restore"), " ",
            make("button", {type: "button", on: {click: () => notice.replaceChildren()}}, "Cancel")));
        notice.querySelector("button").focus();
    }

    async function doReset() {
        notice.replaceChildren();
        try {
            if (!await saver.settle()) return; // the notice says why
            const answer = await api.reset(exercise.number);
            saver.adopt(answer);
            if (answer.backup) notice.replaceChildren(make("p", {class: "note"}, `Your text is in ${answer.backup} now.`));
            editor.focus();
        } catch (failure) {
            notice.replaceChildren(make("p", {class: "note warning"}, failure.message));
        }
    }

    // Text and pictures come together: nothing moves afterwards.
    async function showJudged(judged) {
        const mine = ++turn;
        let trace = null;
        try {
            trace = judged.traced ? await api.trace(exercise.number) : null;
        } catch {
            // A newer judging has begun: the text is worth showing all the same.
        }
        if (mine !== turn) return;
        clearTimeout(patience);
        judgedBefore = true;
        endPictures();
        verdict.classList.remove("stale");
        verdict.replaceChildren(...verdictNodes(judged, exercise.file, (line) => editor.show(line), links));
        pane.scrollTop = 0;
        editor.setMarks(marksOf(judged, exercise.file));
        status.textContent = judged.verdict ? judged.verdict.passed ? "Passed" : "Not yet" : "";
        endPictures = () => {};
        try {
            if (trace) endPictures = drawPictures(verdict, trace);
        } catch {
            verdict.append(make("p", {class: "dim"}, malformed));
        }
    }

    saver.adopt(exercise);
    function explainWait() {
        clearTimeout(patience);
        if (judgedBefore) return;
        patience = setTimeout(() => verdict.replaceChildren(make("p", {class: "dim"},
            "Judging … The first check prepares the compiler; later ones take about a second.")), LONG);
    }

    if (!exercise.judged) {
        verdict.replaceChildren(make("p", {class: "dim"}, "Judging …"));
        explainWait();
    }
    return {element, editor, saver, showJudged,
        judging() {
            status.textContent = "Judging …";
            verdict.classList.add("stale");
            explainWait();
        }};
}

export async function exerciseView(course, number) {
    const exercise = await api.exercise(number);
    const task = make("article", {class: "text"}), chapter = make("article", {class: "text"});
    const solution = solutionPane(exercise);
    fill(task, exercise.statement);
    const section = sectionOf(task);
    const nextOf = () => {
        const next = exercise.next ? course.chapters.flatMap((one) => one.exercises)
            .find((one) => one.number === exercise.next) : null;
        return next ? make("p", {}, make("a", {class: "button primary", href: `/exercise/${next.number}`},
            `Next: ${next.number} ${next.title}`)) : make("p", {}, "That was the last one: every exercise is solved.");
    };
    const work = await workPane(course, exercise, {next: nextOf, solution: () => openTab("solution")});
    let following = false; // a link into the pane of the chapter: it says itself what is shown there
    const tabs = createTabs("Task and help", [
        {name: "task", label: "Task", element: task},
        {name: "chapter", label: "Chapter", element: chapter,
            shown: () => following || chapter.dataset.chapter === exercise.chapter
                || showChapter(chapter, exercise.chapter, section)},
        {name: "hints", label: "Hints", element: hintsPane(exercise)},
        {name: "solution", label: "Solution", element: solution.element, shown: solution.shown},
    ]);
    const side = make("section", {class: "side", "aria-label": "Task and help"}, tabs.list, ...tabs.holders,
        make("nav", {class: "neighbours", "aria-label": "Exercises before and after"},
            exercise.before ? make("a", {class: "button", href: `/exercise/${exercise.before}`}, `← ${exercise.before}`)
                : make("span"),
            exercise.after ? make("a", {class: "button", href: `/exercise/${exercise.after}`}, `${exercise.after} →`)
                : make("span")));
    tabs.show("task");

    function openTab(name) {
        tabs.show(name);
        if (side.getBoundingClientRect().top < 0) side.scrollIntoView(); // on a phone the code is below it
    }

    // A link to a chapter opens in the pane beside the code, not over it.
    const element = make("div", {class: "exercise"}, side, work.element);
    element.addEventListener("click", (event) => {
        const link = event.target.closest("a[href^='/read/'], a[href^='#']");
        if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        event.stopPropagation();
        const address = new URL(link.href);
        const name = link.getAttribute("href").startsWith("#") ? chapter.dataset.chapter
            : address.pathname.slice("/read/".length);
        following = true;
        openTab("chapter");
        following = false;
        showChapter(chapter, name, decodeURIComponent(address.hash.slice(1)));
    });

    async function happened(name, data) {
        if (name === "lost") work.saver.say("No connection");
        if (name === "back") {
            const fresh = await api.exercise(number);
            work.saver.changedElsewhere(fresh);
            if (fresh.judged) work.showJudged(fresh.judged);
        }
        if (data.exercise !== number) return;
        if (name === "judging") work.judging();
        if (name === "source" && data.version !== work.saver.version()) work.saver.changedElsewhere();
        if (name === "verdict") {
            Object.assign(exercise, {next: data.next, solved: data.solved});
            await work.showJudged(data);
            announce(verdictSentence(data));
        }
    }

    return {title: `${exercise.number} ${exercise.title}`, element, happened, leave: () => work.saver.settle(), flush: () => work.saver.flush(),
        unsaved: () => work.saver.unsaved(),
        shown() {
            work.editor.refresh();
            if (exercise.judged) work.showJudged(exercise.judged);
            api.open(number).catch((failure) => announce(failure.message));
        }};
}
