// Numbers as small pictures: images of the data, and what layers compute.

import {make} from "/learn/dom.js";
import {bytes} from "/serve/api.js";

// One colour after another from dark blue over green to light yellow: even to the eye, and right for the colour-blind.
const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
// A pixel as a canvas holds it in memory.
const pixel = (red, green, blue) => new Uint32Array(new Uint8ClampedArray([red, green, blue, 255]).buffer)[0];
const COLOURS = Uint32Array.from({length: 256}, (_, value) => {
    const at = value / 255 * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2);
    return pixel(...STOPS[low].map((part, index) => Math.round(part + (STOPS[low + 1][index] - part) * (at - low))));
});
const GREYS = Uint32Array.from({length: 256}, (_, value) => pixel(value, value, value));

// Puts width × height pixels on a canvas: colour(i) is that of pixel i.
function paint(canvas, width, height, colour) {
    const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
    for (let i = 0; i < pixels.length; i++) pixels[i] = colour(i);
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    canvas.getContext("2d").putImageData(image, 0, 0);
}

// An image of the data: {shape: [channels, height, width], pixels: base64}.
export function picture(image, label) {
    const [channels, height, width] = image.shape, area = height * width, values = bytes(image.pixels);
    const canvas = make("canvas", {class: "picture", role: "img", "aria-label": label});
    paint(canvas, width, height, channels === 3
        ? (i) => pixel(values[i], values[i + area], values[i + 2 * area])
        : (i) => GREYS[values[i]]);
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
    const colours = layer.name === "input" ? GREYS : COLOURS;
    while (holder.children.length > layer.maps) holder.lastChild.remove();
    while (holder.children.length < layer.maps) holder.append(make("canvas", {"aria-hidden": "true"}));
    holder.classList.toggle("flat", flat);
    for (let map = 0; map < layer.maps; map++) {
        const offset = map * width * height; // of a flat layer the last row may be shorter: the rest is clear
        paint(holder.children[map], width, height, (i) => (offset + i < values.length ? colours[values[offset + i]] : 0));
    }
}
