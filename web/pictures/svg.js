// Drawing: elements, text, and the slider that all pictures with steps share. Colours are classes of pictures.css, so that
// light and dark are the page's choice. Nothing here knows what a trace is.

const NAMESPACE = 'http://www.w3.org/2000/svg';
let pictureCount = 0;

// An element with attributes, inside `parent`; text content where `text` is given.
export function make(parent, name, attributes, text) {
    const element = document.createElementNS(NAMESPACE, name);
    for (const key of Object.keys(attributes || {}))
        if (attributes[key] !== undefined && attributes[key] !== null)
            element.setAttribute(key, attributes[key]);
    if (text !== undefined)
        element.textContent = text;
    if (parent)
        parent.appendChild(element);
    return element;
}

export function clear(element) {
    while (element.firstChild)
        element.removeChild(element.firstChild);
}

// The picture itself, with its name and description for those who do not see it.
export function picture(kind, width, height, title, description) {
    const number = ++pictureCount;
    const svg = make(null, 'svg', {
        class: 'picture picture-' + kind, viewBox: '0 0 ' + width + ' ' + height, width, height,
        role: 'group', 'aria-labelledby': 'picture-' + number + '-title', 'aria-describedby': 'picture-' + number + '-text',
    });
    make(svg, 'title', { id: 'picture-' + number + '-title' }, title);
    make(svg, 'desc', { id: 'picture-' + number + '-text' }, description);
    const patterns = make(svg, 'defs', {});
    const hatch = make(patterns, 'pattern', {
        id: 'picture-' + number + '-hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)',
    });
    make(hatch, 'rect', { width: 5, height: 5, class: 'hatch-back' });
    make(hatch, 'rect', { width: 1.6, height: 5, class: 'hatch-line' });
    const arrow = make(patterns, 'marker', {
        id: 'picture-' + number + '-arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
        orient: 'auto-start-reverse',
    });
    make(arrow, 'path', { d: 'M0 0.5 L8 4 L0 7.5 Z', class: 'arrow-head' });
    return {
        svg, width, height, hatch: 'url(#picture-' + number + '-hatch)', arrow: 'url(#picture-' + number + '-arrow)',
    };
}

// How many characters of the pictures' text fit in so many units. The widths are those of the fixed-width face.
export function fitting(width, size) {
    return Math.max(1, Math.floor(width / (0.605 * (size || 12))));
}

export function shorten(text, most) {
    return text.length <= most ? text : text.slice(0, Math.max(1, most - 1)) + '…';
}

// Text in lines of at most `most` characters, broken between words.
export function wrap(text, most) {
    const lines = [];
    let line = '';
    for (const word of text.split(' ')) {
        if (line && line.length + 1 + word.length > most) {
            lines.push(line);
            line = '';
        }
        line = line ? line + ' ' + word : word;
    }
    lines.push(line);
    return lines;
}

// Writes wrapped text from a baseline on; returns the baseline of the line behind it.
export function paragraph(parent, x, y, width, text, className, step) {
    for (const line of wrap(text, fitting(width, 12))) {
        make(parent, 'text', { x, y, class: className || 'note' }, line);
        y += step || 17;
    }
    return y;
}

// A slider from 0 to most, in steps: arrow keys, page keys, Home and End, and the pointer. `change` is called with every
// new value and returns the words for it. The element has setValue(number).
export function slider(parent, box, label, most, value, change) {
    const TRACK = 6, KNOB = 8;
    const group = make(parent, 'g', {
        class: 'slider', role: 'slider', tabindex: 0, 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': most,
        'aria-orientation': 'horizontal',
    });
    const middle = box.y + box.height / 2, span = box.width - 2 * KNOB;
    make(group, 'rect', { x: box.x, y: box.y, width: box.width, height: box.height, class: 'slider-area', rx: 4 });
    make(group, 'rect', { x: box.x + KNOB, y: middle - TRACK / 2, width: span, height: TRACK, class: 'slider-track', rx: 3 });
    const done = make(group, 'rect', { x: box.x + KNOB, y: middle - TRACK / 2, width: 0, height: TRACK, class: 'slider-done', rx: 3 });
    const knob = make(group, 'circle', { cy: middle, r: KNOB, class: 'slider-knob' });
    let now = -1;
    function set(next) {
        next = Math.max(0, Math.min(most, Math.round(next)));
        if (next === now)
            return;
        now = next;
        const x = most > 0 ? span * now / most : 0;
        done.setAttribute('width', x);
        knob.setAttribute('cx', box.x + KNOB + x);
        group.setAttribute('aria-valuenow', now);
        group.setAttribute('aria-valuetext', change(now) || String(now));
    }
    const keys = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 8, PageDown: -8, Home: -Infinity, End: Infinity };
    group.addEventListener('keydown', function (event) {
        if (!(event.key in keys) || event.altKey || event.ctrlKey || event.metaKey)
            return;
        event.preventDefault();
        set(now + keys[event.key]);
    });
    function follow(event) {
        const frame = group.ownerSVGElement.getBoundingClientRect();
        const scale = frame.width > 0 ? Number(group.ownerSVGElement.getAttribute('width')) / frame.width : 1;
        set(((event.clientX - frame.left) * scale - box.x - KNOB) / Math.max(1, span) * most);
    }
    group.addEventListener('pointerdown', function (event) {
        group.setPointerCapture(event.pointerId);
        group.focus();
        follow(event);
    });
    group.addEventListener('pointermove', function (event) {
        if (event.buttons & 1)
            follow(event);
    });
    set(value);
    group.setValue = set;
}
