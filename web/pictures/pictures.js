// The pictures of a trace: which ones suit a finding or a launch, and how they get onto a page. See README.md.

import { race, isRace } from './race.js';
import { bounds, missed } from './bounds.js';
import { blockInTime } from './block.js';
import { hasTile, tileWay } from './tile.js';
import { sharedBanks } from './banks.js';
import { streams } from './streams.js';
import { warpAccess } from './warp.js';
import { SECTOR, bankGroups, eventOf, isAccess, isShared, sectorsOf, wantedBytes, wavefronts } from './trace.js';

export { blockInTime, bounds, hasTile, isRace, race, sharedBanks, streams, tileWay, warpAccess };

// What a warp's access costs beyond what it has to: 0 where it is as cheap as it can be.
export function excess(trace, event) {
    if (!isAccess(event) || event.wrong || !(event.buffer >= 0))
        return 0;
    if (isShared(trace, event.buffer)) {
        const groups = bankGroups(trace, event);
        return wavefronts(groups) - groups.length;
    }
    return sectorsOf(event).length - Math.ceil(wantedBytes(event) / SECTOR);
}

// The access of a launch that costs most beyond what it has to, of shared or of other memory; null: there is none.
export function worstAccess(trace, launch, shared) {
    let worst = null;
    trace.launches[launch].blocks.forEach((block, b) => block.events.forEach(function (event, e) {
        if (!isAccess(event) || event.wrong || !(event.buffer >= 0) || isShared(trace, event.buffer) !== shared)
            return;
        const cost = excess(trace, event);
        if (!worst || cost > worst.excess)
            worst = { launch, block: b, event: e, excess: cost };
    }));
    return worst;
}

// Pictures for a finding: [{draw, options}], the most telling first.
export function forFinding(trace, index) {
    const finding = trace.findings[index], found = [], at = (finding.places || []).map(place => place.events && place.events[0]).filter(one => one);
    if (isRace(finding))
        found.push({ draw: race, options: { finding: index } });
    const first = at[0];
    if (missed(trace, first))
        found.push({ draw: bounds, options: first });
    if (first) {
        const same = at.filter(one => one.launch === first.launch && one.block === first.block), event = eventOf(trace, first);
        found.push({
            draw: blockInTime,
            options: { launch: first.launch, block: first.block, marked: same, buffers: event.buffer >= 0 ? [event.buffer] : undefined },
        });
    }
    if (finding.kind === 'missing-wait' && trace.operations.length > 1)
        found.push({ draw: streams, options: {} });
    return found;
}

// Pictures for a launch without a finding: its dearest accesses, the way of its tile, its block in time.
export function forLaunch(trace, launch) {
    const found = [], blocks = trace.launches[launch].blocks;
    if (blocks.length === 0)
        return found;
    for (const shared of [false, true]) {
        const worst = worstAccess(trace, launch, shared);
        if (worst)
            found.push({ draw: shared ? sharedBanks : warpAccess, options: worst });
    }
    if (hasTile(trace, { launch, block: 0 }))
        found.push({ draw: tileWay, options: { launch, block: 0 } });
    found.push({ draw: blockInTime, options: { launch, block: 0 } });
    return found;
}

// The picture that a chapter asks for, by the first of its words, of a trace that holds only what it needs.
function forWords(words, trace) {
    const options = { launch: 0, block: 0 };
    switch (words.split(' ')[0]) {
    case 'warp': return { draw: warpAccess, options: worstAccess(trace, 0, false) };
    case 'banks': return { draw: sharedBanks, options: worstAccess(trace, 0, true) };
    case 'block': return { draw: blockInTime, options };
    case 'race': return { draw: race, options: { finding: 0 } };
    case 'tile': return { draw: tileWay, options };
    default: return { draw: streams, options: {} };
    }
}

// The program that is checked can write a trace of its own making: what cannot be drawn is said.
function drawnOrSaid(draw, trace, options) {
    try {
        return draw(trace, options);
    } catch {
        const note = document.createElement('p');
        note.className = 'picture-missing';
        note.textContent = 'This picture cannot be drawn: the trace is malformed.';
        return note;
    }
}

// Draws into an element of the page, as wide as that is, and again when its width changes. Returns a function that ends it.
export function place(element, draw, trace, options) {
    let width = 0;
    function redraw() {
        const now = Math.max(300, Math.min(960, Math.floor(element.clientWidth)));
        if (now === width)
            return;
        width = now;
        const before = element.querySelector('[role=slider]'), focused = before !== null && before === document.activeElement;
        element.replaceChildren(drawnOrSaid(draw, trace, Object.assign({}, options, { width })));
        const slider = element.querySelector('[role=slider]');
        if (before && slider)
            slider.setValue(Number(before.getAttribute('aria-valuenow')));
        if (focused && slider)
            slider.focus();
    }
    redraw();
    const watch = new ResizeObserver(redraw);
    watch.observe(element);
    return () => watch.disconnect();
}

// Draws into all places that a chapter's text has for pictures, each of the trace of its words; they are on the page already.
export function drawChapter(chapter, traces) {
    for (const host of chapter.querySelectorAll('.recorded[data-picture]')) {
        const words = host.dataset.picture, trace = traces[words];
        if (!trace || host.firstChild)
            continue;
        const drawn = document.createElement('div'), from = document.createElement('p'), program = document.createElement('code');
        drawn.className = 'drawn';
        from.className = 'dim';
        const [, file, kernel] = words.replace(/ -D.*/, '').split(' ');
        program.textContent = file;
        from.append('From a run of ', program, kernel ? ', kernel ' + kernel.split('.')[0] + ',' : '', ' on the simulated GPU.');
        host.append(drawn, from);
        place(drawn, (its, options) => {
            const picture = forWords(words, its);
            return picture.draw(its, Object.assign({}, picture.options, options));
        }, trace, {});
    }
}
