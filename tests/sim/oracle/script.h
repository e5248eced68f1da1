// Random programs for the interpreter kernel of random_programs.cu: what they are made of and how they are drawn from a
// seed. What a program means for memory order is oracle.h's part.
#ifndef SIM_ORACLE_SCRIPT_H
#define SIM_ORACLE_SCRIPT_H

#include <stdint.h>
#include <string.h>

// Code of the test itself, whose accesses are none of the program's.
#define UNWATCHED SIM_UNWATCHED

enum { BLOCKS = 3, THREADS = 64, LANES = 32, PHASES = 5, LAUNCHES = 2, ALL_THREADS = BLOCKS * THREADS };
// Memory of one program. First, plain accesses of every width beside 32-bit atomics: a plain write may hide what an
// atomic released there, so nobody acquires from these words, or nobody releases to them. Then 64-bit atomics of every
// kind beside plain reads. Then flags that atomics alone touch, of device scope in global memory: waiting on them is no
// race of its own.
enum { NARROW_BYTES = 32, WIDE_BYTES = 32, FLAG_BYTES = 16, MEMORY_BYTES = NARROW_BYTES + WIDE_BYTES + FLAG_BYTES };
enum { FIRST_FLAG = NARROW_BYTES + WIDE_BYTES };
// Every atomic adds a bit of its own to its word, so that the value an atomic returns names those that came before it.
enum { BITS = 31, MAX_OPERATIONS = 400 };

enum operation_kind {
    READ, // 1, 2, 4, 8 or 16 bytes
    WRITE,
    ATOMIC,         // result used
    ATOMIC_DISCARD, // result not used: reads nothing
    WAIT,           // adds its bit, and looks again until another atomic's bit is there
    FENCE,
};
enum scope { BLOCK_SCOPE, DEVICE_SCOPE };
enum sync_kind { SYNC_BLOCK, SYNC_WARP, SYNC_SHUFFLE, SYNC_NONE, SYNC_KINDS };

struct operation {
    uint8_t kind, bytes, scope, bit; // bit: what an atomic adds to its word
    uint16_t offset;                 // where in memory
    uint16_t result, awaited_bit;    // where its result goes
};

// One launch: operations sorted by block, phase and thread; first[] says where each thread's begin.
struct script {
    int32_t blocks, shared;
    uint16_t first[BLOCKS * PHASES * THREADS + 1];
    uint8_t sync[BLOCKS][PHASES];
    uint32_t mask[BLOCKS][PHASES][THREADS]; // the lanes a thread meets; 0: it does not take part
    operation operations[MAX_OPERATIONS];
};

struct generator {
    uint64_t state;
    uint8_t bits[BLOCKS][MEMORY_BYTES]; // of the word that starts here: bits given away
};

UNWATCHED static inline uint32_t draw(generator *g, uint32_t below)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

// Operations while they are drawn, in no order.
struct placed {
    int block, phase, thread, order;
    operation what;
};

struct draft {
    generator *g;
    bool shared, fences;
    int blocks, count, order;
    int pool; // bytes of memory in play: few make races likely
    placed list[MAX_OPERATIONS];
};

UNWATCHED static inline placed *add(draft *d, int block, int phase, int thread, operation what)
{
    if (d->count == MAX_OPERATIONS)
        return NULL;
    placed *p = &d->list[d->count++];
    *p = placed{block, phase, thread, d->order++, what};
    return p;
}

UNWATCHED static inline operation plain(draft *d, int kind)
{
    static const uint8_t widths[] = {4, 4, 4, 1, 1, 2, 8, 16};
    uint8_t bytes = widths[draw(d->g, sizeof widths)];
    int area = kind == WRITE && d->pool > NARROW_BYTES ? NARROW_BYTES : d->pool;
    uint16_t offset = (uint16_t)(draw(d->g, (uint32_t)(area / bytes)) * bytes);
    return operation{(uint8_t)kind, bytes, 0, 0, offset, 0, 0};
}

// An atomic on the word at `offset`; false when the word has no bit left.
UNWATCHED static inline bool atomic_at(draft *d, int block, int kind, int scope, int bytes, int offset, operation *what)
{
    uint8_t *bits = &d->g->bits[d->shared ? block : 0][offset];
    if (*bits == BITS)
        return false;
    *what = operation{(uint8_t)kind, (uint8_t)bytes, (uint8_t)scope, (*bits)++, (uint16_t)offset, 0, 0};
    return true;
}

UNWATCHED static inline void add_atomic(draft *d, int block, int phase, int thread)
{
    bool wide = draw(d->g, 4) == 0 && d->pool > NARROW_BYTES;
    int bytes = wide ? 8 : 4, area = wide ? WIDE_BYTES : d->pool < NARROW_BYTES ? d->pool : NARROW_BYTES;
    int offset = (wide ? NARROW_BYTES : 0) + (int)draw(d->g, (uint32_t)(area / bytes)) * bytes;
    operation what;
    bool used = (wide || !d->fences) && draw(d->g, 2);
    if (atomic_at(d, block, used ? ATOMIC : ATOMIC_DISCARD, (int)draw(d->g, 2), bytes, offset, &what))
        add(d, block, phase, thread, what);
}

UNWATCHED static inline operation fence(draft *d)
{
    return operation{FENCE, 0, (uint8_t)(draw(d->g, 3) ? DEVICE_SCOPE : BLOCK_SCOPE), 0, 0, 0, 0};
}

// One thread writes and raises a flag, another sees the flag and reads: with or without what makes it right.
UNWATCHED static inline void add_handover(draft *d)
{
    generator *g = d->g;
    int from_block = (int)draw(g, (uint32_t)d->blocks), to_block = (int)draw(g, (uint32_t)d->blocks);
    if (d->shared || draw(g, 3) == 0)
        to_block = from_block;
    int from = (int)draw(g, THREADS), to = (int)draw(g, THREADS);
    int early = (int)draw(g, PHASES - 1), late = early + 1 + (int)draw(g, (uint32_t)(PHASES - 1 - early));
    int flag = FIRST_FLAG + 4 * (int)draw(g, FLAG_BYTES / 4);
    operation data = plain(d, draw(g, 4) ? WRITE : READ), release, acquire;
    int scope = d->shared ? (int)draw(g, 2) : DEVICE_SCOPE;
    if (!atomic_at(d, from_block, draw(g, 2) ? ATOMIC : ATOMIC_DISCARD, scope, 4, flag, &release))
        return;
    add(d, from_block, early, from, data);
    if (d->fences && draw(g, 6))
        add(d, from_block, early, from, fence(d));
    if (draw(g, 8) == 0)
        add(d, from_block, early, from, plain(d, WRITE));
    add(d, from_block, early, from, release);
    scope = d->shared ? (int)draw(g, 2) : DEVICE_SCOPE;
    if (!atomic_at(d, to_block, draw(g, 3) ? WAIT : ATOMIC, scope, 4, flag, &acquire))
        return;
    acquire.awaited_bit = release.bit;
    add(d, to_block, late, to, acquire);
    if (d->fences && draw(g, 2))
        add(d, to_block, late, to, fence(d));
    data.kind = draw(g, 2) ? WRITE : READ;
    add(d, to_block, late, to, data);
}

// Groups of a random partition of a warp's lanes; a lane in no group has mask 0.
UNWATCHED static inline void draw_partition(generator *g, uint32_t *mask)
{
    uint32_t groups = 1 + draw(g, 4), member[5] = {0}, group[LANES];
    bool some_stay_out = draw(g, 3) == 0, halves = draw(g, 4) == 0;
    for (int lane = 0; lane < LANES; lane++) {
        group[lane] = some_stay_out && draw(g, 4) == 0 ? 4 : halves ? (uint32_t)lane / 16 : draw(g, groups);
        member[group[lane]] |= 1u << lane;
    }
    for (int lane = 0; lane < LANES; lane++)
        mask[lane] = group[lane] == 4 ? 0 : member[group[lane]];
}

UNWATCHED static inline void draw_syncs(generator *g, script *s)
{
    uint32_t style = draw(g, 4); // 0: any; others: mostly of one kind
    for (int b = 0; b < s->blocks; b++)
        for (int p = 0; p < PHASES; p++) {
            s->sync[b][p] = (uint8_t)(style == 0 || draw(g, 4) == 0 ? draw(g, SYNC_KINDS) : style - 1);
            for (int w = 0; w < THREADS / LANES; w++)
                draw_partition(g, &s->mask[b][p][w * LANES]);
        }
}

UNWATCHED static inline int slot_of(const placed *p)
{
    return (p->block * PHASES + p->phase) * THREADS + p->thread;
}

UNWATCHED static inline bool comes_before(const placed *a, const placed *b)
{
    return slot_of(a) != slot_of(b) ? slot_of(a) < slot_of(b) : a->order < b->order;
}

UNWATCHED static inline void lay_out(draft *d, script *s)
{
    for (int i = 1; i < d->count; i++)
        for (int j = i; j > 0 && comes_before(&d->list[j], &d->list[j - 1]); j--) {
            placed swap = d->list[j];
            d->list[j] = d->list[j - 1];
            d->list[j - 1] = swap;
        }
    int next = 0;
    for (int slot = 0; slot <= BLOCKS * PHASES * THREADS; slot++) {
        s->first[slot] = (uint16_t)next;
        for (; next < d->count && slot_of(&d->list[next]) == slot; next++) {
            s->operations[next] = d->list[next].what;
            s->operations[next].result = (uint16_t)next;
        }
    }
}

// Draws one launch. `g` carries the bits given away from one launch of a program to the next.
UNWATCHED static inline void draw_script(generator *g, bool shared, script *s)
{
    static draft d;
    memset(s, 0, sizeof *s);
    d.g = g;
    d.count = d.order = 0;
    d.shared = shared;
    d.fences = draw(g, 4) != 0;
    s->shared = shared;
    s->blocks = d.blocks = 1 + (int)draw(g, BLOCKS);
    d.pool = draw(g, 3) ? 16 : NARROW_BYTES + WIDE_BYTES;
    // Bits run out fastest where everybody waits for the same flags: few operations, many programs.
    int handovers = (int)draw(g, 5), noise = 1 + (int)draw(g, 12), one_warp = draw(g, 3) == 0;
    for (int i = 0; i < handovers; i++)
        add_handover(&d);
    for (int i = 0; i < noise; i++) {
        int block = (int)draw(g, (uint32_t)d.blocks), phase = (int)draw(g, PHASES);
        int thread = (int)draw(g, one_warp ? LANES : THREADS);
        uint32_t kind = draw(g, 8);
        if (kind == 0 && d.fences)
            add(&d, block, phase, thread, fence(&d));
        else if (kind <= 2)
            add_atomic(&d, block, phase, thread);
        else
            add(&d, block, phase, thread, plain(&d, kind <= 5 ? READ : WRITE));
    }
    draw_syncs(g, s);
    lay_out(&d, s);
}

#endif
