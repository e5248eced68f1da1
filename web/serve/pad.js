// The sheet of paper to draw on: by mouse, finger or pen, and by keys. It knows nothing of networks.

import {make} from "/learn/dom.js";

const SIDE = 280; // pixels of the sheet, of which a network sees a small copy
const SENT = 112; // pixels of the copy that is sent: still far more than digits need
const PEN = 22;
const STEP = 14; // of an arrow key

// changed() is called after every stroke and every piece of one.
export function createPad(changed) {
    const sheet = make("canvas", {width: SIDE, height: SIDE, class: "sheet", tabindex: "0", role: "application",
        "aria-roledescription": "drawing area", "aria-label": "Draw a digit", "aria-describedby": "pad-keys"});
    const pen = make("span", {class: "pen", hidden: true, "aria-hidden": "true"});
    const context = sheet.getContext("2d", {willReadFrequently: true});
    const copy = make("canvas", {width: SENT, height: SENT}).getContext("2d", {willReadFrequently: true});
    let last = null, cursor = {x: SIDE / 2, y: SIDE / 2}, down = false, empty = true;

    function clear() {
        context.fillStyle = "#fff";
        context.fillRect(0, 0, SIDE, SIDE);
        empty = true;
        down = false;
        changed();
    }

    function stroke(from, to) {
        context.strokeStyle = "#111";
        context.lineWidth = PEN;
        context.lineCap = context.lineJoin = "round";
        context.beginPath();
        context.moveTo(from.x, from.y);
        context.lineTo(to.x, to.y);
        context.stroke();
        empty = false;
        changed();
    }

    const place = (event) => {
        const box = sheet.getBoundingClientRect();
        return {x: (event.clientX - box.left) * SIDE / box.width, y: (event.clientY - box.top) * SIDE / box.height};
    };
    sheet.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        sheet.setPointerCapture(event.pointerId);
        pen.hidden = true;
        last = place(event);
        stroke(last, {x: last.x + 0.1, y: last.y});
    });
    // Where the browser can tell of a move at once, without waiting for the next frame, the prediction is earlier by half
    // of one.
    sheet.addEventListener("onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove", (event) => {
        if (!last) return;
        const all = event.getCoalescedEvents?.() ?? [];
        for (const one of all.length > 0 ? all : [event]) {
            const next = place(one);
            stroke(last, next);
            last = next;
        }
    });
    for (const name of ["pointerup", "pointercancel"]) sheet.addEventListener(name, () => { last = null; });

    function showPen() {
        pen.hidden = false;
        pen.classList.toggle("down", down);
        pen.style.left = `${100 * cursor.x / SIDE}%`;
        pen.style.top = `${100 * cursor.y / SIDE}%`;
    }
    const ways = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    sheet.addEventListener("keydown", (event) => {
        const way = ways[event.key];
        if (way) {
            const inside = (value) => Math.min(SIDE - PEN / 2, Math.max(PEN / 2, value));
            const next = {x: inside(cursor.x + STEP * way[0]), y: inside(cursor.y + STEP * way[1])};
            if (down) stroke(cursor, next);
            cursor = next;
        } else if (event.key === " ") {
            down = !down;
            if (down) stroke(cursor, {x: cursor.x + 0.1, y: cursor.y});
        } else if (event.key === "Delete" || event.key === "Backspace") {
            clear();
        } else {
            return;
        }
        event.preventDefault();
        showPen();
    });
    sheet.addEventListener("blur", () => { pen.hidden = true; });
    sheet.addEventListener("focus", () => { if (sheet.matches(":focus-visible")) showPen(); });

    // An image of the data, dark on paper whatever its own background is, as the network gets it.
    function show(picture) {
        context.imageSmoothingEnabled = false;
        context.drawImage(picture, 0, 0, SIDE, SIDE);
        empty = false;
    }

    function png() {
        copy.drawImage(sheet, 0, 0, SENT, SENT);
        return copy.canvas.toDataURL("image/png");
    }

    return {element: make("div", {class: "paper"}, sheet, pen), clear, show, isEmpty: () => empty, png};
}
