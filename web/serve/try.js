// Draw and see the prediction move; and look at what every layer computes.

import {announce, make} from "/learn/dom.js";
import {bytes, call, count, isRunning, percent} from "/serve/api.js";
import {picture} from "/serve/maps.js";
import {createDiagram} from "/serve/network.js";
import {createPad} from "/serve/pad.js";

const REST = 100; // milliseconds without a change before a look inside
const SELDOM = 1000; // milliseconds between two looks inside while somebody draws on and on
const QUIET = 600; // milliseconds without a change before a screen reader hears the answer

export function createTry(state) {
    const pad = createPad(() => changed(null));
    const diagram = createDiagram();
    const bars = make("ol", {class: "bars"});
    const verdict = make("p", {class: "verdict"});
    const source = make("p", {class: "dim source"});
    const index = make("input", {type: "number", id: "image-index", min: "0", value: "0", step: "1"});
    const problem = make("p", {class: "error", role: "alert", hidden: true});
    let chosen = null, busy = false, again = false, speak = 0, looking = false, next = null, changes = 0, asked = 0, rows = [];

    function showBars(prediction) {
        prediction.probabilities.forEach((probability, at) => {
            rows[at].fill.style.width = `${100 * probability}%`;
            rows[at].value.textContent = percent(probability);
            rows[at].row.classList.toggle("best", at === prediction.class);
        });
        const sure = prediction.probabilities[prediction.class];
        const label = chosen && (chosen.label === prediction.class ? ", correct" : `, but the label is ${chosen.name}`);
        verdict.replaceChildren(make("strong", {}, prediction.name), make("span", {class: "dim"},
            ` ${percent(sure)}${label ?? ""}`));
        clearTimeout(speak);
        speak = setTimeout(() => announce(`${prediction.name}, ${percent(sure, 0)}${label ?? ""}`), QUIET);
    }

    function showNothing() {
        for (const {fill, value, row} of rows) {
            fill.style.width = "0";
            value.textContent = "";
            row.classList.remove("best");
        }
        verdict.replaceChildren(make("span", {class: "dim"}, "Draw, or choose a test image."));
    }

    // One question at a time; what changes meanwhile is asked next.
    async function predict() {
        if (busy) {
            again = true;
            return;
        }
        busy = true;
        do {
            again = false;
            if (!chosen && pad.isEmpty()) {
                next = null;
                showNothing();
                break;
            }
            try {
                const image = chosen ? [...bytes(chosen.pixels)] : pad.png();
                const {predictions} = await call("POST", "predict", {image});
                if (!chosen && pad.isEmpty()) continue;
                showBars(predictions[0]);
                problem.hidden = true;
                look(image);
            } catch (failure) {
                tell(failure);
            }
        } while (again);
        busy = false;
    }

    function tell(failure) {
        problem.textContent = failure.message;
        problem.hidden = false;
    }

    // The layers are far more to send and to draw: they follow when the pen rests, or now and then. The prediction does
    // not wait for them.
    async function look(image) {
        next = image;
        changes++;
        if (looking) return;
        looking = true;
        while (next) {
            const began = performance.now();
            for (let seen = -1; seen !== changes && performance.now() - began < SELDOM;) {
                seen = changes;
                await new Promise((wake) => { setTimeout(wake, REST); });
            }
            const now = next;
            next = null;
            try {
                if (now) diagram.showValues((await call("POST", "predict", {image: now, layers: true})).layers);
            } catch (failure) {
                tell(failure);
            }
        }
        looking = false;
    }

    function changed(image) {
        chosen = image;
        if (!image) source.textContent = "";
        if (state.network) predict();
    }

    async function choose(number) {
        const last = (state.network?.test_images ?? 0) - 1;
        if (last < 0) return;
        number = Math.min(last, Math.max(0, Math.trunc(number) || 0));
        index.value = number;
        const mine = ++asked;
        try {
            const image = await call("GET", `images/${number}`);
            if (mine !== asked) return; // another one was chosen meanwhile
            pad.clear();
            pad.show(picture(image, ""));
            source.textContent = `Test image ${number} of ${state.network.data}, labelled ${image.name}.`;
            changed(image);
        } catch (failure) {
            tell(failure);
        }
    }

    const button = (text, act, name) => make("button", {type: "button", "aria-label": name, title: name,
        on: {click: act}}, text);
    index.addEventListener("change", () => choose(index.value));
    const chooser = make("fieldset", {class: "chooser"},
        make("legend", {}, "Test images"),
        make("label", {for: "image-index", class: "unseen"}, "Number of a test image"),
        button("‹", () => choose(Number(index.value) - 1), "Previous test image"), index,
        button("›", () => choose(Number(index.value) + 1), "Next test image"),
        button("Random", () => choose(Math.random() * state.network.test_images)));
    const none = make("div", {class: "note"});
    const tryout = make("div", {class: "tryout"},
        make("section", {class: "draw", "aria-label": "Draw"}, pad.element,
            make("div", {class: "row"}, button("Clear", () => pad.clear()), make("p", {class: "dim keys", id: "pad-keys"},
                "Draw here. With keys: arrows move the pen, space lowers and lifts it, delete clears."))),
        make("section", {class: "answer", "aria-label": "Prediction"}, verdict, problem, bars),
        make("section", {class: "choose", "aria-label": "Test images"}, chooser, source));
    const title = make("h2", {}), summary = make("p", {class: "dim"});
    const inside = make("section", {class: "inside"}, title, summary, diagram.element);
    const element = make("div", {class: "view"}, make("h1", {}, "Try"), none, tryout, inside);

    function refresh() {
        const network = state.network;
        none.hidden = Boolean(network);
        const waiting = network ? "" : isRunning(state.training) ? state.training.state : "none";
        if (waiting && none.dataset.waiting !== waiting) none.replaceChildren(make("p", {}, ...waiting !== "none"
            ? ["A run is ", waiting === "paused" ? "paused" : "under way",
                "; its network is ready after the first epoch. ", make("a", {href: "#train"}, "Watch it"), "."]
            : ["There is no network yet. ", make("a", {href: "#train"}, "Train one"),
                ": on synth, the generated digits, it takes seconds."]));
        none.dataset.waiting = waiting; // rebuilt only when it says something else: the link in it may have the focus
        tryout.hidden = inside.hidden = !network;
        if (!network) return;
        rows = network.classes.map((name) => {
            const fill = make("span", {class: "fill"}), value = make("span", {class: "value"});
            const row = make("li", {}, make("span", {class: "name"}, name), make("span", {class: "track"}, fill), value);
            return {fill, value, row};
        });
        bars.replaceChildren(...rows.map((one) => one.row));
        chooser.disabled = network.test_images === 0;
        index.max = Math.max(0, network.test_images - 1);
        title.textContent = `Inside ${network.model}`;
        summary.textContent = `${count(network.parameters)} parameters, trained on ${network.data}. Each block is a ` +
            "layer: its output for one image, its parameters, and the first maps it computes for the image above.";
        diagram.show(network);
        if (chosen) choose(Number(index.value));
        else changed(null);
    }
    return {element, refresh, choose};
}
