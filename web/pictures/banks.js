// A warp's access to shared memory: 32 banks, and in each the different words that it has to give, stacked. The highest
// stack is the number of wavefronts.

import { clear, fitting, make, paragraph, picture, shorten, slider } from './svg.js';
import { BANKS, LANES, accesses, bankGroups, bufferName, elementName, eventOf, lineOf, rangeText, sourceOf, wavefronts } from './trace.js';

// options: launch, block, event (indices in the trace), width.
export function sharedBanks(trace, options) {
    const event = eventOf(trace, options), width = options.width || 720, groups = bankGroups(trace, event), all = accesses(event);
    const count = wavefronts(groups), ideal = groups.length, name = bufferName(trace, all[0].buffer);
    const verb = event.kind === 'read' ? 'load' : event.kind === 'write' ? 'store' : 'atomic';
    const title = 'Line ' + lineOf(trace, event.place) + ': shared ' + verb + ' of ' + name + ', ' + event.bytes + ' B per lane';
    const summary = count === ideal ? 'No bank has to give two different words: ' + count + (count === 1 ? ' wavefront.' : ' wavefronts.')
        : 'Bank conflicts: ' + count + ' wavefronts where ' + ideal + ' would do. Words in one bank are given one after the other.';

    const PAD = 8, columnWidth = (width - 2 * PAD) / BANKS, cellHeight = 17, top = 52;
    const { svg, hatch } = picture('banks', width, 10, title, summary);
    make(svg, 'text', { x: PAD, y: 18, class: 'head' },
        title.length <= fitting(width - 2 * PAD, 13) ? title : shorten(title.split(', ')[0], fitting(width - 2 * PAD, 13)));
    make(svg, 'text', { x: PAD, y: 36, class: 'note' }, shorten(sourceOf(trace, event.place), fitting(width - 2 * PAD)));
    const stacks = make(svg, 'g', { 'aria-hidden': 'true' }), places = new Map();
    let y = top;
    for (const group of groups) {
        const most = Math.max(...group.banks.map(bank => bank.length)), base = y + most * cellHeight;
        if (groups.length > 1)
            make(stacks, 'text', { x: PAD, y: y - 4, class: 'axis' }, 'lanes ' + rangeText(group.lanes));
        group.banks.forEach(function (bank, number) {
            const x = PAD + number * columnWidth;
            for (let level = 0; level < most; level++)
                make(stacks, 'rect', {
                    x: x + 0.5, y: base - (level + 1) * cellHeight + 0.5, width: columnWidth - 1, height: cellHeight - 1,
                    class: level < bank.length ? event.kind : null, fill: level < bank.length ? null : hatch, rx: 1,
                });
            bank.forEach(function (one, level) {
                const cell = { x, y: base - (level + 1) * cellHeight };
                for (const lane of one.lanes)
                    if (!places.has(lane))
                        places.set(lane, { cell, number, one });
                const text = one.lanes.length > 1 ? '×' + one.lanes.length : String(one.lanes[0]);
                if (columnWidth >= 15)
                    make(stacks, 'text', { x: x + columnWidth / 2, y: cell.y + 12.5, class: 'small middle on' }, text);
            });
            if (columnWidth >= 15 || number % 8 === 0)
                make(stacks, 'text', { x: x + columnWidth / 2, y: base + 12, class: 'axis middle' }, String(number));
        });
        y = base + 18 + (groups.length > 1 ? 16 : 0);
    }
    make(svg, 'text', { x: PAD, y: y + 8, class: 'axis' },
        shorten(columnWidth >= 15 ? 'bank; in each cell the lane, or how many lanes share the word' : 'bank', fitting(width - 2 * PAD, 10)));
    y = paragraph(svg, PAD, y + 32, width - 2 * PAD, summary, count > ideal ? 'bad' : 'good');
    const pointer = make(svg, 'g', { 'aria-hidden': 'true' }), words = make(svg, 'text', { x: PAD, y: y + 6, class: 'note' });
    const byLane = new Map(all.map(one => [one.lane, one]));
    slider(svg, { x: PAD, y: y + 12, width: width - 2 * PAD, height: 22 }, 'Lane', LANES - 1, options.lane || 0, function (lane) {
        const place = places.get(lane), one = byLane.get(lane);
        const text = place ? 'Lane ' + lane + ' wants ' + elementName(trace, one.buffer, one.offset, event.bytes) + ' in bank ' + place.number
            : 'Lane ' + lane + ' takes no part';
        clear(pointer);
        if (place)
            make(pointer, 'rect', { x: place.cell.x, y: place.cell.y, width: columnWidth, height: cellHeight, class: 'mark' });
        words.textContent = shorten(text, fitting(width - 2 * PAD));
        return text;
    });
    svg.setAttribute('height', y + 38);
    svg.setAttribute('viewBox', '0 0 ' + width + ' ' + (y + 38));
    return svg;
}
