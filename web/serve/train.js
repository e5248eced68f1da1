// Start, watch, pause and stop a run.

import {announce, make} from "/learn/dom.js";
import {call, count, isRunning, percent} from "/serve/api.js";
import {createChart, smooth} from "/serve/charts.js";

const WORDS = {idle: "no run yet", starting: "starting", training: "training", paused: "paused", stopping: "stopping",
    complete: "complete", stopped: "stopped", failed: "failed"};

function field(id, label, control, help) {
    control.id = id;
    control.name = id;
    if (help) control.setAttribute("aria-describedby", `${id}-help`);
    return make("div", {class: "field"}, make("label", {for: id}, label), control,
        help && make("p", {class: "dim", id: `${id}-help`}, help));
}

const number = (value, least, most, step) => make("input", {type: "number", value, min: least, max: most, step, required: true});

function select(values, chosen) {
    return make("select", {}, ...values.map(([value, label, disabled]) =>
        make("option", {value, selected: value === chosen, disabled}, label)));
}

// Where nobody has a network yet, the generated digits, which take seconds.
function easiest(state) {
    return state.datasets.some((set) => set.name === "synth" && set.present) ? "synth" : state.default_data;
}

function createForm(state, started) {
    const problem = make("p", {class: "error", role: "alert", hidden: true});
    const button = make("button", {type: "submit", class: "primary"}, "Start training");
    const same = (values) => values.map((value) => [value, value]);
    const controls = {
        model: select(same(state.models), "cnn"),
        data: select(state.datasets.map((set) => [set.name, set.present ? set.name : `${set.name} (not installed)`,
            !set.present]), state.network ? state.default_data : easiest(state)),
        epochs: number(3, 1, 1000000, 1),
        batch: number(32, 1, 1000000, 1),
        rate: number(0.05, 0.000001, 1000, "any"),
        optimizer: select(same(["sgd", "momentum", "adamw"]), "sgd"),
        schedule: select(same(["constant", "linear", "cosine"]), "linear"),
        device: select([["", "default"], ...same(["cpu", "cuda", "sim"])], ""),
        precision: select(same(["fp32", "tf32x3", "tf32", "fp16", "bf16"]), "fp32"),
        seed: number(1, 0, 1000000000, 1),
    };
    const labels = {model: "Model", data: "Data", epochs: "Epochs", batch: "Batch size", rate: "Learning rate",
        optimizer: "Optimiser", schedule: "Schedule", device: "Device", precision: "Precision", seed: "Seed"};
    const helps = {optimizer: "With adamw, try a learning rate of 0.001.", device: "The default is a GPU, if there is one.",
        precision: "Others than fp32 need a GPU."};
    const fields = Object.entries(controls).map(([name, control]) => field(name, labels[name], control, helps[name]));
    const form = make("form", {class: "settings"}, make("div", {class: "fields"}, ...fields.slice(0, 5)),
        make("details", {}, make("summary", {}, "More settings"), make("div", {class: "fields"}, ...fields.slice(5))),
        make("div", {class: "row"}, button), problem);
    form.addEventListener("submit", async (event) => {
        event.preventDefault();
        problem.hidden = true;
        const wish = {};
        for (const [name, control] of Object.entries(controls))
            if (control.value !== "") wish[name] = control.type === "number" ? Number(control.value) : control.value;
        try {
            started(await call("POST", "train", wish));
        } catch (failure) {
            problem.textContent = failure.message;
            problem.hidden = false;
        }
    });
    return {form, allow: (allowed) => { button.disabled = !allowed; }};
}

export function createTrain(state) {
    const {form, allow} = createForm(state, take);
    const loss = createChart("Loss");
    const accuracy = createChart("Accuracy", {format: (value) => `${Math.round(100 * value)} %`, most: 1});
    const rate = createChart("Learning rate");
    const pill = make("span", {class: "pill"}), where = make("span", {class: "dim"});
    const ready = make("span", {hidden: true}, ". ", make("a", {href: "#try"}, "Try its network"));
    const bar = make("progress", {max: "1", value: "0", "aria-label": "Progress of the run"});
    const figures = make("dl", {class: "figures"});
    const problem = make("p", {class: "error", role: "alert", hidden: true});
    const order = (text, name) => make("button", {type: "button", on: {click: async () => {
        try {
            take(await call("POST", `train/${name}`, {}));
        } catch (failure) {
            problem.textContent = failure.message;
            problem.hidden = false;
        }
    }}}, text);
    const pause = order("Pause", "pause"), resume = order("Resume", "resume"), stop = order("Stop", "stop");
    const live = make("section", {class: "live", "aria-label": "The run"},
        make("p", {class: "run"}, pill, " ", where, ready), bar, figures,
        make("div", {class: "row"}, pause, resume, stop), problem,
        make("div", {class: "curves"}, loss.element, accuracy.element, rate.element));
    const element = make("div", {class: "view"}, make("h1", {}, "Train"), form, live);
    let said = "";

    // The latest state, with the whole curve or with what is new of it.
    function take(training) {
        const before = state.training ?? {};
        const same = before.run === training.run;
        const points = training.points ?? (same ? before.points : []);
        const tests = training.tests ?? (same ? before.tests : []);
        const add = (list, one) => { if (one && one[0] > (list.at(-1)?.[0] ?? 0)) list.push(one); };
        add(points, training.point);
        add(tests, training.test);
        state.training = {...training, points, tests};
        show();
    }

    function figure(label, value) {
        return make("div", {}, make("dt", {}, label), make("dd", {}, value ?? "–"));
    }

    function show() {
        const now = state.training;
        const active = isRunning(now);
        live.hidden = now.state === "idle";
        allow(!active);
        pause.disabled = now.state !== "training";
        resume.disabled = now.state !== "paused";
        stop.disabled = !active || now.state === "stopping";
        if (live.hidden) return;
        pill.textContent = WORDS[now.state];
        pill.className = `pill ${now.state}`;
        where.textContent = `${now.model} on ${now.data}, kept in ${now.run}`;
        ready.hidden = now.state !== "complete";
        problem.hidden = !now.error;
        problem.textContent = now.error ?? "";
        const part = now.points.at(-1)?.[0] ?? 0;
        bar.value = now.state === "complete" ? 1 : Math.min(1, part / now.epochs);
        const optional = (value, shown) => (value === undefined ? null : shown(value));
        figures.replaceChildren(
            figure("Epoch", `${now.epoch} of ${now.epochs}`),
            figure("Loss", optional(now.loss, (value) => value.toFixed(3))),
            figure("Training accuracy", optional(now.accuracy, percent)),
            figure("Test accuracy", optional(now.test_accuracy, (value) => percent(value, 2))),
            figure("Images per second", optional(now.images_per_second, count)),
            ...(now.gpus ?? []).flatMap((gpu, at) => {
                const name = now.gpus.length > 1 ? `GPU ${at}` : "GPU";
                return [figure(`${name} load`, optional(gpu.load, (value) => percent(value, 0))),
                    figure(`${name} power`, optional(gpu.watts, (value) => `${Math.round(value)} W`))];
            }));
        const column = (list, at) => list.map((one) => [one[0], one[at]]);
        const both = (at) => [{name: "training", points: smooth(column(now.points, at)), style: 0},
            {name: "test", points: column(now.tests, at), style: 1, dots: true}];
        loss.show(both(1), now.epochs);
        accuracy.show(both(2), now.epochs);
        rate.show([{name: "learning rate", points: column(now.points, 3), style: 0}], now.epochs);
        const news = `${now.run}${now.state}${now.tests.length}`;
        if (news === said) return;
        said = news;
        const last = now.tests.at(-1);
        announce(`Run ${WORDS[now.state]}${last ? `; after epoch ${last[0]} test accuracy ${percent(last[2])}` : ""}`);
    }
    return {element, refresh: show, take};
}
