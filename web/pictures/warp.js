// A warp's access to global memory: 32 lanes over 32-byte sectors, the bytes that they want against the bytes that move.

import { clear, fitting, make, paragraph, picture, shorten, slider, wrap } from './svg.js';
import { LANES, SECTOR, WORD, accesses, bufferName, elementName, eventOf, lineOf, sectorsOf, sourceOf, wantedBytes } from './trace.js';

// options: launch, block, event (indices in the trace), width.
export function warpAccess(trace, options) {
    const event = eventOf(trace, options), width = options.width || 720, sectors = sectorsOf(event), all = accesses(event);
    const wanted = wantedBytes(event), moved = sectors.length * SECTOR, share = Math.round(100 * wanted / moved);
    const verb = event.kind === 'read' ? 'load' : event.kind === 'write' ? 'store' : 'atomic';
    const name = bufferName(trace, all[0].buffer), line = lineOf(trace, event.place);
    const title = 'Line ' + line + ': ' + verb + ' of ' + name + ', ' + event.bytes + ' B per lane';
    const summary = all.length + (all.length === 1 ? ' lane wants ' : ' lanes want ') + wanted.toLocaleString('en') + ' B; ' +
        sectors.length + (sectors.length === 1 ? ' sector of 32 B moves ' : ' sectors of 32 B move ') + moved.toLocaleString('en') + ' B: ' +
        share + ' % is used.';

    const PAD = 8, laneWidth = (width - 2 * PAD) / LANES, laneTop = 52, laneHeight = 18;
    const columns = width < 480 ? 2 : 4, gap = 10;
    const sectorWidth = (width - 2 * PAD - (columns - 1) * gap) / columns, wordWidth = sectorWidth / (SECTOR / WORD);
    const shown = sectors.slice(0, 32), rows = Math.ceil(shown.length / columns), rowHeight = columns === 2 ? 33 : 38;
    const memoryTop = laneTop + laneHeight + 32, barTop = memoryTop + rows * rowHeight + 18, barWidth = width - 2 * PAD;
    const told = wrap(summary, fitting(barWidth)).length + (sectors.length > shown.length ? 1 : 0), height = barTop + 22 + told * 17 + 54;
    const { svg, hatch } = picture('warp', width, height, title, summary);

    make(svg, 'text', { x: PAD, y: 18, class: 'head' },
        title.length <= fitting(width - 2 * PAD, 13) ? title : shorten(title.split(', ')[0], fitting(width - 2 * PAD, 13)));
    make(svg, 'text', { x: PAD, y: 36, class: 'note' }, shorten(sourceOf(trace, event.place), fitting(width - 2 * PAD)));
    const lanes = make(svg, 'g', { 'aria-hidden': 'true' }), byLane = new Map(all.map(one => [one.lane, one]));
    for (let lane = 0; lane < LANES; lane++) {
        const x = PAD + lane * laneWidth;
        make(lanes, 'rect', {
            x, y: laneTop, width: laneWidth - 1, height: laneHeight, rx: 2, class: byLane.has(lane) ? event.kind : 'cell',
        });
    }
    for (let lane = 0; lane < LANES; lane++) {
        if (laneWidth >= 15 || lane % 8 === 0)
            make(lanes, 'text', {
                x: PAD + (lane + 0.5) * laneWidth, y: laneTop + 13, class: 'small middle' + (byLane.has(lane) ? ' on' : ' note'),
            }, String(lane));
    }
    make(svg, 'text', { x: PAD, y: barTop - 8, class: 'axis' }, shorten('sectors by byte offset; hatched bytes are not wanted', fitting(barWidth, 10)));

    const memory = make(svg, 'g', { 'aria-hidden': 'true' }), places = new Map();
    shown.forEach(function (sector, i) {
        const x = PAD + i % columns * (sectorWidth + gap), y = memoryTop + Math.floor(i / columns) * rowHeight;
        make(memory, 'rect', { x, y, width: sectorWidth, height: 18, class: 'panel' });
        for (let word = 0; word < SECTOR / WORD; word++) {
            const at = sector.start + word * WORD, users = sector.words.get(at), left = x + word * wordWidth;
            make(memory, 'rect', {
                x: left + 0.5, y: y + 0.5, width: wordWidth - 1, height: 17,
                class: users ? event.kind : null, fill: users ? null : hatch,
            });
            if (!users)
                continue;
            for (const lane of users)
                if (!places.has(lane))
                    places.set(lane, { x: left + wordWidth / 2, y, box: { x: left, y, width: wordWidth } });
            const text = users.length > 1 ? '×' + users.length : String(users[0]);
            if (wordWidth >= 15)
                make(memory, 'text', { x: left + wordWidth / 2, y: y + 13, class: 'small middle on' }, text);
        }
        make(memory, 'text', { x, y: y + 29, class: 'axis' }, String(sector.start));
    });

    const bar = make(svg, 'g', { 'aria-hidden': 'true' });
    make(bar, 'rect', { x: PAD, y: barTop, width: barWidth, height: 14, fill: hatch });
    make(bar, 'rect', { x: PAD, y: barTop, width: barWidth * wanted / moved, height: 14, class: event.kind });
    let y = paragraph(svg, PAD, barTop + 32, barWidth, summary, sectors.length > Math.ceil(wanted / SECTOR) && share < 50 ? 'bad' : 'good');
    if (sectors.length > shown.length)
        y = paragraph(svg, PAD, y, barWidth, (sectors.length - shown.length) + ' more sectors are not drawn.');

    const pointer = make(svg, 'g', { 'aria-hidden': 'true' }), words = make(svg, 'text', { x: PAD, y: height - 30, class: 'note' });
    slider(svg, { x: PAD, y: height - 24, width: barWidth, height: 22 }, 'Lane', LANES - 1, options.lane || 0, function (lane) {
        const one = byLane.get(lane), place = places.get(lane), left = PAD + lane * laneWidth;
        const text = one ? 'Lane ' + lane + ' wants ' + elementName(trace, one.buffer, one.offset, event.bytes) + ', at byte ' + one.offset
            : 'Lane ' + lane + ' takes no part';
        clear(pointer);
        make(pointer, 'rect', { x: left - 1, y: laneTop - 1, width: laneWidth + 1, height: laneHeight + 2, rx: 2, class: 'mark' });
        if (place) {
            const from = left + laneWidth / 2, down = laneTop + laneHeight + 3;
            make(pointer, 'path', { d: 'M' + from + ' ' + down + ' C' + from + ' ' + (down + 24) + ' ' + place.x + ' ' + (place.y - 26) + ' ' + place.x + ' ' + (place.y - 2), class: 'wire-now' });
            make(pointer, 'rect', { x: place.box.x, y: place.y - 1, width: place.box.width, height: 20, class: 'mark' });
        }
        words.textContent = shorten(text, fitting(barWidth));
        return text;
    });
    return svg;
}
