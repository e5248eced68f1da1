// What is a race, by brute force: a vector clock of every thread over every thread, carried through a program in the
// order its atomics' results say it ran, and every pair of accesses to every byte compared. Slow and plain on purpose.
//
// The rules: a fence followed by an atomic releases what the thread did and knew before the fence, to the narrower of
// both scopes; an atomic whose result is used acquires what the atomics it saw released; __syncthreads and __syncwarp
// order those who meet, and each may then release what any of them had fenced (all threads fence, one raises the flag);
// shuffles order nothing; atomics do not race with atomics whose scopes cover each other. What an atomic has acquired
// is certain once a fence of that thread has followed, at the scope of what was acquired, or, within a block, a
// meeting.
#ifndef SIM_ORACLE_ORACLE_H
#define SIM_ORACLE_ORACLE_H

#include "script.h"
#include <stdio.h>

typedef uint16_t time_stamp;

struct vector_clock {
    time_stamp at[ALL_THREADS];
};

struct access {
    int thread, block, operation;
    bool write, atomic;
    int scope, offset, bytes;
    time_stamp when;
    vector_clock known, firm;
};

struct thread_state {
    vector_clock known, fenced[2]; // by scope: what a release of that scope carries
    vector_clock firm, near;       // what of `known` is certain; what a fence of block scope would make so
    int phase, next;
    bool waits; // at the end of its phase, for those it meets there
};

struct released {
    bool done;
    int block, scope;
    vector_clock carries[2];
};

struct oracle {
    const script *program;
    const uint64_t *results;
    thread_state threads[ALL_THREADS];
    released words[BLOCKS][MEMORY_BYTES][BITS + 1]; // by word and bit; global memory is block 0's
    uint32_t before[BLOCKS][MEMORY_BYTES];          // bits of launches before this one: ordered anyway
    access accesses[MAX_OPERATIONS];
    int count;
    bool moved; // somebody got on in this round
};

UNWATCHED static inline void join(vector_clock *into, const vector_clock *from)
{
    for (int i = 0; i < ALL_THREADS; i++)
        into->at[i] = into->at[i] > from->at[i] ? into->at[i] : from->at[i];
}

UNWATCHED static inline int slot_of_thread(int thread, int phase)
{
    return (thread / THREADS * PHASES + phase) * THREADS + thread % THREADS;
}

UNWATCHED static inline released *released_at(oracle *o, int block, int offset, int bit)
{
    return &o->words[o->program->shared ? block : 0][offset][bit];
}

// Whether every atomic in `seen` has been carried out here too; if so they are acquired.
UNWATCHED static inline bool acquire(oracle *o, int thread, const operation *what, uint64_t seen)
{
    int block = thread / THREADS;
    seen &= ~(uint64_t)o->before[o->program->shared ? block : 0][what->offset];
    for (int bit = 0; bit < BITS; bit++)
        if (seen >> bit & 1 && !released_at(o, block, what->offset, bit)->done)
            return false;
    for (int bit = 0; bit < BITS; bit++) {
        const released *r = released_at(o, block, what->offset, bit);
        if (!(seen >> bit & 1))
            continue;
        if (r->block == block) {
            join(&o->threads[thread].known, &r->carries[BLOCK_SCOPE]);
            join(&o->threads[thread].near, &r->carries[BLOCK_SCOPE]);
        } else if (r->scope == DEVICE_SCOPE && what->scope == DEVICE_SCOPE)
            join(&o->threads[thread].known, &r->carries[DEVICE_SCOPE]);
    }
    return true;
}

UNWATCHED static inline void note_access(oracle *o, int thread, int operation_number)
{
    const operation *what = &o->program->operations[operation_number];
    access *a = &o->accesses[o->count++];
    a->thread = thread;
    a->block = thread / THREADS;
    a->operation = operation_number;
    a->write = what->kind != READ;
    a->atomic = what->kind == ATOMIC || what->kind == ATOMIC_DISCARD || what->kind == WAIT;
    a->scope = what->scope;
    a->offset = what->offset;
    a->bytes = what->bytes;
    a->when = o->threads[thread].known.at[thread];
    a->known = o->threads[thread].known;
    a->firm = o->threads[thread].firm;
}

UNWATCHED static inline void release(oracle *o, int thread, const operation *what)
{
    released *r = released_at(o, thread / THREADS, what->offset, what->bit);
    o->moved |= !r->done;
    r->done = true;
    r->block = thread / THREADS;
    r->scope = what->scope;
    memcpy(r->carries, o->threads[thread].fenced, sizeof r->carries);
}

UNWATCHED static inline void carry_out_fence(thread_state *t, int thread, int scope)
{
    t->fenced[BLOCK_SCOPE] = t->known;
    if (scope == DEVICE_SCOPE)
        t->fenced[DEVICE_SCOPE] = t->near = t->known;
    t->firm = t->near;
    t->known.at[thread]++;
}

// False: the thread must wait for others.
UNWATCHED static inline bool carry_out(oracle *o, int thread, int operation_number)
{
    const operation *what = &o->program->operations[operation_number];
    thread_state *t = &o->threads[thread];
    if (what->kind == FENCE) {
        carry_out_fence(t, thread, what->scope);
        return true;
    }
    // A wait's own bit is there from its first look, long before it may go on.
    if (what->kind == WAIT)
        release(o, thread, what);
    if ((what->kind == ATOMIC || what->kind == WAIT) && !acquire(o, thread, what, o->results[what->result]))
        return false;
    note_access(o, thread, operation_number);
    if (what->kind == ATOMIC || what->kind == ATOMIC_DISCARD)
        release(o, thread, what);
    return true;
}

UNWATCHED static inline bool all_wait(const oracle *o, int first, uint64_t members, int phase)
{
    for (int i = 0; i < THREADS; i++)
        if (members >> i & 1 && (o->threads[first + i].phase != phase || !o->threads[first + i].waits))
            return false;
    return true;
}

UNWATCHED static inline void meet(oracle *o, int first, uint64_t members, bool ordered)
{
    static vector_clock known, firm, fenced[2];
    memset(&known, 0, sizeof known);
    memset(&firm, 0, sizeof firm);
    memset(fenced, 0, sizeof fenced);
    for (int i = 0; ordered && i < THREADS; i++)
        if (members >> i & 1) {
            join(&known, &o->threads[first + i].known);
            join(&firm, &o->threads[first + i].near);
            firm.at[first + i] = o->threads[first + i].known.at[first + i];
            join(&fenced[BLOCK_SCOPE], &o->threads[first + i].fenced[BLOCK_SCOPE]);
            join(&fenced[DEVICE_SCOPE], &o->threads[first + i].fenced[DEVICE_SCOPE]);
        }
    for (int i = 0; i < THREADS; i++)
        if (members >> i & 1) {
            thread_state *t = &o->threads[first + i];
            if (ordered) {
                t->known = known;
                t->firm = t->near = firm;
                memcpy(t->fenced, fenced, sizeof fenced);
                t->known.at[first + i]++;
            }
            t->phase++;
            t->waits = false;
        }
}

// Lets the thread at the end of its phase go on, with all it meets, if they are all there.
UNWATCHED static inline bool try_to_meet(oracle *o, int thread)
{
    int block = thread / THREADS, first = block * THREADS, own = thread % THREADS, phase = o->threads[thread].phase;
    int kind = o->program->sync[block][phase];
    uint64_t members = 1ull << own;
    if (kind == SYNC_BLOCK)
        members = ~0ull;
    else if (kind != SYNC_NONE && o->program->mask[block][phase][own])
        members = (uint64_t)o->program->mask[block][phase][own] << own / LANES * LANES;
    if (!all_wait(o, first, members, phase))
        return false;
    meet(o, first, members, kind == SYNC_BLOCK || (kind == SYNC_WARP && o->program->mask[block][phase][own]));
    return true;
}

UNWATCHED static inline void step(oracle *o, int thread)
{
    thread_state *t = &o->threads[thread];
    while (t->phase < PHASES && !t->waits) {
        int begin = o->program->first[slot_of_thread(thread, t->phase)];
        int end = o->program->first[slot_of_thread(thread, t->phase) + 1];
        if (t->next < begin || t->next > end)
            t->next = begin;
        if (t->next == end)
            t->waits = true;
        else if (carry_out(o, thread, t->next))
            t->next++;
        else
            return;
        o->moved = true;
    }
    if (t->phase < PHASES && try_to_meet(o, thread))
        o->moved = true;
}

UNWATCHED static inline bool races(const access *a, const access *b)
{
    if (a->thread == b->thread || !(a->write || b->write))
        return false;
    if (a->atomic && b->atomic && (a->block == b->block || (a->scope == DEVICE_SCOPE && b->scope == DEVICE_SCOPE)))
        return false;
    return b->known.at[a->thread] < a->when && a->known.at[b->thread] < b->when;
}

UNWATCHED static inline bool happens_before(const access *a, const access *b)
{
    return a->thread == b->thread ? a < b : b->known.at[a->thread] >= a->when;
}

UNWATCHED static inline bool touches(const oracle *o, const access *a, int block, int byte)
{
    return byte >= a->offset && byte < a->offset + a->bytes && (!o->program->shared || a->block == block);
}

// Whether the plain access comes behind a write of this byte that only an atomic without a fence shows it, and that no
// later write hides. For a write only plain ones count.
UNWATCHED static inline bool unfenced_behind(const oracle *o, const access *plain, int block, int byte)
{
    for (int i = 0; i < o->count; i++) {
        const access *a = &o->accesses[i];
        if (!a->write || a->thread == plain->thread || (plain->write && a->atomic) || !touches(o, a, block, byte) ||
            !happens_before(a, plain) || plain->firm.at[a->thread] >= a->when)
            continue;
        bool hidden = false;
        for (int j = 0; j < o->count && !hidden; j++) {
            const access *later = &o->accesses[j];
            hidden = later->write && !later->atomic && later != a && later != plain && touches(o, later, block, byte) &&
                     happens_before(a, later) && happens_before(later, plain);
        }
        if (!hidden)
            return true;
    }
    return false;
}

UNWATCHED static inline void mark_unfenced(const oracle *o, bool unfenced[BLOCKS][MEMORY_BYTES])
{
    for (int i = 0; i < o->count; i++) {
        const access *a = &o->accesses[i];
        int block = o->program->shared ? a->block : 0;
        for (int byte = a->offset; !a->atomic && byte < a->offset + a->bytes; byte++)
            if (!unfenced[block][byte])
                unfenced[block][byte] = unfenced_behind(o, a, block, byte);
    }
}

// Runs one launch whose atomics returned `results`, and marks the bytes that race in racy[block][byte] (global memory:
// block 0), and those that are used behind an atomic without a fence. False: no order of events explains the results.
UNWATCHED static inline bool oracle_run(oracle *o, const script *program, const uint64_t *results,
                                        bool racy[BLOCKS][MEMORY_BYTES], bool unfenced[BLOCKS][MEMORY_BYTES])
{
    o->program = program;
    o->results = results;
    o->count = 0;
    memset(o->threads, 0, sizeof o->threads);
    int threads = program->blocks * THREADS;
    for (int t = 0; t < threads; t++)
        o->threads[t].known.at[t] = 1;
    do {
        o->moved = false;
        for (int t = 0; t < threads; t++)
            step(o, t);
    } while (o->moved);
    for (int t = 0; t < threads; t++)
        if (o->threads[t].phase < PHASES)
            return false;
    for (int i = 0; i < o->count; i++)
        for (int j = i + 1; j < o->count; j++) {
            const access *a = &o->accesses[i], *b = &o->accesses[j];
            int low = a->offset > b->offset ? a->offset : b->offset;
            int a_end = a->offset + a->bytes, b_end = b->offset + b->bytes, high = a_end < b_end ? a_end : b_end;
            if (low >= high || (program->shared && a->block != b->block) || !races(a, b))
                continue;
            for (int byte = low; byte < high; byte++)
                racy[program->shared ? a->block : 0][byte] = true;
        }
    mark_unfenced(o, unfenced);
    return true;
}

// Prints what touches one byte, for a person who looks into a difference.
UNWATCHED static inline void oracle_explain(const oracle *o, int block, int byte)
{
    static const char *const kinds[] = {"read", "write", "atomic", "atomic, result unused", "wait", "fence"};
    for (int i = 0; i < o->count; i++) {
        const access *a = &o->accesses[i];
        if (byte < a->offset || byte >= a->offset + a->bytes || (o->program->shared && a->block != block))
            continue;
        int phase = 0;
        while (a->operation >= o->program->first[slot_of_thread(a->thread, phase) + 1])
            phase++;
        printf("    block %d thread %d phase %d: %s of %d bytes at %d%s, time %d", a->block, a->thread % THREADS, phase,
               kinds[o->program->operations[a->operation].kind], a->bytes, a->offset,
               a->atomic && !a->scope ? " (block scope)" : "", a->when);
        for (int j = 0; j < o->count; j++) {
            const access *b = &o->accesses[j];
            if (j != i && races(a, b) && b->offset <= byte && byte < b->offset + b->bytes &&
                (!o->program->shared || b->block == block))
                printf("; races with block %d thread %d", b->block, b->thread % THREADS);
        }
        printf("\n");
    }
}

#endif
