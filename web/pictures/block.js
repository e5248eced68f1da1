// A block in time: a row per warp, barriers and who waits for whom, and below it the elements of one buffer: which thread
// wrote which when. Between two barriers all warps start together, one access per step: an order that CUDA allows, and no
// measure of time.

import { clear, fitting, make, paragraph, picture, shorten, slider, wrap } from './svg.js';
import { accesses, blockOf, blockText, bufferName, elementName, isAccess, isShared, leftOut, lineOf, rangeText, sourceOf, threadText, valueText, wasStopped } from './trace.js';

// The events of a block as steps: [{event, index, warp, step}], the barriers that end an interval, and who waits from when.
export function stepsOf(block) {
    const placed = [], barriers = [], waits = [], exits = [];
    let start = 0, used = new Map(), arrived = new Map(), ended = new Set();
    const warps = Array.from(new Set(block.events.filter(one => one.warp !== undefined).map(one => one.warp))).sort((a, b) => a - b);
    function close(barrier) {
        const length = Math.max(1, ...Array.from(used.values()));
        for (const [warp, from] of arrived)
            waits.push({ warp, from: start + from.step, to: start + length, place: from.place, barrier, interval: barriers.length });
        if (barrier)
            barriers.push({ step: start + length, places: Array.from(arrived.values()).map(one => one.place) });
        start += length + (barrier ? 1 : 0);
        used = new Map();
        arrived = new Map();
    }
    block.events.forEach(function (event, index) {
        const at = used.get(event.warp) || 0;
        if (event.kind === 'leave' && event.barrier === undefined) {
            close(true);
        } else if (event.kind === 'arrive') {
            if (!arrived.has(event.warp))
                arrived.set(event.warp, { step: at, place: event.place });
        } else if (event.kind === 'exit') {
            ended.add(event.warp);
            exits.push({ warp: event.warp, step: start + at });
        } else if (event.warp !== undefined && (isAccess(event) || event.copy === undefined)) {
            placed.push({ event, index, warp: event.warp, step: start + at });
            used.set(event.warp, at + 1);
        }
    });
    const open = arrived.size > 0;
    if (used.size > 0 || open)
        close(false);
    return { placed, barriers, waits, exits, warps, count: Math.max(1, start), open };
}

// The two buffers that are most worth looking at: shared before global, and those with the most writes.
function favourites(trace, placed) {
    const writes = new Map();
    for (const one of placed)
        if (isAccess(one.event) && one.event.kind !== 'read' && one.event.buffer >= 0)
            writes.set(one.event.buffer, (writes.get(one.event.buffer) || 0) + 1);
    const rank = (a, b) => isShared(trace, b) - isShared(trace, a) || writes.get(b) - writes.get(a);
    return Array.from(writes.keys()).sort(rank).slice(0, 2);
}

// Who touches each element of the buffer, by step.
function historyOf(placed, buffer) {
    const elements = new Map();
    let bytes = 16;
    for (const one of placed)
        if (isAccess(one.event) && accesses(one.event).some(access => access.buffer === buffer))
            bytes = Math.min(bytes, one.event.bytes);
    for (const one of placed) {
        if (!isAccess(one.event))
            continue;
        for (const access of accesses(one.event)) {
            if (access.buffer !== buffer || one.event.wrong)
                continue;
            for (let at = access.offset; at < access.offset + one.event.bytes; at += bytes) {
                const element = Math.floor(at / bytes);
                if (!elements.has(element))
                    elements.set(element, []);
                elements.get(element).push({ step: one.step, kind: one.event.kind, access, event: one.event });
            }
        }
    }
    return { elements, bytes };
}

function warpsText(warps) {
    return (warps.length > 1 ? 'warps ' : 'warp ') + rangeText(warps);
}

// What is drawn of a buffer: at most 16 rows of elements, from the lowest that is used.
const PER_ROW = 32, MOST_ELEMENTS = 16 * PER_ROW;

function mapOf(placed, buffer, top) {
    const { elements, bytes } = historyOf(placed, buffer);
    let lowest = Infinity, highest = -1;
    for (const element of elements.keys()) {
        lowest = Math.min(lowest, element);
        highest = Math.max(highest, element);
    }
    const first = highest < 0 ? 0 : lowest - lowest % PER_ROW, count = highest - first + 1, shown = Math.min(MOST_ELEMENTS, count);
    const written = Array.from(elements.values()).some(all => all.some(one => one.kind !== 'read'));
    return { buffer, elements, bytes, written, first, shown, left: count - shown, rows: Math.ceil(shown / PER_ROW), top, cells: new Map() };
}

// options: launch, block (indices), buffers (indices), marked ([{event, lane}]: events of a finding), step, width.
export function blockInTime(trace, options) {
    const launch = trace.launches[options.launch || 0], block = blockOf(trace, options), width = options.width || 720;
    const steps = stepsOf(block), marked = options.marked || [];
    const buffers = options.buffers || favourites(trace, steps.placed);
    const title = 'B' + blockText(launch, block).slice(1) + ' of ' + launch.kernel + ' in time';
    const summary = steps.warps.length + (steps.warps.length === 1 ? ' warp, ' : ' warps, ') + steps.placed.length + ' accesses, ' +
        steps.barriers.length + (steps.barriers.length === 1 ? ' barrier.' : ' barriers.') +
        leftOut(trace, launch, block);

    const PAD = 8, LABEL = 58, rowHeight = 24, top = 33 + 17 * wrap(summary, fitting(width - 16)).length, LEAST = 4, WORDS = 3;
    const track = width - LABEL - PAD, stepWidth = Math.max(LEAST, Math.min(64, track / steps.count));
    const visible = Math.min(steps.count, Math.floor(track / stepWidth));
    const rowsBottom = top + steps.warps.length * rowHeight, sliderTop = rowsBottom + 8, sourceTop = sliderTop + 44;
    const wordsTop = sourceTop + 18, cellWidth = (width - 2 * PAD) / PER_ROW, cellHeight = Math.min(20, Math.max(13, cellWidth));
    let height = wordsTop + WORDS * 17 + 8;
    const maps = buffers.map(function (buffer) {
        const map = mapOf(steps.placed, buffer, height + 22);
        height = map.top + map.rows * cellHeight + (map.left > 0 ? 18 : 0) + 4;
        return map;
    });
    const { svg, hatch } = picture('block', width, height, title, summary);
    make(svg, 'text', { x: PAD, y: 18, class: 'head' }, shorten(title, fitting(width - 2 * PAD, 13)));
    paragraph(svg, PAD, 35, width - 2 * PAD, summary);

    const rows = make(svg, 'g', { 'aria-hidden': 'true' }), now = make(svg, 'g', { 'aria-hidden': 'true' });
    const place = new Map(steps.warps.map((warp, i) => [warp, top + i * rowHeight]));
    for (const warp of steps.warps)
        make(svg, 'text', { x: PAD, y: place.get(warp) + 15, class: 'note' }, 'warp ' + warp);

    const linesOf = places => Array.from(new Set(places.map(one => lineOf(trace, one)))).sort((a, b) => a - b);
    let drawnFrom = -1;
    function drawRows(from) {
        if (from === drawnFrom)
            return;
        drawnFrom = from;
        clear(rows);
        const left = step => LABEL + (step - from) * stepWidth, end = from + visible;
        for (const warp of steps.warps)
            make(rows, 'rect', { x: LABEL, y: place.get(warp) + 1, width: visible * stepWidth, height: rowHeight - 4, class: 'panel' });
        for (const wait of steps.waits) {
            const a = Math.max(from, wait.from), b = Math.min(end, wait.to);
            if (b > a)
                make(rows, 'rect', { x: left(a), y: place.get(wait.warp) + 2, width: (b - a) * stepWidth, height: rowHeight - 6, fill: hatch });
        }
        for (const one of steps.placed) {
            if (one.step < from || one.step >= end)
                continue;
            const shared = isAccess(one.event) && isShared(trace, one.event.buffer);
            const kind = one.event.wrong ? 'wrong' : isAccess(one.event) ? one.event.kind : 'barrier';
            make(rows, 'rect', {
                x: left(one.step) + 0.5, y: place.get(one.warp) + (shared ? 4 : 2), width: Math.max(1, stepWidth - 1),
                height: rowHeight - (shared ? 10 : 6), class: kind, rx: stepWidth > 8 ? 2 : 0,
            });
            if (stepWidth >= 14)
                make(rows, 'text', { x: left(one.step) + stepWidth / 2, y: place.get(one.warp) + 15, class: 'small middle on' },
                    one.event.wrong ? '!' : isAccess(one.event) ? one.event.kind[0].toUpperCase() : 'S');
            if (marked.some(mark => mark.event === one.index))
                make(rows, 'rect', { x: left(one.step) - 1, y: place.get(one.warp), width: stepWidth + 2, height: rowHeight - 2, class: 'mark-wrong', rx: 3 });
        }
        for (const barrier of steps.barriers)
            if (barrier.step >= from && barrier.step < end)
                make(rows, 'path', {
                    d: 'M' + (left(barrier.step) + stepWidth / 2) + ' ' + (top - 4) + ' V' + rowsBottom,
                    class: linesOf(barrier.places).length > 1 ? 'wire-wrong' : 'wire-barrier',
                });
    }

    // --- the elements ---
    for (const map of maps) {
        make(svg, 'text', { x: PAD, y: map.top - 8, class: 'axis' },
            shorten(bufferName(trace, map.buffer) + (map.first ? ' from element ' + map.first : '') + ', ' + map.bytes + ' B each: ' + (!map.written ? 'highlighted while it is read' : cellWidth >= 16 ? 'the thread that wrote it' : 'filled once it is written'), fitting(width - 2 * PAD, 10)));
        const grid = make(svg, 'g', { 'aria-hidden': 'true' });
        for (let i = 0; i < map.shown; i++) {
            const x = PAD + i % PER_ROW * cellWidth, y = map.top + Math.floor(i / PER_ROW) * cellHeight;
            const rect = make(grid, 'rect', { x: x + 0.5, y: y + 0.5, width: cellWidth - 1, height: cellHeight - 1, class: 'cell' });
            const text = make(grid, 'text', { x: x + cellWidth / 2, y: y + cellHeight / 2 + 3, class: 'tiny middle' });
            map.cells.set(map.first + i, { rect, text, title: make(rect, 'title', {}) });
        }
        if (map.left > 0)
            make(svg, 'text', { x: PAD, y: map.top + map.rows * cellHeight + 14, class: 'axis' }, map.left + ' more elements are not drawn');
    }
    function drawElement(map, element, step) {
        const cell = map.cells.get(element), all = map.elements.get(element) || [];
        let last = null, touched = null;
        for (const one of all) {
            if (one.step <= step && one.kind !== 'read' && (!last || one.step >= last.step))
                last = one;
            if (one.step === step)
                touched = one;
        }
        const fresh = last && last.step === step, text = last ? String(last.access.thread) : '';
        cell.rect.setAttribute('class', fresh ? last.kind : touched ? 'soft read-edge' : last ? 'warm edge' : 'cell');
        cell.text.setAttribute('class', 'tiny middle' + (fresh ? ' on' : ''));
        cell.text.textContent = cellWidth >= 16 ? text : '';
        cell.title.textContent = elementName(trace, map.buffer, element * map.bytes, map.bytes) + (last ? ': ' + threadText(launch, last.access.thread) +
            ' at line ' + lineOf(trace, last.event.place) + (last.access.value !== undefined ? ', value ' + valueText(last.access.value, last.event.bytes) : '') : ': not written');
    }

    // --- what happens at a step, in words ---
    function sentences(step) {
        const doing = new Map(), said = [];
        let source = '';
        for (const one of steps.placed) {
            if (one.step !== step)
                continue;
            source = source || sourceOf(trace, one.event.place);
            const what = !isAccess(one.event) ? one.event.kind === 'index' ? 'index out of bounds' : 'meet in __syncwarp'
                : (one.event.wrong ? 'wrong ' : one.event.copy ? 'asynchronous copy has landed, ' : '') + one.event.kind + ' of ' + bufferName(trace, one.event.buffer);
            const key = what + ' at line ' + lineOf(trace, one.event.place);
            doing.set(key, (doing.get(key) || []).concat(one.warp));
        }
        for (const [key, warps] of doing)
            said.push(warpsText(warps) + ': ' + key);
        const barrier = steps.barriers.find(one => one.step === step);
        if (barrier) {
            const lines = linesOf(barrier.places);
            said.push(lines.length > 1 ? 'the threads have come to different barriers, at lines ' + lines.join(' and ')
                : 'all threads have come to the barrier at line ' + lines[0]);
            source = sourceOf(trace, barrier.places[0]);
        }
        const waiting = steps.waits.filter(one => one.from <= step && step < one.to);
        for (const line of linesOf(waiting.map(one => one.place))) {
            const here = waiting.filter(one => lineOf(trace, one.place) === line);
            const late = steps.waits.filter(one => one.interval === here[0].interval && one.from > step).map(one => one.warp);
            said.push(warpsText(here.map(one => one.warp)) + (here.length > 1 ? ' wait' : ' waits') + ' at line ' + line +
                (late.length ? ' for ' + warpsText(late) : here[0].barrier ? '' : block.complete ? ': this barrier is never complete' : wasStopped(block) ? ': the block was stopped before it was complete' : ': only what came before it is recorded'));
        }
        return { said, source };
    }

    const words = make(svg, 'g', { 'aria-hidden': 'true' }), found = steps.placed.filter(one => marked.some(mark => mark.event === one.index));
    const begin = options.step !== undefined ? options.step : found.length ? Math.min(...found.map(one => one.step)) : 0;
    const key = make(svg, 'g', { 'aria-hidden': 'true' });
    const kinds = new Set(steps.placed.map(one => one.event.wrong ? 'wrong' : one.event.kind).concat(steps.barriers.length ? 'barrier' : []));
    [['read', 'R read'], ['write', 'W write'], ['atomic', 'A atomic'], ['wrong', '! wrong'], ['barrier', 'barrier']].filter(one => kinds.has(one[0])).forEach(function (one, i) {
        const x = PAD + i * Math.min(110, (width - 2 * PAD) / 4);
        make(key, 'rect', { x, y: sliderTop + 28, width: 10, height: 10, class: one[0] });
        make(key, 'text', { x: x + 14, y: sliderTop + 37, class: 'axis' }, one[1]);
    });
    slider(svg, { x: LABEL - 8, y: sliderTop, width: Math.max(40, visible * stepWidth + 16), height: 22 }, 'Step of the block', steps.count - 1, begin, function (step) {
        const from = Math.max(0, Math.min(steps.count - visible, step - Math.floor(visible / 2)));
        drawRows(from);
        clear(now);
        make(now, 'rect', { x: LABEL + (step - from) * stepWidth - 1, y: top - 5, width: stepWidth + 2, height: rowsBottom - top + 6, class: 'mark', rx: 3 });
        for (const map of maps)
            for (const element of map.cells.keys())
                drawElement(map, element, step);
        const { said, source } = sentences(step);
        clear(words);
        const lines = said.reduce((all, one) => all.concat(wrap(one, fitting(width - 2 * PAD))), []);
        lines.slice(0, WORDS).forEach((line, i) => make(words, 'text', { x: PAD, y: wordsTop + 12 + i * 17 }, i === WORDS - 1 && lines.length > WORDS ? shorten(line + ' …', fitting(width - 2 * PAD)) : line));
        make(words, 'text', { x: PAD, y: sourceTop + 12, class: 'note' }, shorten(source, fitting(width - 2 * PAD)));
        return 'step ' + (step + 1) + ' of ' + steps.count + ': ' + (said.join('; ') || 'nothing');
    });
    return svg;
}
