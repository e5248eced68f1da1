// Pictures of what the run behind a verdict recorded: in the card of each finding, and of each kernel below all cards.

import {make} from "/learn/dom.js";
import {blockInTime, forFinding, forLaunch, place, sharedBanks, streams, tileWay, warpAccess} from "/pictures/pictures.js";

export const malformed = "The pictures of this run cannot be drawn: its trace is malformed."; // the judged program can write one

// What the glossary has on the words in a picture.
const words = new Map([[warpAccess, ["warp", "lane", "sector"]], [sharedBanks, ["bank", "lane", "wavefront"]],
    [blockInTime, ["block", "warp", "barrier"]], [tileWay, ["tile", "register"]], [streams, ["stream"]]]);

function glossary(draw) {
    const links = (words.get(draw) ?? []).flatMap((word, index) => [index > 0 ? ", " : " ", make("a", {href: `/read/glossary#${word}`}, word)]);
    return links.length > 0 ? make("p", {class: "dim words"}, "In the glossary:", ...links) : "";
}

// Draws into places that are on the page already, so that each is as wide as it will be. Returns a function that ends it.
export function drawPictures(verdict, trace) {
    const ends = [];

    function add(parent, picture) {
        const host = make("div", {class: "drawn"});
        parent.append(host, glossary(picture.draw));
        ends.push(place(host, picture.draw, trace, picture.options));
    }

    // Chosen and drawn when it is opened for the first time: of a long trace, that takes as long as a key press may.
    function fold(parent, title, choose) {
        const details = make("details", {class: "more"}, make("summary", {}, title));
        details.addEventListener("toggle", () => {
            try {
                choose().forEach((one) => add(details, one));
            } catch {
                details.append(make("p", {class: "dim"}, malformed));
            }
        }, {once: true});
        parent.append(details);
    }

    for (const card of verdict.querySelectorAll(".reason[data-finding]")) {
        const [first, ...others] = forFinding(trace, Number(card.dataset.finding));
        if (first && !card.closest("details")) add(card, first);
        else if (first) fold(card, "Picture", () => [first]);
        if (others.length > 0) fold(card, "In time: which thread did what when", () => others);
    }
    const kernels = new Map();
    trace.launches.forEach((launch, index) => {
        if (launch.blocks.length > 0 && !kernels.has(launch.kernel)) kernels.set(launch.kernel, index);
    });
    for (const [kernel, index] of kernels) fold(verdict, `Pictures of ${kernel}`, () => forLaunch(trace, index));
    if (new Set(trace.operations.map((one) => one.stream)).size > 1)
        fold(verdict, "Pictures of the streams", () => [{draw: streams, options: {}}]);
    return () => ends.forEach((end) => end());
}
