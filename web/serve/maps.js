// Numbers as small pictures: images of the data, and what layers compute.

import {make} from "/learn/dom.js";
import {bytes} from "/serve/api.js";

// One colour after another from dark blue over green to light yellow: even to the eye, and right for the colour-blind.
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
const COLOURS = Array.from({length: 256}, (_, value) => {
    const at = value / 255 * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2);
    return STOPS[low].map((part, index) => Math.round(part + (STOPS[low + 1][index] - part) * (at - low)));
});

// Puts `count` bytes from `offset` on a canvas of width × height.
function paint(canvas, values, offset, width, height, colour) {
    const context = canvas.getContext("2d");
    const image = context.createImageData(width, height);
    for (let i = 0; i < width * height; i++) {
        if (offset + i < values.length) image.data.set([...colour(values, offset + i), 255], 4 * i);
    }
    canvas.width = width;
    canvas.height = height;
    context.putImageData(image, 0, 0);
}

// An image of the data: {shape: [channels, height, width], pixels: base64}.
export function picture(image, label) {
    const [channels, height, width] = image.shape, area = height * width, values = bytes(image.pixels);
    const canvas = make("canvas", {class: "picture", role: "img", "aria-label": label});
    paint(canvas, values, 0, width, height, channels === 3
        ? (all, i) => [all[i], all[i + area], all[i + 2 * area]]
        : (all, i) => [all[i], all[i], all[i]]);
    return canvas;
}

// A layer without height and width is shown about twice as wide as high, in rows of ten cells or more.
const rowOf = (cells) => Math.min(cells, Math.max(10, Math.ceil(Math.sqrt(2 * cells))));

// What a layer gives, as {maps, height, width, pixels}, into an element; its canvases are used again.
export function showMaps(holder, layer) {
    const values = bytes(layer.pixels);
    const flat = layer.shape.length === 1;
    const width = flat ? rowOf(layer.width) : layer.width;
    const height = flat ? Math.ceil(layer.width / width) : layer.height;
    const grey = layer.name === "input";
    while (holder.children.length > layer.maps) holder.lastChild.remove();
    while (holder.children.length < layer.maps) holder.append(make("canvas", {"aria-hidden": "true"}));
    holder.classList.toggle("flat", flat);
    for (let map = 0; map < layer.maps; map++)
        paint(holder.children[map], values, map * width * height, width, height, (all, i) =>
            (grey ? [all[i], all[i], all[i]] : COLOURS[all[i]]));
}
