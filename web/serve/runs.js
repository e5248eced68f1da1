// The runs there are: a list, a comparison of those chosen, and which one predicts.

import {make} from "/learn/dom.js";
import {attempt, call, count, percent} from "/serve/api.js";
import {createChart, smooth} from "/serve/charts.js";

const MOST = 6; // compared at a time: as many as there are colours

export function createRuns(state) {
    const list = make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs"});
    const problem = make("p", {class: "error", role: "alert", hidden: true});
    const loss = createChart("Training loss"), rate = createChart("Learning rate");
    const accuracy = createChart("Test accuracy", {format: (value) => `${Math.round(100 * value)} %`, most: 1});
    const settings = make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Settings that differ"});
    const compared = make("section", {}, make("h2", {}, "Compared"),
        make("div", {class: "curves"}, loss.element, accuracy.element, rate.element), settings);
    const element = make("div", {class: "view"}, make("h1", {}, "Runs"), problem, list, compared);
    const chosen = new Set(), known = new Map();

    function showSettings(runs) {
        const names = [...new Set(runs.flatMap((run) => Object.keys(run.settings ?? {})))];
        const text = (run, name) => JSON.stringify(run.settings?.[name] ?? null);
        const different = names.filter((name) => new Set(runs.map((run) => text(run, name))).size > 1);
        settings.hidden = runs.length < 2;
        settings.replaceChildren(different.length === 0 ? make("p", {class: "dim"}, "Their settings are the same.")
            : make("table", {}, make("caption", {}, "Settings that differ"),
                make("thead", {}, make("tr", {}, make("td", {}), ...runs.map((run) => make("th", {scope: "col"}, run.name)))),
                make("tbody", {}, ...different.map((name) => make("tr", {}, make("th", {scope: "row"}, name),
                    ...runs.map((run) => make("td", {}, String(run.settings?.[name] ?? "–"))))))));
    }

    async function compare() {
        for (const name of chosen)
            if (!known.has(name)) known.set(name, await call("GET", `runs/${encodeURIComponent(name)}`));
        const runs = [...chosen].map((name) => known.get(name));
        compared.hidden = runs.length === 0;
        const perEpoch = (run) => {
            const last = run.points?.at(-1);
            return last ? last.step / Math.max(1, run.epochs || last.epoch) : 1;
        };
        const series = (pick, dots) => runs.map((run, style) => ({name: run.name, style, dots, points: pick(run)}));
        const points = (field) => (run) => (run.points ?? []).map((one) => [one.step / perEpoch(run), one[field]]);
        loss.show(series((run) => smooth(points("loss")(run))), 0);
        rate.show(series(points("learning_rate")), 0);
        accuracy.show(series((run) => (run.tests ?? []).map((one) => [one.epoch, one.accuracy]), true), 0);
        showSettings(runs);
    }

    function row(run) {
        const box = make("input", {type: "checkbox", checked: chosen.has(run.name), "aria-label": `Compare ${run.name}`});
        box.addEventListener("change", () => {
            if (box.checked && chosen.size >= MOST) {
                box.checked = false;
                problem.textContent = `At most ${MOST} runs are compared at a time.`;
                problem.hidden = false;
                return;
            }
            if (box.checked) chosen.add(run.name);
            else chosen.delete(run.name);
            attempt(problem, compare);
        });
        const used = state.network?.checkpoint?.startsWith(`${run.folder}/`);
        const use = make("button", {type: "button", disabled: used, "aria-label": `Predict with ${run.name}`,
            on: {click: () => attempt(problem, () => call("POST", "network", {run: run.name}))}}, used ? "In use" : "Use");
        return make("tr", {}, make("td", {}, box), make("th", {scope: "row"}, run.name), make("td", {}, run.state),
            make("td", {}, run.settings?.model ?? ""), make("td", {class: "number"}, String(run.epochs ?? "")),
            make("td", {class: "number"}, run.best_accuracy === undefined || run.best_accuracy === null ? "–"
                : percent(run.best_accuracy, 2)),
            make("td", {class: "number"}, run.images_per_second ? count(run.images_per_second) : "–"), make("td", {}, use));
    }

    async function refresh(shown) {
        if (!shown) return;
        await attempt(problem, async () => {
            const {runs} = await call("GET", "runs");
            known.clear();
            if (chosen.size === 0) runs.slice(0, 2).forEach((run) => chosen.add(run.name));
            list.replaceChildren(runs.length === 0
                ? make("p", {class: "dim"}, "There is no run yet. ", make("a", {href: "#train"}, "Train one."))
                : make("table", {class: "list of-runs"}, make("caption", {class: "unseen"}, "Runs, newest first"),
                    make("thead", {}, make("tr", {}, ...["Compare", "Run", "State", "Model", "Epochs", "Best accuracy",
                        "Images/s", "Predict"].map((name, at) => make("th", {scope: "col", class: at >= 4 && at <= 6 && "number"}, name)))),
                    make("tbody", {}, ...runs.map(row))));
            for (const name of chosen) if (!runs.some((run) => run.name === name)) chosen.delete(name);
            await compare();
        });
    }
    return {element, refresh};
}
