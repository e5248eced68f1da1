// A tile's way through global memory, shared memory and registers, as one thread of a tiled kernel goes it: what it loads,
// where it puts it, what it reads from the tile, what it stores. Buffers are drawn as matrices; how long a row is, follows
// from the addresses that neighbouring threads use.

import { clear, fitting, make, paragraph, picture, shorten, slider, wrap } from './svg.js';
import { accesses, blockOf, blockText, bufferName, isAccess, isShared, leftOut, lineOf, sourceOf, threadText, valueText } from './trace.js';
import { stepsOf } from './block.js';

// Elements per row: where consecutive addresses end, another row begins.
function rowLength(offsets, bytes, whole) {
    const sorted = Array.from(new Set(offsets)).sort((a, b) => a - b), starts = [];
    sorted.forEach(function (offset, i) {
        if (i === 0 || offset !== sorted[i - 1] + bytes)
            starts.push(offset);
    });
    let least = Infinity;
    for (let i = 1; i < starts.length; i++)
        least = Math.min(least, starts[i] - starts[i - 1]);
    return { pitch: least === Infinity ? whole / bytes : least / bytes, run: sorted.length / Math.max(1, starts.length) };
}

// The buffers that the block uses, as matrices.
function matrices(trace, placed) {
    const found = new Map();
    for (const one of placed) {
        if (!isAccess(one.event) || one.event.wrong)
            continue;
        for (const access of accesses(one.event)) {
            if (!(access.buffer >= 0))
                continue;
            if (!found.has(access.buffer))
                found.set(access.buffer, { buffer: access.buffer, bytes: one.event.bytes, first: one.step, kinds: new Set(), offsets: [] });
            const about = found.get(access.buffer);
            about.kinds.add(one.event.kind);
            if (about.offsets.length < 4096 && (isShared(trace, access.buffer) ? one.event.kind === 'write' : one.step < about.first + 3))
                about.offsets.push(access.offset);
        }
    }
    const all = Array.from(found.values()).slice(0, 8);
    let run = 0;
    for (const one of all) {
        const shape = rowLength(one.offsets, one.bytes, trace.buffers[one.buffer].bytes);
        one.shared = isShared(trace, one.buffer);
        one.columns = shape.pitch;
        if (!one.shared)
            run = run || shape.run;
    }
    for (const one of all) {
        const count = trace.buffers[one.buffer].bytes / one.bytes;
        if (one.shared && one.columns >= count && run > 1 && count % run === 0)
            one.columns = run; // tiles are as wide as what is loaded into them
        one.columns = Math.max(1, Math.min(Math.round(one.columns), count));
        one.rows = Math.ceil(count / one.columns);
    }
    return all;
}

// Whether a block has such a way: it loads from global memory, stores to a tile of several rows in shared memory, and reads
// that.
export function hasTile(trace, options) {
    const block = blockOf(trace, options);
    if (!block)
        return false;
    const seen = new Set(block.events.filter(isAccess).map(event => event.kind + (isShared(trace, event.buffer) ? ' shared' : ' global')));
    return ['read global', 'write shared', 'read shared'].every(one => seen.has(one)) &&
        matrices(trace, stepsOf(block).placed).some(one => one.shared && one.rows > 1 && one.columns > 1);
}

// options: launch, block, thread (its number in the block), step (of that thread), width.
export function tileWay(trace, options) {
    const launch = trace.launches[options.launch || 0], block = blockOf(trace, options), width = options.width || 720;
    const { placed, barriers } = stepsOf(block), all = matrices(trace, placed), thread = options.thread || 0, warp = Math.floor(thread / 32);
    const mine = placed.filter(one => one.warp === warp && isAccess(one.event)).map(one => Object.assign({ access: accesses(one.event).find(access => access.thread === thread) }, one))
        .filter(one => one.access);
    const title = 'A tile’s way: ' + threadText(launch, thread) + ' of ' + blockText(launch, block);
    const loads = mine.filter(one => one.event.kind === 'read' && !isShared(trace, one.access.buffer)).length;
    const reads = mine.filter(one => one.event.kind === 'read' && isShared(trace, one.access.buffer)).length;
    const summary = 'The thread loads ' + loads + (loads === 1 ? ' element' : ' elements') + ' from global memory and reads ' + reads +
        ' from shared memory.' + leftOut(trace, launch, block);

    const PAD = 8, gap = 14, globals = all.filter(one => !one.shared), tiles = all.filter(one => one.shared);
    const most = Math.max(1, Math.min(3, Math.max(globals.length, tiles.length))), side = Math.min(190, (width - 2 * PAD - (most - 1) * gap) / most);
    const told = wrap(summary, fitting(width - 2 * PAD)).length, globalTop = 61 + told * 17, REGISTERS = 64;
    const scaleOf = one => Math.min(side / one.columns, side / one.rows);
    const highest = list => Math.max(8, ...list.slice(0, most).map(one => one.rows * scaleOf(one)));
    const tileTop = globalTop + highest(globals) + 44, registerTop = tileTop + highest(tiles) + 34;
    const height = registerTop + REGISTERS + 62;
    const { svg, arrow } = picture('tile', width, height, title, summary);
    make(svg, 'text', { x: PAD, y: 18, class: 'head' }, shorten(title, fitting(width - 2 * PAD, 13)));
    paragraph(svg, PAD, 35, width - 2 * PAD, summary);

    // Where a matrix is drawn, and its elements: one cell each, or several in one where there are too many.
    function layOut(one, i, top) {
        const scale = scaleOf(one);
        one.x = PAD + i * (side + gap);
        one.y = top;
        one.scale = scale;
        make(svg, 'text', { x: one.x, y: top - 6, class: 'small' }, shorten(bufferName(trace, one.buffer) + ', ' + one.rows + ' × ' + one.columns, fitting(side, 10)));
        make(svg, 'rect', { x: one.x, y: one.y, width: one.columns * scale, height: one.rows * scale, class: 'panel' });
        one.group = make(svg, 'g', { 'aria-hidden': 'true' });
    }
    make(svg, 'text', { x: PAD, y: globalTop - 21, class: 'axis' }, 'global memory');
    make(svg, 'text', { x: PAD, y: tileTop - 21, class: 'axis' }, 'shared memory');
    globals.slice(0, most).forEach((one, i) => layOut(one, i, globalTop));
    tiles.slice(0, most).forEach((one, i) => layOut(one, i, tileTop));
    const drawn = globals.slice(0, most).concat(tiles.slice(0, most)), byBuffer = new Map(drawn.map(one => [one.buffer, one]));
    function cellOf(one, offset) {
        const element = Math.floor(offset / one.bytes);
        return { x: one.x + element % one.columns * one.scale, y: one.y + Math.floor(element / one.columns) * one.scale };
    }
    function nameOf(one, offset) {
        const element = Math.floor(offset / one.bytes);
        return bufferName(trace, one.buffer) + '[' + Math.floor(element / one.columns) + '][' + element % one.columns + ']';
    }

    make(svg, 'text', { x: PAD, y: registerTop - 6, class: 'axis' }, 'registers of ' + threadText(launch, thread));
    make(svg, 'rect', { x: PAD, y: registerTop, width: width - 2 * PAD, height: REGISTERS, class: 'panel', rx: 4 });
    const registers = make(svg, 'g', { 'aria-hidden': 'true' }), wires = make(svg, 'g', { 'aria-hidden': 'true' });
    const words = make(svg, 'g', { 'aria-hidden': 'true' });

    // What the registers hold after so many of the thread's accesses: loads on their way to the tile, then what was read.
    function holds(count) {
        const waiting = [];
        let used = [], products = 0, result = '';
        for (let i = 0; i < count; i++) {
            const one = mine[i], matrix = byBuffer.get(one.access.buffer), shared = isShared(trace, one.access.buffer);
            const name = matrix ? nameOf(matrix, one.access.offset) : bufferName(trace, one.access.buffer);
            if (one.event.kind === 'read' && !shared) {
                waiting.push(name);
                used = [];
            } else if (shared && one.event.kind !== 'read') {
                waiting.shift();
                used = [];
            } else if (one.event.kind === 'read') {
                used = used.concat(name).slice(-2);
                products++;
            } else {
                result = name + (one.access.value !== undefined ? ' = ' + valueText(one.access.value, one.event.bytes) : '');
            }
        }
        const lines = [];
        if (waiting.length)
            lines.push('on the way: ' + waiting.join(', '));
        if (used.length)
            lines.push('read: ' + used.join(' and '));
        if (products)
            lines.push('elements read from tiles so far: ' + products);
        if (result)
            lines.push('stored: ' + result);
        return lines.length ? lines : ['nothing: what it loaded is in shared memory'];
    }

    // The elements that the whole block has put into a buffer, or taken from it, since the last barrier but one.
    function drawState(now, moving) {
        const step = now.step, begin = Math.max(0, ...barriers.filter(one => one.step < step).map(one => one.step).slice(-2, -1));
        for (const one of drawn)
            clear(one.group);
        const seen = new Set();
        for (const one of placed) {
            if (one.step > step || one.step < begin || !isAccess(one.event) || one.event.wrong)
                continue;
            for (const access of accesses(one.event)) {
                const matrix = byBuffer.get(access.buffer), fresh = one.step === step;
                if (!matrix || (matrix.shared && one.event.kind === 'read' && !(fresh && one.warp === warp)))
                    continue;
                const key = access.buffer + ':' + access.offset + ':' + (fresh ? 1 : 0);
                if (seen.has(key))
                    continue;
                seen.add(key);
                const cell = cellOf(matrix, access.offset), size = Math.max(1.5, matrix.scale - (matrix.scale > 5 ? 0.6 : 0));
                make(matrix.group, 'rect', { x: cell.x, y: cell.y, width: size, height: size, class: fresh && one.warp === warp ? one.event.kind : one.event.kind === 'read' ? 'soft' : 'warm' });
            }
        }
        clear(wires);
        for (const one of moving)
            drawWire(one);
    }
    function drawWire(now) {
        const own = byBuffer.get(now.access.buffer);
        if (!own)
            return;
        const cell = cellOf(own, now.access.offset), size = Math.max(7, own.scale + 2), x = cell.x + own.scale / 2, y = cell.y + own.scale / 2;
        make(wires, 'rect', { x: x - size / 2, y: y - size / 2, width: size, height: size, class: 'mark' });
        const read = now.event.kind === 'read', bottom = registerTop - 18, side0 = y + size / 2;
        make(wires, 'path', {
            d: read ? 'M' + x + ' ' + side0 + ' V' + bottom : 'M' + x + ' ' + bottom + ' V' + side0, class: read ? 'wire-read' : 'wire-write', 'marker-end': arrow,
        });
    }

    if (mine.length === 0)
        return svg;
    const sliderTop = height - 24;
    slider(svg, { x: PAD, y: sliderTop, width: width - 2 * PAD, height: 22 }, 'Access of the thread', mine.length - 1, options.step || 0, function (at) {
        const now = mine[at], matrix = byBuffer.get(now.access.buffer);
        // Both operands of a product: the thread reads them one after the other.
        const before = mine[at - 1], pair = before && before.event.kind === 'read' && now.event.kind === 'read' && isShared(trace, now.access.buffer) &&
            isShared(trace, before.access.buffer) && before.access.buffer !== now.access.buffer;
        drawState(now, pair ? [before, now] : [now]);
        clear(registers);
        holds(at + 1).slice(0, 3).forEach((line, i) => make(registers, 'text', { x: PAD + 8, y: registerTop + 18 + i * 17 }, shorten(line, fitting(width - 2 * PAD - 16))));
        const text = 'access ' + (at + 1) + ' of ' + mine.length + ', line ' + lineOf(trace, now.event.place) + ': ' + now.event.kind + ' of ' +
            (matrix ? nameOf(matrix, now.access.offset) : bufferName(trace, now.access.buffer));
        clear(words);
        make(words, 'text', { x: PAD, y: sliderTop - 20 }, shorten(text, fitting(width - 2 * PAD)));
        make(words, 'text', { x: PAD, y: sliderTop - 4, class: 'note' }, shorten(sourceOf(trace, now.event.place), fitting(width - 2 * PAD)));
        return text;
    });
    return svg;
}
