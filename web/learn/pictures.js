// Pictures of what the run behind a verdict recorded: in the card of each finding, and of each kernel below all cards.

import {make} from "/learn/dom.js";
import {forFinding, forLaunch, place, streams} from "/pictures/pictures.js";

// Draws into places that are on the page already, so that each is as wide as it will be. Returns a function that ends it.
export function drawPictures(verdict, trace) {
    const ends = [];

    function add(parent, picture) {
        const host = make("div", {class: "drawn"});
        parent.append(host);
        ends.push(place(host, picture.draw, trace, picture.options));
    }

    // Drawn when it is opened for the first time.
    function fold(parent, title, pictures) {
        if (pictures.length === 0) return;
        const details = make("details", {class: "more"}, make("summary", {}, title));
        details.addEventListener("toggle", () => pictures.forEach((one) => add(details, one)), {once: true});
        parent.append(details);
    }

    for (const card of verdict.querySelectorAll(".reason[data-finding]")) {
        const [first, ...others] = forFinding(trace, Number(card.dataset.finding));
        if (first && !card.closest("details")) add(card, first);
        else if (first) fold(card, "Picture", [first]);
        fold(card, "In time: which thread did what when", others);
    }
    const kernels = new Map();
    trace.launches.forEach((launch, index) => {
        if (launch.blocks.length > 0 && !kernels.has(launch.kernel)) kernels.set(launch.kernel, index);
    });
    for (const [kernel, index] of kernels) fold(verdict, `Pictures of ${kernel}`, forLaunch(trace, index));
    if (new Set(trace.operations.map((one) => one.stream)).size > 1)
        fold(verdict, "Pictures of the streams", [{draw: streams, options: {}}]);
    return () => ends.forEach((end) => end());
}
