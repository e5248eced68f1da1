// A verdict as the learner reads it, and the marks that it leaves in the editor.

import {make, sentence} from "/learn/dom.js";
import {coloured} from "/highlight.js";

const mostShown = 3; // the others mostly go away with these

// Columns are counted in bytes.
function cut(text, column, width) {
    const bytes = new TextEncoder().encode(text), decoder = new TextDecoder();
    return [bytes.slice(0, column - 1), bytes.slice(column - 1, column - 1 + width), bytes.slice(column - 1 + width)]
        .map((part) => decoder.decode(part));
}

function codeLine(item) {
    const line = make("code");
    if (item.column > 0 && item.width > 0) {
        const [before, meant, after] = cut(item.text, item.column, item.width);
        line.append(coloured(before), make("mark", {}, coloured(meant)), coloured(after));
    } else {
        line.append(coloured(item.text));
    }
    return line;
}

// Accesses of the same line stand below one copy of it.
function codeItem(item, before, file, show) {
    const place = item.file === file
        ? make("button", {class: "line", type: "button", on: {click: () => show(item.line)}}, `line ${item.line}`)
        : make("span", {class: "dim"}, `${item.file}, line ${item.line}`);
    const said = make("div", {class: "access"}, place, item.about ? " " : "", sentence(item.about));
    const again = before && before.kind === "code" && before.line === item.line && before.file === item.file
        && before.column === item.column;
    return again ? [said] : [make("pre", {class: "quote"}, codeLine(item)), said];
}

function itemNodes(item, before, file, show) {
    switch (item.kind) {
    case "code": return codeItem(item, before, file, show);
    case "drawing": return [make("pre", {class: "drawing", tabindex: "0"}, item.text)];
    case "advice": return [make("p", {class: "advice"}, sentence(item.text))];
    default: return item.text.split(/\n{2,}/).map((part) => make("p", {}, sentence(part)));
    }
}

function reasonCard(reason, file, show) {
    const body = reason.items.flatMap((item, index) => itemNodes(item, reason.items[index - 1], file, show));
    return make("article", {class: "reason", "data-reason": reason.reason, "data-line": reason.line ?? "",
        "data-finding": reason.finding},
        make("h3", {}, sentence(reason.headline)),
        reason.case ? make("p", {class: "dim"}, `In the case: ${reason.case}`) : null,
        ...body);
}

function output(verdict) {
    if (!verdict.output) return null;
    return make("details", {class: "output"}, make("summary", {}, "What your program printed"),
        make("pre", {tabindex: "0"}, verdict.output));
}

function failed(verdict, file, show) {
    const cards = verdict.reasons.map((reason) => reasonCard(reason, file, show));
    const rest = cards.splice(mostShown);
    const more = rest.length > 0
        ? make("details", {class: "more"}, make("summary", {}, `${rest.length} more, which mostly go away with these`),
            ...rest) : null;
    return [make("h2", {class: "headline error"}, "Not yet"), ...cards, more, output(verdict)];
}

// What to show for {verdict} or {error}; `links.next()`: a link to go on with, `links.solution()`: opens the solution.
export function verdictNodes(judged, file, show, links) {
    if (judged.error) return [make("p", {class: "note warning"}, judged.error)];
    const verdict = judged.verdict;
    const nodes = verdict.passed
        ? [make("h2", {class: "headline good"}, "Passed"), links.next(),
            make("p", {}, make("button", {type: "button", on: {click: links.solution}}, "Compare with a solution")), output(verdict)]
        : failed(verdict, file, show);
    if (judged.unrecorded) nodes.push(make("p", {class: "note warning"}, `Not recorded: ${judged.unrecorded}`));
    return nodes.filter(Boolean);
}

// In one sentence, for a screen reader.
export function verdictSentence(judged) {
    if (judged.error) return judged.error;
    if (judged.verdict.passed) return "Passed";
    const first = judged.verdict.reasons[0];
    const others = judged.verdict.reasons.length - 1;
    return `Not yet: ${first.headline}${first.line ? `, line ${first.line}` : ""}${others ? `, and ${others} more` : ""}`;
}

// One main mark per line, and one for each other line that takes part.
export function marksOf(judged, file) {
    const marks = new Map();
    for (const reason of judged.verdict?.reasons.slice(0, mostShown) ?? []) {
        const said = reason.items.filter((item) => item.kind === "text" || item.kind === "advice");
        if (reason.line && !marks.get(reason.line)?.main)
            marks.set(reason.line, {line: reason.line, headline: reason.headline, explanation: said[0]?.text ?? "",
                main: true});
        for (const item of reason.items)
            if (item.kind === "code" && item.file === file && !marks.has(item.line))
                marks.set(item.line, {line: item.line, headline: item.about || reason.headline, main: false});
    }
    return [...marks.values()];
}
