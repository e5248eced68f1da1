// Streams as a timeline: a row per stream, each operation as early as CUDA's rules allow. Arrows say what waits for an
// operation of another stream. Widths are not times: those are not simulated.

import { clear, fitting, make, paragraph, picture, shorten, slider, wrap } from './svg.js';
import { lineOf, sourceOf } from './trace.js';

function kindOf(operation) {
    return operation.kind === 'kernel' ? 'atomic' : operation.kind !== 'copy' ? 'barrier' : operation.way === 'device to host' ? 'write' : 'read';
}

function nameOf(operation) {
    if (operation.kind === 'kernel')
        return operation.kernel;
    return operation.kind === 'copy' ? { 'host to device': 'H→D', 'device to host': 'D→H', 'device to device': 'D→D' }[operation.way] || 'copy' : operation.kind;
}

function sizeText(bytes) {
    return bytes >= 1 << 20 ? (bytes / (1 << 20)).toFixed(1) + ' MiB' : bytes >= 1024 ? (bytes / 1024).toFixed(1) + ' KiB' : bytes + ' B';
}

// options: selected (index of an operation), width.
export function streams(trace, options) {
    const all = trace.operations.slice(0, 200), width = options.width || 720, start = [], PAD = 8, LABEL = width < 480 ? 44 : 84;
    all.forEach(function (one, i) {
        start[i] = Math.max(0, ...one.after.filter(earlier => earlier < i).map(earlier => start[earlier] + 1));
    });
    const ids = Array.from(new Set(all.map(one => one.stream))).sort((a, b) => a - b), count = Math.max(1, ...start.map(one => one + 1));
    const title = 'What the streams run', together = count < all.length;
    const total = trace.operations.length + (trace.operations_left_out || 0);
    const summary = (total > all.length ? 'The first ' + all.length + ' of ' + total : String(all.length)) + ' operations on ' + ids.length + (ids.length === 1 ? ' stream' : ' streams') + ' take ' + count + (count === 1 ? ' step' : ' steps') +
        (together ? '; operations in one column may run at the same time.' : '; none may run beside another.');
    const rowHeight = 40, top = 44, track = width - LABEL - PAD, LEAST = 30, stepWidth = Math.max(LEAST, Math.min(130, track / count));
    const visible = Math.min(count, Math.floor(track / stepWidth)), bottom = top + ids.length * rowHeight;
    const words = wrap(summary, fitting(width - 2 * PAD)), height = bottom + 34 + words.length * 17 + 58;
    const { svg, arrow } = picture('streams', width, height, title, summary);
    make(svg, 'text', { x: PAD, y: 18, class: 'head' }, title);
    make(svg, 'text', { x: PAD, y: 34, class: 'axis' }, shorten('as early as the rules allow; widths are not times', fitting(width - 2 * PAD, 10)));
    const rows = make(svg, 'g', { 'aria-hidden': 'true' }), mark = make(svg, 'g', { 'aria-hidden': 'true' });
    const rowOf = one => top + ids.indexOf(one.stream) * rowHeight;
    ids.forEach(id => make(svg, 'text', { x: PAD, y: top + ids.indexOf(id) * rowHeight + 24, class: 'note' },
        LABEL > 50 ? id === 0 ? 'default' : 'stream ' + id : id === 0 ? 'def.' : 's ' + id));
    let from = 0;
    const left = i => LABEL + (start[i] - from) * stepWidth;
    function drawRows() {
        clear(rows);
        for (const id of ids)
            make(rows, 'rect', { x: LABEL, y: top + ids.indexOf(id) * rowHeight + 4, width: visible * stepWidth, height: rowHeight - 8, class: 'panel', rx: 3 });
        const inside = i => start[i] >= from && start[i] < from + visible;
        all.forEach(function (one, i) {
            if (!inside(i))
                return;
            make(rows, 'rect', { x: left(i) + 1.5, y: rowOf(one) + 7, width: stepWidth - 3, height: rowHeight - 14, class: kindOf(one), rx: 3 });
            make(rows, 'text', { x: left(i) + stepWidth / 2, y: rowOf(one) + 24, class: 'small middle on' }, shorten(nameOf(one), fitting(stepWidth - 4, 10)));
        });
        // Only what is not clear from the row: the latest operation of each other stream, and not through another one.
        all.forEach(function (one, i) {
            const direct = one.after.filter(earlier => all[earlier] && all[earlier].stream !== one.stream &&
                !one.after.some(other => other !== earlier && all[other] && all[other].after.indexOf(earlier) >= 0) &&
                !one.after.some(other => all[other] && all[other].stream === one.stream && all[other].after.indexOf(earlier) >= 0));
            for (const earlier of direct) {
                if (!inside(i) || !inside(earlier))
                    continue;
                const x = left(earlier) + stepWidth - 3, y = rowOf(all[earlier]) + rowHeight / 2, x2 = left(i) + 2, y2 = rowOf(one) + rowHeight / 2;
                const down = y2 > y ? 13 : -13;
                make(rows, 'path', { d: 'M' + (x - 6) + ' ' + (y + down) + ' C' + (x - 6) + ' ' + (y + 2 * down) + ' ' + (x2 + 8) + ' ' + (y2 - 2.4 * down) + ' ' + (x2 + 8) + ' ' + (y2 - down), class: 'wire-now', 'marker-end': arrow });
            }
        });
    }
    words.forEach((line, i) => make(svg, 'text', { x: PAD, y: bottom + 20 + i * 17, class: together ? 'good' : 'note' }, line));
    const about = make(svg, 'g', { 'aria-hidden': 'true' }), aboutTop = bottom + 24 + words.length * 17;
    if (all.length === 0)
        return svg;
    from = -1;
    slider(svg, { x: PAD, y: height - 24, width: width - 2 * PAD, height: 22 }, 'Operation', all.length - 1, options.selected || 0, function (i) {
        const one = all[i], first = Math.max(0, Math.min(count - visible, start[i] - Math.floor(visible / 2)));
        if (first !== from) {
            from = first;
            drawRows();
        }
        clear(mark);
        make(mark, 'rect', { x: left(i), y: rowOf(one) + 5, width: stepWidth, height: rowHeight - 10, class: 'mark', rx: 4 });
        const text = 'stream ' + one.stream + ', line ' + lineOf(trace, one.place) + ': ' +
            (one.kind === 'kernel' ? 'kernel ' + one.kernel : one.kind + (one.way ? ' ' + one.way : '') + (one.bytes ? ', ' + sizeText(one.bytes) : ''));
        clear(about);
        make(about, 'text', { x: PAD, y: aboutTop + 14 }, shorten(text, fitting(width - 2 * PAD)));
        make(about, 'text', { x: PAD, y: aboutTop + 31, class: 'note' }, shorten(sourceOf(trace, one.place), fitting(width - 2 * PAD)));
        return text;
    });
    return svg;
}
