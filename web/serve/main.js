// The page: views by the address's hash, and what the server tells to each of them.

import {call, listen} from "/serve/api.js";
import {createBench} from "/serve/bench.js";
import {createCheck} from "/serve/check.js";
import {createRuns} from "/serve/runs.js";
import {createTest} from "/serve/test.js";
import {createTrain} from "/serve/train.js";
import {createTry} from "/serve/try.js";

const main = document.getElementById("main");
const about = document.getElementById("about");
const lost = document.getElementById("lost");

function showAbout(network) {
    about.textContent = network ? `${network.checkpoint} · ${network.device}` : "no network yet";
    about.title = network ? network.device_name : "";
}

function start(state) {
    const views = {try: createTry(state), train: createTrain(state), runs: createRuns(state), bench: createBench(),
        check: createCheck()};
    views.test = createTest(state, (index) => {
        location.hash = "try";
        views.try.choose(index);
    });
    let shown = null;

    function show() {
        const name = Object.hasOwn(views, location.hash.slice(1)) ? location.hash.slice(1) : "try";
        if (location.hash === "#main") return;
        for (const link of document.querySelectorAll(".places a"))
            if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
            else link.removeAttribute("aria-current");
        const moved = shown !== null && shown !== name;
        shown = name;
        main.replaceChildren(views[name].element);
        document.title = `${views[name].element.querySelector("h1").textContent} · heddle serve`;
        views[name].refresh(true);
        if (moved) main.focus({preventScroll: true});
        if (moved) scrollTo(0, 0);
    }

    function take(name, data) {
        lost.hidden = true;
        if (name === "network" && data.error) {
            lost.textContent = `The network was not loaded: ${data.error}`;
            lost.hidden = false;
        } else if (name === "network") {
            state.network = data;
            showAbout(data);
            views.try.refresh();
            if (shown === "test" || shown === "runs") views[shown].refresh(true);
        } else if (name === "training") {
            views.train.take(data);
            if (!state.network) views.try.refresh();
        } else if (name === "evaluation") {
            views.test.take(data);
        } else if (name === "lost") {
            lost.textContent = "The server does not answer. Is heddle serve still running? Start it again and open the new address.";
            lost.hidden = false;
        } else if (name === "back") {
            call("GET", "status").then((fresh) => {
                state.network = fresh.network;
                showAbout(fresh.network);
                views.train.take(fresh.training);
                views.try.refresh();
            }).catch(() => {});
        }
    }
    // A file may be dropped on any view.
    const holdsFiles = (event) => event.dataTransfer.types.includes("Files");
    const mark = (over) => document.body.classList.toggle("over", over);
    addEventListener("dragover", (event) => {
        if (!holdsFiles(event)) return;
        event.preventDefault();
        mark(true);
    });
    addEventListener("dragleave", (event) => {
        if (!event.relatedTarget) mark(false); // it has left the window
    });
    addEventListener("drop", (event) => {
        mark(false);
        if (!holdsFiles(event)) return;
        event.preventDefault();
        if (event.dataTransfer.files.length === 0) return;
        location.hash = "check";
        views.check.check(event.dataTransfer.files[0]);
    });
    showAbout(state.network);
    views.try.refresh();
    addEventListener("hashchange", show);
    show();
    listen(take);
}

if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", `/${location.hash}`);
call("GET", "status").then(start).catch((failure) => {
    lost.textContent = failure.message;
    lost.hidden = false;
});
