// How the network does on its test set: confusion matrix and misclassified images.

import {announce, make} from "/learn/dom.js";
import {call, count, percent} from "/serve/api.js";
import {picture} from "/serve/maps.js";

const SHOWN = 24; // misclassified images

export function createTest(state, open) {
    const result = make("p", {class: "verdict"});
    const bar = make("progress", {max: "1", value: "0", "aria-label": "Progress of the evaluation"});
    const matrix = make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Confusion matrix"});
    const wrong = make("ul", {class: "wrong"});
    const problem = make("p", {class: "error", role: "alert", hidden: true});
    const details = make("div", {class: "sides"},
        make("section", {}, make("h2", {}, "Confusion matrix"),
            make("p", {class: "dim"}, "Rows are the true class, columns the predicted one."), matrix),
        make("section", {}, make("h2", {}, "Misclassified"),
            make("p", {class: "dim"}, "Those the network was surest of first. Choose one to see inside."), wrong));
    const element = make("div", {class: "view"}, make("h1", {}, "Test"), result, bar, problem, details);
    let pending = 0, asked = null;

    function cell(value, row, column, largest, classes) {
        const wrongly = row !== column;
        const shade = value === 0 ? 0 : Math.max(1, Math.round(6 * Math.sqrt(value / largest)));
        return make("td", {class: `${wrongly ? "off" : "on"}-${shade}`,
            title: `${classes[row]} taken for ${classes[column]}: ${value}`}, value === 0 ? make("span", {class: "zero"}, "0") : String(value));
    }

    function showMatrix(evaluation) {
        const classes = state.network.classes, rows = evaluation.confusion;
        const diagonal = Math.max(1, ...rows.map((row, at) => row[at]));
        const others = Math.max(1, ...rows.flatMap((row, at) => row.filter((_, column) => column !== at)));
        matrix.replaceChildren(make("table", {class: "confusion"},
            make("caption", {class: "unseen"}, "Confusion matrix: rows are the true class, columns the predicted one"),
            make("thead", {}, make("tr", {}, make("td", {}), ...classes.map((name) => make("th", {scope: "col"}, name)))),
            make("tbody", {}, ...rows.map((row, at) => make("tr", {}, make("th", {scope: "row"}, classes[at]),
                ...row.map((value, column) => cell(value, at, column, at === column ? diagonal : others, classes)))))));
    }

    async function showWrong(evaluation) {
        const classes = state.network.classes, mine = ++pending;
        const images = await Promise.all(evaluation.wrong.slice(0, SHOWN).map((one) => call("GET", `images/${one.index}`)
            .then((image) => ({...one, image}))));
        if (mine !== pending) return;
        wrong.replaceChildren(...images.map((one) => make("li", {}, make("button", {type: "button",
            on: {click: () => open(one.index)}}, picture(one.image, `Test image ${one.index}`),
        make("span", {}, "says ", make("strong", {}, classes[one.class]), ` (${percent(one.probability, 0)})`),
        make("span", {class: "dim"}, `is ${classes[one.label]}`)))));
        if (images.length === 0) wrong.replaceChildren(make("li", {class: "dim"}, "None."));
    }

    function progress(evaluation) {
        bar.hidden = evaluation.done === evaluation.count;
        bar.value = evaluation.done / evaluation.count;
        result.replaceChildren(make("strong", {}, percent(evaluation.accuracy ?? 0, 2)), make("span", {class: "dim"},
            ` accuracy: ${count(evaluation.correct)} of ${count(evaluation.done)} test images are right`));
    }

    async function finish() {
        const {evaluation} = await call("GET", "evaluate");
        if (!evaluation || evaluation.done < evaluation.count) return;
        progress(evaluation);
        details.hidden = false;
        showMatrix(evaluation);
        await showWrong(evaluation);
        announce(`Test accuracy ${percent(evaluation.accuracy)}`);
    }

    function fail(message) {
        problem.textContent = message;
        problem.hidden = false;
        bar.hidden = true;
    }

    function take(evaluation) {
        if (evaluation.error) return fail(evaluation.error);
        progress(evaluation);
        if (evaluation.done === evaluation.count) finish().catch((failure) => fail(failure.message));
        return undefined;
    }

    // Evaluates once per network, when somebody looks.
    async function refresh(shown) {
        problem.hidden = true;
        if (!state.network) {
            details.hidden = bar.hidden = true;
            result.replaceChildren(make("span", {class: "dim"}, "There is no network yet."));
            return;
        }
        if (!shown || asked === state.network) return;
        asked = state.network;
        details.hidden = true;
        bar.hidden = false;
        result.replaceChildren(make("span", {class: "dim"}, "Evaluating…"));
        try {
            await call("POST", "evaluate", {});
            await finish();
        } catch (failure) {
            result.replaceChildren();
            fail(failure.message);
        }
    }
    return {element, refresh, take};
}
