// Curves as SVG: one chart with a line per series, which follows the page's colours.

import {make} from "/learn/dom.js";

const SPACE = "http://www.w3.org/2000/svg";
const WIDTH = 420, HEIGHT = 200, LEFT = 46, RIGHT = 12, TOP = 12, BOTTOM = 34;

function svg(tag, attributes, text) {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
}

// Round numbers from low to high, four or five of them.
export function ticks(low, high) {
    const rough = (high - low || 1) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough);
    const all = [];
    for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) all.push(value);
    return all;
}

const short = (value) => Number(value.toPrecision(3)).toString();

// series: [{name, points: [[x, y], ...], style: 0.., dots}]; style picks a colour and a dash.
export function createChart(title, {format = short, least = 0, most = null} = {}) {
    const picture = svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart"});
    const caption = make("figcaption", {}, title);
    const element = make("figure", {class: "curve"}, caption, picture);

    function show(series, endX) {
        const all = series.flatMap((one) => one.points).filter(([, y]) => Number.isFinite(y));
        const highX = Math.max(endX || 0, ...all.map(([x]) => x), 0.001);
        const low = Math.min(least, ...all.map(([, y]) => y));
        const high = most ?? Math.max(...all.map(([, y]) => y), low + 1e-6) * 1.05;
        const atX = (x) => LEFT + x / highX * (WIDTH - LEFT - RIGHT);
        const atY = (y) => HEIGHT - BOTTOM - (Math.min(y, high) - low) / (high - low) * (HEIGHT - TOP - BOTTOM);
        const parts = [];
        for (const value of ticks(low, high)) {
            parts.push(svg("line", {class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: atY(value), y2: atY(value)}));
            parts.push(svg("text", {x: LEFT - 6, y: atY(value) + 4, "text-anchor": "end"}, format(value)));
        }
        for (const value of ticks(0, highX)) {
            parts.push(svg("text", {x: Math.min(atX(value), WIDTH - RIGHT), y: HEIGHT - BOTTOM + 16,
                "text-anchor": "middle"}, short(value)));
        }
        parts.push(svg("text", {x: WIDTH - RIGHT, y: HEIGHT - 4, "text-anchor": "end", class: "unit"}, "epochs"));
        for (const one of series) {
            const points = one.points.filter(([, y]) => Number.isFinite(y)).map(([x, y]) => [atX(x), atY(y)]);
            if (points.length > 1) {
                parts.push(svg("polyline", {class: `line style-${one.style % 6}`,
                    points: points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")}));
            }
            if (one.dots || points.length === 1)
                for (const [x, y] of points) parts.push(svg("circle", {class: `dot style-${one.style % 6}`, cx: x, cy: y, r: 3.5}));
        }
        if (all.length === 0)
            parts.push(svg("text", {x: WIDTH / 2, y: HEIGHT / 2, "text-anchor": "middle", class: "unit"}, "nothing yet"));
        picture.replaceChildren(...parts);
        picture.setAttribute("aria-label", `${title}. ` + series.filter((one) => one.points.length > 0)
            .map((one) => `${one.name}: now ${format(one.points.at(-1)[1])}`).join("; "));
        caption.replaceChildren(title, ...series.length > 1 ? series.map((one) =>
            make("span", {class: `key style-${one.style % 6}`}, one.name)) : []);
    }
    show([], 1);
    return {element, show};
}

// Lines that jump from point to point, calmed: the mean over about a fiftieth of the curve on each side.
export function smooth(points) {
    const reach = Math.floor(points.length / 50);
    if (reach === 0) return points;
    return points.map(([x], at) => {
        const part = points.slice(Math.max(0, at - reach), at + reach + 1);
        return [x, part.reduce((sum, [, y]) => sum + y, 0) / part.length];
    });
}
