// Sets of facts as sorted arrays.

#include "race/knowledge.h"

#include <stdlib.h>
#include <string.h>

sim_knowledge *sim_knowledge_keep(sim_knowledge *knowledge)
{
    if (knowledge)
        __atomic_fetch_add(&knowledge->references, 1, __ATOMIC_RELAXED);
    return knowledge;
}

void sim_knowledge_drop(sim_knowledge *knowledge)
{
    if (knowledge && __atomic_fetch_sub(&knowledge->references, 1, __ATOMIC_ACQ_REL) == 1)
        free(knowledge);
}

// Room for as many, and for more to come: a barrier is told of its threads one by one.
static sim_knowledge *allocate(uint32_t count)
{
    uint32_t room = 1;
    while (room < count)
        room *= 2;
    sim_knowledge *made = malloc(sizeof *made + (size_t)room * sizeof(sim_fact));
    if (made)
        *made = (sim_knowledge){.references = 1, .room = room};
    return made;
}

sim_knowledge *sim_knowledge_make(const sim_fact *facts, uint32_t count)
{
    sim_knowledge *made = allocate(count);
    if (!made)
        return NULL;
    memcpy(made->fact, facts, (size_t)count * sizeof *facts);
    made->count = count;
    return made;
}

static uint32_t end_of_block(const sim_knowledge *knowledge, uint32_t at)
{
    uint32_t block = knowledge->fact[at].block;
    while (at < knowledge->count && knowledge->fact[at].block == block)
        at++;
    return at;
}

static void append(sim_knowledge *made, const sim_knowledge *from, uint32_t begin, uint32_t end)
{
    memcpy(made->fact + made->count, from->fact + begin, (size_t)(end - begin) * sizeof(sim_fact));
    made->count += end - begin;
}

// Both know of one block at one stamp: thread by thread, the later clock.
static void append_both(sim_knowledge *made, const sim_knowledge *a, uint32_t i, uint32_t a_end, const sim_knowledge *b,
                        uint32_t j, uint32_t b_end)
{
    while (i < a_end || j < b_end) {
        bool take_a = j == b_end || (i < a_end && a->fact[i].thread <= b->fact[j].thread);
        bool take_b = i == a_end || (j < b_end && b->fact[j].thread <= a->fact[i].thread);
        sim_fact fact = take_a ? a->fact[i] : b->fact[j];
        if (take_a && take_b && b->fact[j].clock > fact.clock)
            fact.clock = b->fact[j].clock;
        made->fact[made->count++] = fact;
        i += take_a;
        j += take_b;
    }
}

static bool same(const sim_knowledge *a, const sim_knowledge *b)
{
    return a->count == b->count && memcmp(a->fact, b->fact, (size_t)a->count * sizeof(sim_fact)) == 0;
}

bool sim_knowledge_same(const sim_knowledge *a, const sim_knowledge *b)
{
    return a == b || (a && b && same(a, b));
}

sim_knowledge *sim_knowledge_join(sim_knowledge *a, sim_knowledge *b)
{
    if (!a || !b || a == b)
        return sim_knowledge_keep(a ? a : b);
    sim_knowledge *made = allocate(a->count + b->count);
    if (!made)
        return NULL;
    for (uint32_t i = 0, j = 0; i < a->count || j < b->count;) {
        uint32_t a_end = i < a->count ? end_of_block(a, i) : i, b_end = j < b->count ? end_of_block(b, j) : j;
        if (j == b->count || (i < a->count && a->fact[i].block < b->fact[j].block)) {
            append(made, a, i, a_end);
            i = a_end;
        } else if (i == a->count || b->fact[j].block < a->fact[i].block) {
            append(made, b, j, b_end);
            j = b_end;
        } else {
            // The later barrier interval says all that the earlier one could.
            if (a->fact[i].stamp > b->fact[j].stamp)
                append(made, a, i, a_end);
            else if (a->fact[i].stamp < b->fact[j].stamp)
                append(made, b, j, b_end);
            else
                append_both(made, a, i, a_end, b, j, b_end);
            i = a_end;
            j = b_end;
        }
    }
    // A lock handed on usually teaches nothing new: then nothing is kept twice.
    sim_knowledge *known = same(made, a) ? a : same(made, b) ? b : NULL;
    if (!known)
        return made;
    sim_knowledge_drop(made);
    return sim_knowledge_keep(known);
}

// The first fact not before (block, thread).
static uint32_t place_of(const sim_knowledge *knowledge, uint32_t block, uint32_t thread)
{
    uint32_t low = 0, high = knowledge->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const sim_fact *fact = &knowledge->fact[middle];
        if (fact->block < block || (fact->block == block && fact->thread < thread))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Puts `count` facts in the place of those from `begin` to `end`.
static void replace(sim_knowledge *knowledge, uint32_t begin, uint32_t end, const sim_fact *facts, uint32_t count)
{
    memmove(knowledge->fact + begin + count, knowledge->fact + end,
            (size_t)(knowledge->count - end) * sizeof(sim_fact));
    if (count > 0)
        memcpy(knowledge->fact + begin, facts, (size_t)count * sizeof(sim_fact));
    knowledge->count = knowledge->count - (end - begin) + count;
}

static void add(sim_knowledge *knowledge, const sim_fact *fact)
{
    uint32_t begin = place_of(knowledge, fact->block, 0), at = place_of(knowledge, fact->block, fact->thread);
    bool any = begin < knowledge->count && knowledge->fact[begin].block == fact->block;
    if (any && knowledge->fact[begin].stamp > fact->stamp)
        return;
    if (any && knowledge->fact[begin].stamp < fact->stamp)
        replace(knowledge, begin, end_of_block(knowledge, begin), fact, 1);
    else if (at == knowledge->count || knowledge->fact[at].block != fact->block ||
             knowledge->fact[at].thread != fact->thread)
        replace(knowledge, at, at, fact, 1);
    else if (knowledge->fact[at].clock < fact->clock)
        knowledge->fact[at].clock = fact->clock;
}

void sim_knowledge_learn(sim_knowledge **held, sim_knowledge *more)
{
    enum { FEW = 4 };
    sim_knowledge *own = *held;
    if (!more || own == more)
        return;
    if (own && more->count <= FEW && own->room - own->count >= more->count &&
        __atomic_load_n(&own->references, __ATOMIC_ACQUIRE) == 1) {
        for (uint32_t i = 0; i < more->count; i++)
            add(own, &more->fact[i]);
        return;
    }
    *held = sim_knowledge_join(own, more);
    sim_knowledge_drop(own);
}

void sim_knowledge_forget(sim_knowledge **held, uint32_t block)
{
    const sim_knowledge *own = *held;
    uint32_t begin = own ? place_of(own, block, 0) : 0;
    if (!own || begin == own->count || own->fact[begin].block != block)
        return;
    sim_knowledge *left = sim_knowledge_make(own->fact, own->count);
    if (left)
        replace(left, begin, end_of_block(left, begin), NULL, 0);
    sim_knowledge_drop(*held);
    *held = left;
    if (left && left->count == 0) {
        sim_knowledge_drop(left);
        *held = NULL;
    }
}

bool sim_knowledge_has(const sim_knowledge *knowledge, uint32_t block, uint32_t stamp, uint32_t thread, uint32_t clock)
{
    if (!knowledge)
        return false;
    uint32_t low = place_of(knowledge, block, thread);
    bool here = low < knowledge->count && knowledge->fact[low].block == block;
    bool before = low > 0 && knowledge->fact[low - 1].block == block;
    if (!here && !before)
        return false;
    uint32_t known = knowledge->fact[here ? low : low - 1].stamp;
    if (stamp != known)
        return stamp < known;
    return here && knowledge->fact[low].thread == thread && clock <= knowledge->fact[low].clock;
}
