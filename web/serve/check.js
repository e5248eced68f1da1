// A CUDA program dropped on the page, checked on the simulated GPU.

import {announce, make, sentence} from "/learn/dom.js";
import {call} from "/serve/api.js";

const LARGEST = 1 << 20;

export function createCheck() {
    const file = make("input", {type: "file", id: "cuda-file", accept: ".cu"});
    const drop = make("div", {class: "drop"}, make("p", {}, "Drop a .cu file on the page, or choose one:"),
        make("label", {for: "cuda-file", class: "unseen"}, "CUDA file"), file);
    const verdict = make("div", {class: "result", "aria-live": "polite"});
    const element = make("div", {class: "view"}, make("h1", {}, "Check"),
        make("p", {class: "reading-line"}, "Runs a CUDA program on the simulated GPU, without a GPU, and names races, " +
            "out-of-bounds accesses, uninitialised reads and more. The program runs on this computer, contained as ",
        make("code", {}, "heddle check"), " contains it."), drop, verdict);

    function place(finding) {
        const at = finding.places?.[0];
        return at?.line ? `line ${at.line}` : "";
    }

    function show(answer) {
        const findings = answer.result.findings ?? [];
        verdict.replaceChildren(
            make("p", {class: `note ${answer.failed ? "error" : "good"}`}, make("strong", {}, answer.name), `: ${answer.verdict}`),
            make("ul", {class: "findings"}, ...findings.map((one) => make("li", {},
                make("strong", {}, sentence(one.headline ?? one.kind)), place(one) && `, ${place(one)}`,
                one.message ? sentence(`: ${one.message.replace(/\.$/, "")}.`) : null,
                one.cure ? make("p", {class: "cure"}, make("strong", {}, "Fix: "), sentence(one.cure)) : null))),
            make("p", {}, make("a", {class: "button", href: answer.report, target: "_blank", rel: "noopener"},
                "Open the report with pictures")));
        announce(answer.verdict);
    }

    async function check(chosen) {
        if (!chosen) return;
        const problem = !chosen.name.endsWith(".cu") ? `${chosen.name} is not a .cu file.`
            : chosen.size > LARGEST ? `${chosen.name} is larger than 1 MB.` : null;
        if (problem) {
            verdict.replaceChildren(make("p", {class: "note error"}, problem));
            return;
        }
        verdict.replaceChildren(make("p", {class: "dim"}, `Checking ${chosen.name}…`));
        drop.setAttribute("aria-busy", "true");
        try {
            const name = chosen.name.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^[.-]+/, "");
            show(await call("POST", "check", {name, source: await chosen.text()}));
        } catch (failure) {
            verdict.replaceChildren(make("p", {class: "note error"}, failure.message));
        }
        drop.removeAttribute("aria-busy");
    }

    file.addEventListener("change", () => check(file.files[0]));
    return {element, check, refresh() {}};
}
