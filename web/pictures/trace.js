// Reading a trace of `heddle check --trace` (docs/json.md): numbers of lanes, names, source lines, sectors and banks.

export const LANES = 32, SECTOR = 32, BANKS = 32, WORD = 4;

export function laneList(mask) {
    const lanes = [];
    for (let lane = 0; lane < LANES; lane++)
        if (mask / Math.pow(2, lane) % 2 >= 1)
            lanes.push(lane);
    return lanes;
}

// Numbers of the lanes of an event, which may be written as their first and their step.
export function spread(numbers, count) {
    if (!numbers)
        return [];
    if (Array.isArray(numbers))
        return numbers;
    return Array.from({ length: count }, (_, i) => numbers.first + i * numbers.step);
}

// The lanes of an access: [{lane, thread, buffer, offset, value, ran}]; value is undefined where there is none.
export function accesses(event) {
    const lanes = laneList(event.lanes), offsets = spread(event.offsets, lanes.length), ran = spread(event.ran, lanes.length);
    const buffers = event.buffers ? spread(event.buffers, lanes.length) : null;
    return lanes.map((lane, i) => ({
        lane, thread: event.warp * LANES + lane, buffer: buffers ? buffers[i] : event.buffer, offset: offsets[i],
        value: event.values && event.values[i] !== null ? event.values[i] : undefined, ran: ran[i],
    }));
}

// Of an asynchronous copy, only its load and the landing of its store move bytes; the rest is there for findings.
export function isAccess(event) {
    return event.offsets !== undefined && event.kind !== 'index' && (event.copy === undefined || event.copy === 'landed');
}

export function blockOf(trace, options) {
    const launch = trace.launches[options.launch || 0];
    return launch && launch.blocks[options.block || 0];
}

export function eventOf(trace, options) {
    const block = blockOf(trace, options);
    return block && block.events[options.event];
}

// Says which part of a block is missing from the trace: sentences that begin with a space; "": none is missing.
export function leftOut(trace, launch, block) {
    const warps = Math.ceil(launch.block[0] * launch.block[1] * launch.block[2] / LANES), most = trace.limits ? trace.limits.warps : warps;
    return (warps > most ? ' Of its ' + warps + ' warps, the trace has the first ' + most + '.' : '') +
        (block.complete ? '' : wasStopped(block) ? ' The block was stopped at the wrong access.' : ' Only its first accesses are recorded.');
}

// Whether a wrong access ended the block; else one that is not complete has more accesses than are recorded.
export function wasStopped(block) {
    return !block.complete && block.events.some(event => event.wrong);
}

export function isShared(trace, index) {
    return index >= 0 && trace.buffers[index].space === 'shared';
}

export function bufferName(trace, index) {
    if (!(index >= 0))
        return 'unknown memory';
    const buffer = trace.buffers[index];
    return buffer.name || (buffer.dynamic ? 'shared memory' : buffer.space + ' memory');
}

// "tile[5]", as if the buffer were an array of elements of this size.
export function elementName(trace, buffer, offset, bytes) {
    const index = offset / bytes;
    return bufferName(trace, buffer) + (Number.isInteger(index) ? '[' + index + ']' : ' + ' + offset + ' B');
}

export function lineOf(trace, place) {
    return place === undefined ? 0 : trace.places[place].line;
}

export function sourceLine(trace, file, line) {
    const source = (trace.sources || []).find(one => one.file === file);
    return source && source.lines[line - 1] !== undefined ? source.lines[line - 1] : '';
}

export function sourceOf(trace, place) {
    return place === undefined ? '' : sourceLine(trace, trace.places[place].file, trace.places[place].line).trim();
}

// A stored value is bits: four bytes that make a tame float and a huge integer are a float. A guess, for reading.
export function valueText(value, bytes) {
    if (value === undefined)
        return '';
    if (bytes === 4) {
        const view = new DataView(new ArrayBuffer(4));
        view.setUint32(0, value);
        const real = view.getFloat32(0), size = Math.abs(real);
        if (size >= 1e-6 && size < 1e9)
            return String(Number(real.toPrecision(6)));
        return String(view.getInt32(0));
    }
    if (bytes === 8) {
        const view = new DataView(new ArrayBuffer(8));
        view.setBigUint64(0, BigInt(value));
        const real = view.getFloat64(0), size = Math.abs(real);
        return size >= 1e-9 && size < 1e15 ? String(Number(real.toPrecision(6))) : view.getBigInt64(0).toString();
    }
    return String(value);
}

// How many numbers an index has: 1 where the launch has one dimension.
export function dimensionsOf(launch) {
    return Math.max(...launch.grid.concat(launch.block).map((size, i) => size > 1 ? i % 3 + 1 : 1));
}

// "5" or "(5,0)": an index as the text of a finding writes it.
export function indexText(index, dimensions) {
    return dimensions === 1 ? String(index[0]) : '(' + index.slice(0, dimensions).join(',') + ')';
}

export function threadText(launch, linear) {
    const x = launch.block[0], y = launch.block[1];
    return 'thread ' + indexText([linear % x, Math.floor(linear / x) % y, Math.floor(linear / x / y)], dimensionsOf(launch));
}

export function blockText(launch, block) {
    return 'block ' + indexText(block.block, dimensionsOf(launch));
}

export function rangeText(numbers) {
    const parts = [];
    for (let i = 0; i < numbers.length;) {
        let end = i;
        while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1)
            end++;
        parts.push(end > i ? numbers[i] + '–' + numbers[end] : String(numbers[i]));
        i = end + 1;
    }
    return parts.join(', ');
}

// --- what an access costs -------------------------------------------------------------------------------------------

// The 32-byte sectors that a warp's access to one buffer touches, lowest first: [{start, words: Map(offset -> [lanes])}].
export function sectorsOf(event) {
    const sectors = new Map();
    for (const one of accesses(event))
        for (let at = one.offset - one.offset % WORD; at < one.offset + event.bytes; at += WORD) {
            const start = Math.floor(at / SECTOR) * SECTOR, key = one.buffer + ':' + start;
            if (!sectors.has(key))
                sectors.set(key, { buffer: one.buffer, start, words: new Map() });
            const words = sectors.get(key).words;
            if (!words.has(at))
                words.set(at, []);
            words.get(at).push(one.lane);
        }
    return Array.from(sectors.values()).sort((a, b) => a.buffer - b.buffer || a.start - b.start);
}

// Bytes that the lanes ask for, each byte once.
export function wantedBytes(event) {
    const bytes = new Set();
    for (const one of accesses(event))
        for (let i = 0; i < event.bytes; i++)
            bytes.add(one.buffer + ':' + (one.offset + i));
    return bytes.size;
}

// Lanes that one wavefront serves at most go together; in each group, the different words that a bank has to give.
// [{lanes, banks: [[{word, lanes}]]}], a bank's words in the order of lanes.
export function bankGroups(trace, event) {
    const size = event.bytes > WORD ? LANES * WORD / event.bytes : LANES, groups = [];
    for (let first = 0; first < LANES; first += size) {
        const members = accesses(event).filter(one => one.lane >= first && one.lane < first + size);
        if (members.length === 0)
            continue;
        const banks = Array.from({ length: BANKS }, () => []);
        for (const one of members)
            for (let at = one.offset - one.offset % WORD; at < one.offset + event.bytes; at += WORD) {
                const word = at / WORD + (trace.buffers[one.buffer].bank || 0), bank = banks[word % BANKS];
                const known = bank.find(other => other.word === at && other.buffer === one.buffer);
                if (known)
                    known.lanes.push(one.lane);
                else
                    bank.push({ word: at, buffer: one.buffer, lanes: [one.lane] });
            }
        groups.push({ lanes: members.map(one => one.lane), banks });
    }
    return groups;
}

export function wavefronts(groups) {
    return groups.reduce((sum, group) => sum + Math.max(...group.banks.map(bank => bank.length)), 0);
}
