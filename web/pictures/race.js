// A race: both threads side by side at their lines, and the two orders in which their accesses may happen. Which one a GPU
// takes is not determined: if the results differ, the program is wrong.

import { fitting, make, paragraph, picture, shorten, wrap } from './svg.js';
import { accesses, blockOf, dimensionsOf, elementName, indexText, isAccess, sourceLine, valueText } from './trace.js';

function isRead(place) {
    return place.role.indexOf('read') >= 0 && place.role.indexOf('write') < 0;
}

// The places of the finding with the access that the trace has for each, if it has one. A name tells the two threads apart:
// it has the block where the blocks differ.
function partiesOf(trace, finding) {
    const launches = trace.launches.filter(launch => launch.kernel === finding.kernel), apart = finding.places[0].block.join() !== finding.places[1].block.join();
    const most = Math.max(...launches.map(dimensionsOf), ...finding.places.map(place => Math.max(...place.thread.concat(place.block).map((number, i) => number ? i % 3 + 1 : 1))));
    return finding.places.map(function (place) {
        const at = place.events && place.events[0], event = at && trace.launches[at.launch].blocks[at.block].events[at.event];
        const access = event && event.offsets !== undefined ? accesses(event).find(one => one.lane === at.lane) : null;
        const thread = 'thread ' + indexText(place.thread, most), block = 'block ' + indexText(place.block, most);
        return { place, event, access, thread, block, name: apart ? thread + ' of ' + block : thread, labels: apart ? [thread, block] : [thread] };
    });
}

// The line of a place and two on either side, without the indentation that they share: [{number, text, meant}].
function excerptOf(trace, place, most) {
    const lines = [], rows = [];
    for (let number = Math.max(1, place.line - 2); number <= place.line + 2; number++)
        lines.push({ number, text: sourceLine(trace, place.file, number).replace(/\t/g, '    ') });
    const shared = Math.min(...lines.filter(one => one.text.trim()).map(one => one.text.search(/\S/)), 80);
    for (const one of lines) {
        const text = one.text.slice(shared), indent = text.slice(0, Math.max(0, text.search(/\S/)));
        const pieces = one.number === place.line ? wrap(text.trim(), most - indent.length - 2) : [shorten(text.trim(), most - indent.length)];
        pieces.forEach((piece, i) => rows.push({
            number: i ? '' : String(one.number), text: indent + (i ? '  ' : '') + piece, meant: one.number === place.line,
        }));
    }
    return rows;
}

// Whether this finding can be drawn: two accesses of threads.
export function isRace(finding) {
    return finding.kind === 'race' && finding.places.length === 2 && finding.places.every(place => place.thread && place.line);
}

function stepText(party, before, name) {
    if (isRead(party.place))
        return { text: 'reads ' + name, sees: before };
    const value = party.access && party.access.value !== undefined ? valueText(party.access.value, party.event.bytes) : null;
    return { text: (party.place.role === 'atomic' ? 'updates ' : 'writes ') + (value !== null ? value : name), leaves: value !== null ? value : 'its value' };
}

// The order that goes wrong, as the party that is first in it; -1: not known. A read of what nobody has written before waits
// for the write. Where the element was written before the last barrier, that is what the read is about.
function wrongFirst(trace, finding, parties) {
    const reader = parties.findIndex(one => isRead(one.place)), read = parties[reader];
    if (reader < 0 || isRead(parties[1 - reader].place))
        return -1;
    if (finding.note && finding.note.indexOf('uninitialised') >= 0)
        return reader;
    if (!read.access || !read.place.events.length)
        return -1;
    const events = blockOf(trace, read.place.events[0]).events.slice(0, read.place.events[0].event);
    const barrier = events.map(event => event.kind === 'leave' && event.barrier === undefined).lastIndexOf(true);
    const before = events.slice(0, barrier + 1).some(event => isAccess(event) && event.kind !== 'read' &&
        accesses(event).some(one => one.buffer === read.access.buffer && one.offset === read.access.offset));
    return before ? 1 - reader : -1;
}

// What each order leads to, in words.
function outcome(first, second) {
    if (isRead(second.place))
        return second.name + ' reads what ' + first.name + ' wrote';
    if (isRead(first.place))
        return first.name + ' reads what was there before';
    return 'the value of ' + second.name + ' stays';
}

// options: finding (index in trace.findings), width.
export function race(trace, options) {
    const finding = trace.findings[options.finding], width = options.width || 720;
    const parties = partiesOf(trace, finding), known = parties.find(one => one.access), colours = ['one', 'other'];
    const memory = finding.memory || {};
    const name = known ? elementName(trace, known.access.buffer, known.access.offset, known.event.bytes)
        : memory.name || 'the same memory';
    const title = 'A race on ' + name;
    const summary = parties.map(one => one.thread + ' of ' + one.block + ' ' + (isRead(one.place) ? 'reads' : 'writes') + ' it at line ' + one.place.line).join('; ') +
        '. There is no synchronisation between the two accesses.';

    const PAD = 8, narrow = width < 560, gap = 16, half = narrow ? width - 2 * PAD : (width - 2 * PAD - gap) / 2;
    const { svg, arrow } = picture('race', width, 10, title, summary);
    make(svg, 'text', { x: PAD, y: 18, class: 'head' }, shorten(title, fitting(width - 2 * PAD, 13)));
    let y = 30;

    // Both threads at their lines; the line itself in full, the ones around it as far as they fit.
    const excerpts = parties.map(party => excerptOf(trace, party.place, fitting(half - 46)));
    const codeHeight = 26 + 17 * Math.max(...excerpts.map(rows => rows.length));
    parties.forEach(function (party, i) {
        const x = narrow ? PAD : PAD + i * (half + gap), top = narrow ? y + i * (codeHeight + 10) : y;
        make(svg, 'rect', { x, y: top, width: half, height: codeHeight, class: 'panel', rx: 4 });
        make(svg, 'text', { x: x + 8, y: top + 17, class: colours[i] + '-text head' }, shorten(party.name, fitting(party.labels.length > 1 ? half - 16 : half - 100, 13)));
        if (party.labels.length === 1)
            make(svg, 'text', { x: x + half - 8, y: top + 17, class: 'axis end' }, party.block);
        excerpts[i].forEach(function (row, k) {
            if (row.meant)
                make(svg, 'rect', { x: x + 2, y: top + 25 + k * 17, width: half - 4, height: 17, class: colours[i] + '-back' });
            make(svg, 'text', { x: x + 30, y: top + 38 + k * 17, class: 'axis end' }, row.number);
            make(svg, 'text', { x: x + 38, y: top + 38 + k * 17, class: row.meant ? null : 'note' }, row.text);
        });
    });
    y += (narrow ? 2 * codeHeight + 10 : codeHeight) + 16;

    // Both orders, as messages between the threads and the memory.
    const before = isRead(parties[0].place) || isRead(parties[1].place) ? 'what was there' : 'anything';
    const orders = [[0, 1], [1, 0]].map(order => ({
        order, heading: wrap('If ' + parties[order[0]].name + ' is first', fitting(half - 16)),
        leads: wrap(outcome(parties[order[0]], parties[order[1]]), fitting(half - 16)),
    }));
    const headHeight = 5 + 17 * Math.max(...orders.map(one => one.heading.length)), labelHeight = 12 * parties[0].labels.length;
    const wires = headHeight + labelHeight + 10, wiresEnd = wires + 82, orderHeight = wiresEnd + 12 + 17 * Math.max(...orders.map(one => one.leads.length));
    const bad = wrongFirst(trace, finding, parties);
    orders.forEach(function ({ order, heading, leads }, i) {
        const x = narrow ? PAD : PAD + i * (half + gap), top = narrow ? y + i * (orderHeight + 10) : y;
        const columns = [x + 0.16 * half, x + 0.5 * half, x + 0.84 * half];
        make(svg, 'rect', { x, y: top, width: half, height: orderHeight, class: 'panel', rx: 4 });
        heading.forEach((text, k) => make(svg, 'text', { x: x + 8, y: top + 18 + k * 17, class: i === bad ? 'bad' : null }, text));
        [parties[0].labels, [name], parties[1].labels].forEach(function (labels, k) {
            const above = top + headHeight + labelHeight + 6;
            labels.forEach((text, line) => make(svg, 'text', {
                x: columns[k], y: above - 12 * (labels.length - 1 - line), class: 'small middle' + (k === 1 ? '' : ' ' + colours[k / 2] + '-text'),
            }, shorten(text, fitting(half / 3.1, 10))));
            make(svg, 'path', { d: 'M' + columns[k] + ' ' + (top + wires) + ' V' + (top + wiresEnd), class: k === 1 ? 'wire' : 'wire-' + colours[k / 2] + ' thin' });
        });
        let value = before;
        order.forEach(function (who, nth) {
            const party = parties[who], step = stepText(party, value, name), at = top + wires + 26 + nth * 42, outer = columns[who === 0 ? 0 : 2], read = isRead(party.place);
            const inner = columns[1], from = read ? inner : outer, to = read ? outer : inner;
            const shift = to > from ? -3 : 3;
            make(svg, 'path', { d: 'M' + (from - shift) + ' ' + at + ' H' + (to + shift), class: i === bad && read ? 'wire-wrong' : 'wire-' + colours[who], 'marker-end': arrow });
            make(svg, 'text', { x: (outer + inner) / 2, y: at - 6, class: 'small middle' }, shorten((nth + 1) + '. ' + (read ? 'reads ' + (value === before ? 'old' : value) : step.text), fitting(half * 0.33, 10)));
            if (!read) {
                value = step.leaves;
                make(svg, 'circle', { cx: inner, cy: at, r: 4, class: colours[who] });
            }
        });
        leads.forEach((text, k) => make(svg, 'text', { x: x + 8, y: top + wiresEnd + 18 + k * 17, class: i === bad ? 'bad' : null }, text));
    });
    y += (narrow ? 2 * orderHeight + 10 : orderHeight) + 22;
    const values = parties.map(one => isRead(one.place) ? null : stepText(one, before, name).leaves), alike = known && values[0] !== null && values[0] !== 'its value' && values[0] === values[1];
    y = paragraph(svg, PAD, y, width - 2 * PAD, 'There is no synchronisation between the two accesses: a GPU may run them in either order, and the order may change from run to run.' +
        (alike ? ' Both write ' + values[0] + ' here, so the result is the same; with other values it would not be.' : ''), 'note');
    svg.setAttribute('height', y);
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + y);
    return svg;
}
