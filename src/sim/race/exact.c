// Lists of accesses.

#include "race/exact.h"

#include <stdlib.h>
#include <string.h>

#include "machine/options.h"
#include "race/launches.h"
#include "race/unfenced.h"
#include "race/unwritten.h"

typedef struct access {
    uint32_t stamp, lanes;
    uint16_t site, clock;
    uint8_t warp, kind, scope, what;
    // When the first and the last of its lanes came, in the order in which this word was accessed; of one lane, when it
    // came last.
    uint32_t first, last;
    // Readers kept in two words were counted, not listed: how many there were (SIM_MANY_...).
    uint8_t many;
} access;

typedef struct story {
    uint32_t count, room;
    uint32_t now; // accesses so far
    access access[];
} story;

// Beyond this many the oldest is forgotten: a word that a thousand blocks update would otherwise remember them all.
enum { FIRST_ROOM = 4, MOST = 64, MOST_OTHERS = 4, MOST_OTHER_READERS = 8 };

static story *story_of(const sim_cell *cell)
{
    return (story *)(uintptr_t)(cell->write & ~SIM_EXACT); // NOLINT(performance-no-int-to-ptr)
}

static sim_cell cell_of(const story *told)
{
    return (sim_cell){.write = SIM_EXACT | (uintptr_t)told};
}

bool sim_exact_any;

static story *story_make(uint32_t room)
{
    story *made = malloc(sizeof *made + room * sizeof(access));
    __atomic_store_n(&sim_exact_any, true, __ATOMIC_RELAXED);
    if (made)
        *made = (story){.room = room};
    return made;
}

sim_cell sim_exact_copy(const sim_cell *cell)
{
    if (!sim_exact_is(cell))
        return *cell;
    const story *told = story_of(cell);
    story *made = story_make(told->room);
    if (!made)
        return (sim_cell){0};
    made->count = told->count;
    made->now = told->now;
    memcpy(made->access, told->access, told->count * sizeof(access));
    return cell_of(made);
}

void sim_exact_free(const sim_cell *cell)
{
    free(story_of(cell));
}

static void forget(story *told, uint32_t at)
{
    memmove(told->access + at, told->access + at + 1, (told->count - at - 1) * sizeof(access));
    told->count--;
}

static story *add(story *told, const access *next)
{
    if (told->count == MOST)
        forget(told, 0);
    if (told->count == told->room) {
        uint32_t room = 2 * told->room;
        story *moved = realloc(told, sizeof *told + room * sizeof(access));
        if (!moved)
            return told;
        told = moved;
        told->room = room;
    }
    told->access[told->count++] = *next;
    return told;
}

static access from_word(uint64_t word, unsigned kind)
{
    unsigned thread = sim_thread_of(word);
    return (access){.stamp = sim_stamp_of(word),
                    .lanes = 1u << thread % SIM_LANES,
                    .site = (uint16_t)sim_site_of(word),
                    .clock = (uint16_t)sim_clock_of(word),
                    .warp = (uint8_t)(thread / SIM_LANES),
                    .kind = (uint8_t)kind,
                    .many = kind == SIM_READ ? (uint8_t)(word & SIM_FLAGS) : 0};
}

static story *begin(const sim_view *view, sim_cell *cell)
{
    if (sim_exact_is(cell))
        return story_of(cell);
    story *told = story_make(FIRST_ROOM);
    if (!told)
        return NULL;
    // A copy under way outlives barriers.
    if (cell->write >= view->floor || sim_sites[sim_site_of(cell->write)].copy != SIM_NO_COPY)
        told->access[told->count++] = from_word(cell->write, SIM_WRITE);
    if (cell->read >= view->floor)
        told->access[told->count++] = from_word(cell->read, SIM_READ);
    *cell = cell_of(told);
    return told;
}

static bool reads_only(unsigned kind, unsigned what)
{
    return kind == SIM_READ || kind == SIM_VOLATILE_READ || (kind == SIM_ATOMIC && !(what & SIM_ATOMIC_STORE));
}

static sim_earlier earlier_of(const access *one)
{
    return (sim_earlier){.stamp = one->stamp,
                         .thread = one->warp * SIM_LANES + (unsigned)__builtin_ctz(one->lanes | 1u << 31),
                         .site = one->site,
                         .kind = one->kind};
}

static uint64_t word_of(const access *one)
{
    return (uint64_t)one->stamp << SIM_STAMP_SHIFT | (uint64_t)one->clock << SIM_CLOCK_SHIFT |
           (uint64_t)earlier_of(one).thread << SIM_THREAD_SHIFT | (uint64_t)one->site << SIM_SITE_SHIFT;
}

static void find_last(const sim_cell *cell, bool reads, sim_earlier *last)
{
    const story *told = story_of(cell);
    uint32_t latest = 0;
    for (uint32_t i = 0; i < told->count; i++) {
        const access *one = &told->access[i];
        if (one->last < latest || reads_only(one->kind, one->what) != reads)
            continue;
        latest = one->last;
        *last = earlier_of(one);
    }
}

void sim_exact_last_write(const sim_cell *cell, sim_earlier *last)
{
    find_last(cell, false, last);
}

void sim_exact_last_read(const sim_cell *cell, sim_earlier *last)
{
    find_last(cell, true, last);
}

void sim_exact_each(const sim_cell *cell, void (*visit)(const sim_earlier *one, void *context), void *context)
{
    const story *told = story_of(cell);
    for (uint32_t i = 0; i < told->count; i++) {
        sim_earlier one = earlier_of(&told->access[i]);
        visit(&one, context);
    }
}

void sim_exact_each_word(const sim_cell *cell, void (*visit)(uint64_t word, bool reads, void *context), void *context)
{
    const story *told = story_of(cell);
    for (uint32_t i = 0; i < told->count; i++) {
        const access *one = &told->access[i];
        visit(word_of(one), reads_only(one->kind, one->what), context);
    }
}

static bool is_volatile(unsigned kind)
{
    return kind == SIM_VOLATILE_READ || kind == SIM_VOLATILE_WRITE;
}

// Whether the atomic may fall between the two halves of a volatile `word += x`, and be lost. One whose result is used
// may be how its thread waits for that word: it is left alone, and an exchange is no more than a store.
static bool loses_update(const sim_site *store, const sim_site *atomic)
{
    return store->kind == SIM_VOLATILE_WRITE && store->reads_at != 0 && atomic->discards &&
           (atomic->what & SIM_ATOMIC_UPDATE) == SIM_ATOMIC_UPDATE && !(atomic->what & SIM_ATOMIC_REPLACE);
}

// Whether two accesses may not happen at once. Atomics may, if each is atomic for the other's thread. Volatile accesses
// never quite may; what follows from it is for verdict.c to say.
static bool conflicts(const sim_view *view, const access *earlier)
{
    if (reads_only(view->kind, view->what) && reads_only(earlier->kind, earlier->what))
        return false;
    bool atomic = view->kind == SIM_ATOMIC, earlier_atomic = earlier->kind == SIM_ATOMIC;
    if (!(atomic && (earlier_atomic || is_volatile(earlier->kind))) && !(earlier_atomic && is_volatile(view->kind)))
        return true;
    const sim_site *site = &sim_sites[view->site], *earlier_site = &sim_sites[earlier->site];
    if (loses_update(site, earlier_site) || loses_update(earlier_site, site))
        return true;
    bool same_block = view->shared || earlier->stamp == view->clock->stamp ||
                      sim_clock_block_of(earlier->stamp) == view->clock->serial;
    bool narrow = (atomic && view->scope == SIM_SCOPE_BLOCK) || (earlier_atomic && earlier->scope == SIM_SCOPE_BLOCK);
    return narrow && !same_block;
}

// The lanes of `earlier` that are ordered before `thread`.
static uint32_t ordered_lanes(const sim_view *view, int thread, const access *earlier)
{
    uint64_t word = (uint64_t)earlier->stamp << SIM_STAMP_SHIFT;
    if (word < view->floor)
        return earlier->lanes;
    bool now = earlier->stamp == view->clock->stamp;
    if (!view->clock->known[thread] && (!now || earlier->warp != thread / SIM_LANES)) {
        // Only barriers and launches order these, and they do not tell lanes apart.
        bool all = !now && sim_clock_ordered(view->clock, thread, earlier->stamp, 0, 0, view->shared);
        return all ? earlier->lanes : 0;
    }
    uint32_t ordered = 0;
    for (uint32_t rest = earlier->lanes; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (sim_clock_ordered(view->clock, thread, earlier->stamp, earlier->warp * SIM_LANES + lane, earlier->clock,
                              view->shared))
            ordered |= 1u << lane;
    }
    return ordered;
}

// Counted readers other than the one that is named: in a program whose threads meet at block barriers only, whether
// they are ordered follows from the interval alone.
static bool counted_readers_race(const sim_view *view, const access *earlier)
{
    if (earlier->many == SIM_MANY_BLOCKS)
        return (uint64_t)earlier->stamp << SIM_STAMP_SHIFT >= view->begun;
    return earlier->many != SIM_ONE_READER && earlier->stamp == view->clock->stamp;
}

static bool covers(const sim_view *view, const access *earlier)
{
    if (view->kind == SIM_WRITE)
        return true;
    return view->kind == earlier->kind && view->scope <= earlier->scope && view->what == earlier->what;
}

// Whether an earlier access that does not conflict is old enough to be dropped, as far as that is cheap to know.
static bool outdated(const sim_view *view, int thread, access *earlier)
{
    if (((uint64_t)earlier->stamp << SIM_STAMP_SHIFT) < view->floor)
        return true;
    if (earlier->stamp != view->clock->stamp)
        return sim_clock_block_of(earlier->stamp) == view->clock->serial;
    if (earlier->warp == thread / SIM_LANES)
        earlier->lanes &= ~ordered_lanes(view, thread, earlier);
    return earlier->lanes == 0;
}

static bool is_own(const sim_view *view, int thread, const access *one)
{
    return one->warp == thread / SIM_LANES && (one->lanes >> thread % SIM_LANES & 1) &&
           (view->shared || sim_clock_block_of(one->stamp) == view->clock->serial);
}

// What this thread did to the word before, as far as is known: when it last updated it atomically, and when it last
// looked at it by a volatile read, and from where. 0: never.
typedef struct before {
    uint32_t atomic, look;
    unsigned site;
} before;

static before own_before(const sim_view *view, int thread, const story *told)
{
    before own = {0};
    for (uint32_t i = 0; i < told->count; i++) {
        const access *one = &told->access[i];
        if (!is_own(view, thread, one))
            continue;
        if (one->kind == SIM_ATOMIC && one->first > own.atomic)
            own.atomic = one->first;
        if (one->kind == SIM_VOLATILE_READ && one->last > own.look) {
            own.look = one->last;
            own.site = one->site;
        }
    }
    return own;
}

// Whether the order of the two may hang on a fence of this access's thread: a plain access behind what it uses. A
// write behind atomics or reads is not asked: no hardware makes a store before the look that it depends on.
static bool wants_fence(const sim_view *view, const access *earlier)
{
    return view->kind == SIM_READ || (view->kind == SIM_WRITE && earlier->kind == SIM_WRITE);
}

// `lanes` of an earlier write are ordered before this access: whether a fence has made sure of it.
static void check_fenced(const sim_view *view, int thread, const access *earlier, uint32_t lanes, uintptr_t address)
{
    if ((uint64_t)earlier->stamp << SIM_STAMP_SHIFT < view->floor)
        return;
    for (; lanes; lanes &= lanes - 1) {
        sim_earlier write = {.stamp = earlier->stamp,
                             .thread = earlier->warp * SIM_LANES + (unsigned)__builtin_ctz(lanes),
                             .site = earlier->site,
                             .kind = earlier->kind};
        sim_unfenced_check(view, thread, &write, earlier->clock, address);
    }
}

// Checks the access against one earlier one. Returns whether the earlier one can be dropped.
static bool meet(const sim_view *view, int thread, access *earlier, const before *own, uintptr_t address)
{
    bool conflict = conflicts(view, earlier), covered = covers(view, earlier);
    if (!conflict)
        return covered && !earlier->many && outdated(view, thread, earlier);
    uint32_t unordered = earlier->lanes & ~ordered_lanes(view, thread, earlier);
    bool counted = earlier->many && ((uint64_t)earlier->stamp << SIM_STAMP_SHIFT) >= view->floor &&
                   counted_readers_race(view, earlier);
    if (unordered || counted) {
        unsigned lane = (unsigned)__builtin_ctz(unordered ? unordered : earlier->lanes);
        sim_earlier found = {.stamp = earlier->stamp,
                             .thread = earlier->warp * SIM_LANES + lane,
                             .site = earlier->site,
                             .kind = earlier->kind,
                             .confirmed = (earlier->kind == SIM_ATOMIC || earlier->kind == SIM_VOLATILE_WRITE) &&
                                          earlier->last < own->atomic,
                             .looked = earlier->last < own->look ? own->site : 0};
        sim_race_found(view, thread, &found, address);
    }
    if (wants_fence(view, earlier) && sim_unfenced_any(view->clock, thread))
        check_fenced(view, thread, earlier, earlier->lanes & ~unordered, address);
    if (counted || !covered)
        return false;
    earlier->lanes = unordered;
    return unordered == 0;
}

static bool merges(const access *a, const access *b)
{
    return a->stamp == b->stamp && a->clock == b->clock && a->warp == b->warp && a->kind == b->kind &&
           a->site == b->site && a->scope == b->scope && a->what == b->what && !a->many;
}

// Where only block barriers and launches order, a few accesses of other intervals stand for all. Elsewhere that is true
// of nothing, but a word that the whole grid reads would cost too much: some of its readers are forgotten.
static void thin(story *told, const sim_view *view)
{
    unsigned others = 0, most = view->finer_threads ? MOST_OTHER_READERS : MOST_OTHERS;
    for (uint32_t i = told->count; i-- > 0;) {
        const access *one = &told->access[i];
        bool counts = view->finer_threads ? one->kind == SIM_READ : one->kind != SIM_WRITE;
        if (one->stamp != view->clock->stamp && counts && ++others > most)
            forget(told, i);
    }
}

// A story of one plain write fits in two words again.
static void settle(sim_cell *cell, story *told)
{
    const access *only = &told->access[0];
    if (told->count != 1 || only->kind != SIM_WRITE || (only->lanes & (only->lanes - 1)) != 0) {
        *cell = cell_of(told);
        return;
    }
    *cell = (sim_cell){.write = word_of(only)};
    free(told);
}

bool sim_exact_outlived(const sim_view *view, sim_cell *cell)
{
    story *told = story_of(cell);
    const access *write = NULL;
    for (uint32_t i = told->count; i-- > 0;) {
        const access *one = &told->access[i];
        bool plain = one->kind == SIM_READ || one->kind == SIM_WRITE;
        if ((uint64_t)one->stamp << SIM_STAMP_SHIFT >= view->floor || !plain ||
            sim_sites[one->site].copy != SIM_NO_COPY)
            return false;
        if (one->kind == SIM_WRITE && (!write || one->last > write->last))
            write = one;
    }
    *cell = (sim_cell){.write = write ? word_of(write) : 0};
    free(told);
    return true;
}

// The places from which the word was read plainly, and at which this thread has been: its reads were guesses.
static void note_guesses(const sim_view *view, int thread, const story *told)
{
    for (uint32_t i = 0; i < told->count; i++)
        if (told->access[i].kind == SIM_READ && sim_has_read(view, thread, told->access[i].site))
            sim_sites[told->access[i].site].optimistic = true;
}

void sim_exact_access(const sim_view *view, sim_cell *cell, int thread, uintptr_t address)
{
    story *told = begin(view, cell);
    if (!told)
        return;
    access next = {.stamp = view->clock->stamp,
                   .lanes = 1u << thread % SIM_LANES,
                   .site = (uint16_t)view->site,
                   .clock = view->clock->clock[thread],
                   .warp = (uint8_t)(thread / SIM_LANES),
                   .kind = (uint8_t)view->kind,
                   .scope = (uint8_t)view->scope,
                   .what = (uint8_t)view->what,
                   .first = ++told->now,
                   .last = told->now};
    if (sim_site_confirms(&sim_sites[view->site]))
        note_guesses(view, thread, told);
    before own = {0};
    if (view->kind != SIM_ATOMIC)
        own = own_before(view, thread, told);
    bool added = false;
    for (uint32_t i = told->count; i-- > 0;) {
        access *earlier = &told->access[i];
        if (!added && view->kind != SIM_WRITE && view->kind != SIM_VOLATILE_WRITE && merges(earlier, &next)) {
            if (earlier->lanes == next.lanes)
                earlier->first = next.first;
            earlier->lanes |= next.lanes;
            earlier->last = next.last;
            added = true;
            continue;
        }
        if (meet(view, thread, earlier, &own, address))
            forget(told, i);
    }
    if (!added)
        told = add(told, &next);
    thin(told, view);
    settle(cell, told);
}
