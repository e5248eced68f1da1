// An access past the end of an array: the array's last elements, and behind them the one that is not there, with the thread
// that asked for it.

import { fitting, make, paragraph, picture, shorten, wrap } from './svg.js';
import { accesses, blockOf, blockText, bufferName, eventOf, lineOf, sourceOf, threadText } from './trace.js';

// The array and the element beside it that the finding is about; null: it cannot be drawn.
export function missed(trace, at) {
    const event = at && eventOf(trace, at), access = event && event.wrong && event.bytes > 0 ? accesses(event).find(one => one.lane === at.lane) : null;
    if (!access || !(access.buffer >= 0))
        return null;
    const index = access.offset / event.bytes, count = Math.floor(trace.buffers[access.buffer].bytes / event.bytes);
    return Number.isInteger(index) && (index < 0 || index >= count) && count > 0 ? { event, access, index, count } : null;
}

// Which elements are drawn, from left to right, in so many boxes; null: some are left out here.
function boxesOf(index, count, most) {
    const past = index >= count, near = past ? index - count <= 2 : index >= -3, boxes = [];
    if (near)
        for (let i = past ? count : -1; past ? i <= index : i >= index; i += past ? 1 : -1)
            boxes.push(i);
    else
        boxes.push(null, index);
    const room = most - boxes.length, whole = count <= room, shown = whole ? count : room - 1;
    const inside = Array.from({ length: shown }, (_, i) => past ? count - 1 - i : i);
    return past ? inside.reverse().concat(boxes).reduce((all, one, i) => i === 0 && !whole ? [null, one] : all.concat(one), [])
        : boxes.reverse().concat(inside, whole ? [] : [null]);
}

// options: launch, block, event, lane (of a wrong access, as `missed` takes them), width.
export function bounds(trace, options) {
    const { event, access, index, count } = missed(trace, options), width = options.width || 720, launch = trace.launches[options.launch];
    const block = blockOf(trace, options), name = bufferName(trace, access.buffer), verb = event.kind === 'read' ? 'reads' : event.kind === 'write' ? 'writes' : 'updates';
    const who = threadText(launch, access.thread) + ' of ' + blockText(launch, block), last = count - 1;
    const title = name + '[' + index + '] is ' + (index < 0 ? 'before the start' : 'past the end');
    const summary = who[0].toUpperCase() + who.slice(1) + ' ' + verb + ' element ' + index + ' at line ' + lineOf(trace, event.place) + '. ' + name + ' has ' +
        count.toLocaleString('en') + (count === 1 ? ' element: 0' : ' elements: 0 to ' + last.toLocaleString('en')) +
        (event.bytes === 4 ? '.' : ', of ' + event.bytes + ' bytes each.');
    // Who made the same access to the elements that are there.
    const users = new Map();
    for (const one of block.events)
        if (one.place === event.place && one.kind === event.kind && !one.wrong && one.bytes === event.bytes && one.offsets !== undefined)
            for (const its of accesses(one))
                if (its.buffer === access.buffer)
                    users.set(its.offset / event.bytes, its.thread);

    const digits = String(Math.max(Math.abs(index) + (index < 0 ? 9 : 0), count)).length;
    const PAD = 8, cellWidth = Math.max(34, 7 * digits + 6), cellHeight = 26, top = 62, boxes = boxesOf(index, count, Math.floor((width - 2 * PAD) / cellWidth));
    const told = wrap(summary, fitting(width - 2 * PAD)).length, height = top + cellHeight + 48 + told * 17;
    const { svg, hatch } = picture('bounds', width, height, title, summary);
    make(svg, 'text', { x: PAD, y: 18, class: 'head' }, shorten(title, fitting(width - 2 * PAD, 13)));
    make(svg, 'text', { x: PAD, y: 36, class: 'note' }, shorten(sourceOf(trace, event.place), fitting(width - 2 * PAD)));
    make(svg, 'text', { x: PAD, y: top - 8, class: 'axis' },
        shorten(name + ': the thread of ' + blockText(launch, block) + ' that ' + verb + ' it', fitting(width - 2 * PAD, 10)));
    boxes.forEach(function (element, i) {
        const x = PAD + i * cellWidth, middle = x + cellWidth / 2;
        if (element === null) {
            make(svg, 'text', { x: middle, y: top + 17, class: 'note middle' }, '…');
            return;
        }
        const meant = element === index, inside = element >= 0 && element < count;
        make(svg, 'rect', {
            x: x + 1, y: top, width: cellWidth - 2, height: cellHeight, rx: 2, fill: meant || inside ? null : hatch,
            class: meant ? 'wrong' : inside ? users.has(element) ? 'soft read-edge' : 'cell' : null,
        });
        if (meant || users.has(element))
            make(svg, 'text', { x: middle, y: top + 17, class: 'small middle' + (meant ? ' on' : '') }, String(meant ? access.thread : users.get(element)));
        make(svg, 'text', { x: middle, y: top + cellHeight + 13, class: meant ? 'bad small middle' : 'axis middle' }, String(element));
    });
    paragraph(svg, PAD, top + cellHeight + 42, width - 2 * PAD, summary, 'bad');
    return svg;
}
