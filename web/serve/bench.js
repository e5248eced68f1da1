// Benchmarks: the results there are, each ladder as bars and as a table, and a quick measurement of one operator.

import {announce, make} from "/learn/dom.js";
import {attempt, call, count} from "/serve/api.js";

const digits = (value) => (value >= 1000 ? count(value) : String(Number(value.toPrecision(3))));
const known = (value, shown) => (Number.isFinite(value) ? shown(value) : "–");
const share = (value) => `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;

// Both kinds of files as groups of bars: {title, tiers, bars: [{name, tier, length, figure, wrong}], columns, cells}.
// A tier is a colour, and a word beside the bar for those who do not see it.
function groupLadders(document) {
    const groups = new Map();
    for (const row of document.results) {
        const title = `${row.op} · ${row.shape}`;
        if (!groups.has(title)) groups.set(title, {title, op: row.op, shape: row.shape, rows: []});
        groups.get(title).rows.push(row);
    }
    return [...groups.values()].map((group) => {
        const fastest = Math.min(...group.rows.map((row) => row.microseconds ?? Infinity));
        const versus = group.rows.find((row) => row.vendor_rung)?.vendor_rung;
        return {...group, tiers: {own: "own", best: "best own", vendor: "vendor"},
            bars: group.rows.map((row) => ({name: row.rung, type: row.dtype,
                tier: row.tier === "vendor" ? "vendor" : row.best_own ? "best" : "own",
                length: Number.isFinite(row.microseconds) ? fastest / row.microseconds : 0,
                figure: Number.isFinite(row.microseconds) ? [`${digits(row.microseconds)} µs`,
                    known(row.roofline, (value) => `${share(value)} of roofline`),
                    known(row.ratio, (value) => `× ${value.toFixed(2)}`)] : null,
                problem: Number.isFinite(row.microseconds) ? "" : (row.message ?? row.status).replace(`${row.rung}: `, ""),
                wrong: ["wrong", "failed"].includes(row.status)})),
            columns: ["Rung", "Type", "µs", "GFLOP/s", "GB/s", "Roofline", versus ? `× ${versus}` : "×",
                "What it does, what limits it"],
            cells: group.rows.filter((row) => Number.isFinite(row.microseconds)).map((row) => [row.rung, row.dtype,
                digits(row.microseconds), known(row.gflops, digits), known(row.gbytes_per_second, digits),
                known(row.roofline, share), known(row.ratio, (value) => value.toFixed(2)), row.note ?? ""])};
    });
}

function groupNetworks(document) {
    const groups = new Map();
    for (const row of document.results.filter((one) => Number.isFinite(one.rate))) {
        const title = `${document.job ?? row.job ?? "network"} · batch ${row.batch}`;
        if (!groups.has(title)) groups.set(title, {title, rows: []});
        groups.get(title).rows.push(row);
    }
    return [...groups.values()].map((group) => {
        const fastest = Math.max(...group.rows.map((row) => row.rate));
        const name = (row) => [row.kernels ?? row.mode, row.precision].filter(Boolean).join(", ");
        return {...group, tiers: {own: "slower", best: "fastest"},
            bars: group.rows.map((row) => ({name: name(row), tier: row.rate === fastest ? "best" : "own",
                length: row.rate / fastest, figure: [`${count(row.rate)} images/s`], problem: ""})),
            columns: ["Kernels", "Images per second"],
            cells: group.rows.map((row) => [name(row), count(row.rate)])};
    });
}

function barsOf(group) {
    return make("ol", {class: "ladder", "aria-label": `${group.title}: speed of each rung`}, ...group.bars.map((bar) => {
        const fill = make("span", {class: `fill ${bar.tier}`});
        fill.style.width = `${Math.max(0.4, 100 * bar.length)}%`;
        return make("li", {}, make("span", {class: "name"}, bar.name,
            make("span", {class: "dim"}, ` ${[bar.type, group.tiers[bar.tier]].filter(Boolean).join(" · ")}`)),
            make("span", {class: "figure"}, ...bar.figure
                ? bar.figure.filter((part) => part !== "–").map((part, at) => (at === 0 ? part : make("span", {class: "dim more"}, ` · ${part}`)))
                : [make("span", {class: bar.wrong ? "error" : "dim"}, bar.problem)]),
            bar.figure && make("span", {class: "track"}, fill));
    }));
}

function tableOf(group) {
    const left = (at) => at === 0 || group.columns[at].startsWith("What") || group.columns[at] === "Type";
    return make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Figures of ${group.title}`},
        make("table", {class: "list"}, make("caption", {class: "unseen"}, group.title),
            make("thead", {}, make("tr", {}, ...group.columns.map((name, at) =>
                make("th", {scope: "col", class: !left(at) && "number"}, name)))),
            make("tbody", {}, ...group.cells.map((row) => make("tr", {}, ...row.map((text, at) => at === 0
                ? make("th", {scope: "row"}, text) : make("td", {class: left(at) ? "" : "number"}, text)))))));
}

function field(id, label, control) {
    control.id = id;
    return make("div", {class: "field"}, make("label", {for: id}, label), control);
}

export function createBench() {
    const problem = make("p", {class: "error", role: "alert", hidden: true});
    const files = make("select", {}), groups = make("select", {}), operators = make("select", {});
    const facts = make("p", {class: "dim reading-line"}), shown = make("div", {class: "figures-of"});
    const measure = make("button", {type: "submit"}, "Measure");
    const busy = make("p", {class: "dim", role: "status"});
    const choose = make("div", {class: "fields two"}, field("result-file", "Results", files), field("result-group", "Ladder", groups));
    const none = make("p", {class: "note"});
    const form = make("form", {class: "settings"}, make("div", {class: "fields two"}, field("operator", "Operator", operators),
        make("div", {class: "field bottom"}, measure)),
    make("p", {class: "dim"}, "A quick look at its first shape on this machine, every result checked: timed for a " +
        "twentieth of a second per rung; checking takes longer. Leave the machine alone meanwhile. ",
    make("code", {}, "heddle bench"), " takes its time."), busy);
    const element = make("div", {class: "view"}, make("h1", {}, "Bench"), problem, none, choose, facts, shown,
        make("section", {}, make("h2", {}, "Measure an operator"), form));
    let open = null, all = [];

    function showGroup() {
        const group = all[Number(groups.value)];
        shown.replaceChildren(...group ? [make("h2", {}, group.title),
            make("p", {class: "keys-of dim"}, ...Object.entries(group.tiers).map(([tier, name]) =>
                make("span", {class: `legend ${tier}`}, name))), barsOf(group), tableOf(group)] : []);
    }

    async function showFile() {
        const name = files.value;
        const document = await call("GET", `results/${encodeURIComponent(name)}`);
        if (files.value !== name) return; // another was chosen meanwhile
        open = name;
        all = document.format === "heddle bench 1" ? groupLadders(document) : groupNetworks(document);
        groups.replaceChildren(...all.map((group, at) => make("option", {value: at}, group.title)));
        facts.textContent = [document.device_name, document.driver && `driver ${document.driver}`,
            document.threads && document.device === "cpu" && `${document.threads} threads`, `heddle ${document.version}`,
            (document.date ?? "").slice(0, 10)].filter(Boolean).join(" · ");
        showGroup();
    }

    async function list(chosen) {
        const {folder, results, operators: names} = await call("GET", "results");
        const wanted = chosen ?? open;
        files.replaceChildren(...results.map((one) => make("option", {value: one.name, selected: one.name === wanted},
            `${one.name} (${one.rows} rows)`)));
        const before = operators.value;
        operators.replaceChildren(...names.map((name) => make("option", {value: name, selected: name === (before || "matmul_forward")}, name)));
        form.parentNode.hidden = names.length === 0;
        none.hidden = results.length > 0;
        none.textContent = `There are no results in ${folder} yet. Measure an operator below, or with ` +
            `heddle bench matmul --json=${folder}/matmul.json`;
        choose.hidden = facts.hidden = results.length === 0;
        if (results.length > 0) await showFile();
        else shown.replaceChildren();
    }

    files.addEventListener("change", () => attempt(problem, showFile));
    groups.addEventListener("change", showGroup);
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        attempt(problem, async () => {
            measure.disabled = true;
            busy.textContent = `Measuring ${operators.value}…`;
            try {
                const {name} = await call("POST", "bench", {op: operators.value});
                await list(name);
                announce(`${operators.value} is measured.`);
                files.focus();
            } finally {
                measure.disabled = false;
                busy.textContent = "";
            }
        });
    });
    return {element, refresh: (entered) => entered && attempt(problem, () => list())};
}
