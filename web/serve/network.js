// The network as a diagram: a block per layer, in the order they run, with its shape, its parameters and what it
// computes for the image at hand.

import {make} from "/learn/dom.js";
import {count} from "/serve/api.js";
import {showMaps} from "/serve/maps.js";

const SPACE = "http://www.w3.org/2000/svg";
const KINDS = {conv2d: "convolution", linear: "fully connected", batchnorm2d: "batch normalisation",
    maxpool2d: "max pooling", avgpool2d: "average pooling"};

function svg(tag, attributes) {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
}

// A box whose face is height × width and whose depth the channels, each by its logarithm.
function box(shape) {
    const [channels, height, width] = shape.length === 3 ? shape : [1, shape[0], 1];
    const size = (value, unit) => Math.max(3, Math.log2(value + 1) * unit);
    const w = size(width, 5), h = size(height, shape.length === 3 ? 5 : 4), d = size(channels, 3) * 0.7;
    const picture = svg("svg", {viewBox: "0 0 56 48", class: "box", "aria-hidden": "true"});
    const x = (56 - w - d) / 2, y = (48 - h - d) / 2 + d;
    const points = (all) => all.map((pair) => pair.join(",")).join(" ");
    picture.append(
        svg("polygon", {class: "lid", points: points([[x, y], [x + d, y - d], [x + d + w, y - d], [x + w, y]])}),
        svg("polygon", {class: "side",
            points: points([[x + w, y], [x + w + d, y - d], [x + w + d, y - d + h], [x + w, y + h]])}),
        svg("rect", {class: "face", x, y, width: w, height: h}));
    return picture;
}

function block(layer) {
    const maps = make("div", {class: "maps"});
    // Those inside another layer are listed behind it, and what they compute is seen in it.
    const element = make("li", {class: layer.name.includes(".") ? "layer nested" : "layer"},
        make("div", {class: "head"}, box(layer.shape),
            make("div", {}, make("h3", {}, layer.name),
                make("p", {class: "kind dim"}, KINDS[layer.type] ?? layer.type))),
        make("p", {class: "shape"}, layer.shape.join(" × "),
            layer.parameters > 0 && make("span", {class: "dim"}, `, ${count(layer.parameters)} parameters`)),
        layer.details && make("p", {class: "details dim"}, layer.details),
        maps);
    return {element, maps};
}

export function createDiagram() {
    const list = make("ol", {class: "layers"});
    let blocks = new Map();

    function show(network) {
        blocks = new Map();
        const all = [{name: "input", type: "the image", shape: network.input, parameters: 0, details: ""},
            ...network.layers];
        for (const layer of all) blocks.set(layer.name, block(layer));
        list.replaceChildren(...[...blocks.values()].map((one) => one.element));
    }

    function showValues(layers) {
        for (const layer of layers) {
            const found = blocks.get(layer.name);
            if (found) showMaps(found.maps, layer);
        }
    }
    return {element: list, show, showValues};
}
