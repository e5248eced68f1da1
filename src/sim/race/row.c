// Rows against shadow memory: the common cases in a few instructions per word, the rest through exact.c.

#include <string.h>

#include "race/exact.h"
#include "race/granule.h"
#include "race/race.h"
#include "race/read_only.h"
#include "race/under_way.h"
#include "race/unwritten.h"
#include "race/word.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)

// One lane, one access of any kind, to pages that are made.
static void access_lane(const sim_view *view, sim_region *region, int thread, uintptr_t address, unsigned bytes)
{
    uint64_t me = sim_clock_word(view->clock, thread) | (uint64_t)view->site << SIM_SITE_SHIFT;
    for (uintptr_t at = address; at < address + bytes;) {
        sim_page page = sim_page_find(region, at);
        if (!page.cells || (bytes < 4 && page.grain != 0))
            return; // there was no memory for them
        sim_cell *cell = sim_cell_at(page, at);
        if (view->kind == SIM_READ)
            sim_word_read(view, cell, me, at);
        else if (view->kind == SIM_WRITE)
            sim_word_write(view, cell, me, at);
        else
            sim_exact_access(view, cell, thread, at);
        at = (at >> page.grain << page.grain) + ((uintptr_t)1 << page.grain);
    }
}

// Defined in programs whose compiler copies structures word by word (sim/standin.h).
extern char sim_copies_words __attribute__((weak));

// --- whether memory was ever written --------------------------------------------------------------------------------

// A vector or structure half written may have padding, or a member nobody uses. Within a word, what may be padding
// between members of one and two bytes ends at a multiple of two, and the byte before it is written; all else is a
// mistake. So is every byte of a number of four bytes that was not written: gcc tells of structures in another
// way, because those with such members need not be aligned as that number.
static bool reads_unwritten(unsigned written, unsigned bytes, bool whole)
{
    if (whole && bytes == sizeof(uint32_t) && !&sim_copies_words)
        return written != SIM_WORD_INITIALISED;
    if (bytes == 2)
        return written != 0x3 && written != 0x1;
    if (bytes == 4)
        return written != 0xf && written != 0x1 && written != 0x3 && written != 0x5 && written != 0x7 && written != 0xd;
    return bytes == 1 ? written != 1 : written == 0;
}

static void initialise_lane(sim_worker *worker, sim_region *region, unsigned site, int thread, uintptr_t address)
{
    const sim_site *about = &sim_sites[site];
    bool reads = about->kind == SIM_READ || about->kind == SIM_VOLATILE_READ ||
                 (about->kind == SIM_ATOMIC && (about->what & SIM_ATOMIC_LOAD) &&
                  !(about->discards && (about->what & SIM_ATOMIC_REPLACE)));
    bool writes = about->kind == SIM_WRITE || about->kind == SIM_VOLATILE_WRITE ||
                  (about->kind == SIM_ATOMIC && (about->what & SIM_ATOMIC_STORE));
    unsigned written = 0;
    for (unsigned i = 0; i < about->bytes; i++) {
        size_t at = address + i - region->base;
        written |= (unsigned)(region->initialised[at >> SIM_WORD_SHIFT] >> (at % 4) & 1) << i;
    }
    bool unwritten = reads && reads_unwritten(written, about->bytes, about->whole);
    if (unwritten)
        sim_unwritten_read(worker, site, thread, address);
    else if (reads && about->whole && about->bytes == sizeof(uint64_t) && written != UINT8_MAX)
        sim_unwritten_part_read(worker, site, thread, address);
    if (writes || unwritten) // once is enough
        sim_region_mark(region, address, about->bytes, true);
}

#define EIGHT_INITIALISED (0x0101010101010101u * SIM_WORD_INITIALISED)

// True when the whole range is written already; a write makes it so.
static inline bool initialised_range(sim_region *region, uintptr_t address, size_t bytes, bool write)
{
    uint8_t *word = region->initialised + ((address - region->base) >> SIM_WORD_SHIFT);
    size_t words = bytes >> SIM_WORD_SHIFT;
    if (write) {
        memset(word, SIM_WORD_INITIALISED, words);
        return true;
    }
    uint64_t all = EIGHT_INITIALISED;
    size_t i = 0;
    for (; i + sizeof all <= words; i += sizeof all) {
        uint64_t eight;
        memcpy(&eight, word + i, sizeof eight);
        all &= eight;
    }
    for (; i < words; i++)
        all &= word[i] | (EIGHT_INITIALISED & ~(uint64_t)0xff);
    return all == EIGHT_INITIALISED;
}

// --- runs and rows --------------------------------------------------------------------------------------------------

static bool in_one_page(const sim_stretch *run, unsigned bytes)
{
    return (run->address & (SIM_PAGE_BYTES - 1)) + sim_stretch_span(run, bytes) <= SIM_PAGE_BYTES;
}

// A run within one page.
static void lane_by_lane(const sim_view *view, sim_region *region, const sim_stretch *run, unsigned bytes)
{
    int thread = view->worker->warp * SIM_LANES + run->first;
    uintptr_t address = run->address;
    size_t span = sim_stretch_span(run, bytes);
    if (!sim_clock_spent)
        sim_page_at(region, address, bytes);
    if (view->common)
        sim_granules_lock(run->address, span);
    for (int i = 0; i < run->lanes; i++, address += run->stride) {
        if (region->initialised)
            initialise_lane(view->worker, region, view->site, thread + i, address);
        if (!sim_clock_spent)
            access_lane(view, region, thread + i, address, bytes);
    }
    if (view->common)
        sim_granules_unlock(run->address, span);
}

static void run_by_lane(const sim_view *view, sim_region *region, const sim_stretch *run)
{
    unsigned bytes = sim_sites[view->site].bytes;
    if (in_one_page(run, bytes)) {
        lane_by_lane(view, region, run, bytes);
        return;
    }
    // Each lane's own bytes are aligned, and so in one page.
    for (int i = 0; i < run->lanes; i++) {
        sim_stretch lane = {run->first + i, 1, run->address + (uintptr_t)run->stride * (unsigned)i, 0};
        lane_by_lane(view, region, &lane, bytes);
    }
}

// Whole words of one page, all of them written before: the cells stand side by side.
static sim_cell *cells_of(sim_region *region, const sim_stretch *run, unsigned bytes, bool write)
{
    if (bytes < 4 || !in_one_page(run, bytes))
        return NULL;
    sim_page page = sim_page_at(region, run->address, bytes);
    if (!page.cells || page.grain != SIM_WORD_SHIFT)
        return NULL;
    if (region->initialised && !initialised_range(region, run->address, sim_stretch_span(run, bytes), write))
        return NULL;
    return sim_cell_at(page, run->address);
}

// The next lane's word. Where lanes only ever meet in whole warps their clocks are equal.
static inline uint64_t next_lane(const sim_view *view, uint64_t me)
{
    if (LIKELY(!view->finer_lanes && !view->finer_threads))
        return me + ((uint64_t)1 << SIM_THREAD_SHIFT);
    return sim_clock_word(view->clock, (int)sim_thread_of(me) + 1) | (me & ((uint64_t)0x3fff << SIM_SITE_SHIFT));
}

// Consecutive words, one per lane.
static __attribute__((noinline)) void read_words(const sim_view *view, sim_cell *cell, int lanes, uint64_t me,
                                                 uintptr_t address)
{
    for (int lane = 0; lane < lanes; lane++, cell++, address += 4) {
        sim_word_read(view, cell, me, address);
        me = lane + 1 < lanes ? next_lane(view, me) : me;
    }
}

static __attribute__((noinline)) void write_words(const sim_view *view, sim_cell *cell, int lanes, uint64_t me,
                                                  uintptr_t address)
{
    for (int lane = 0; lane < lanes; lane++, cell++, address += 4) {
        sim_word_write(view, cell, me, address);
        me = lane + 1 < lanes ? next_lane(view, me) : me;
    }
}

// One address for several lanes. Two of them stand for all, unless lanes can meet in parts of a warp.
static void read_shared_words(const sim_view *view, const sim_stretch *run, sim_cell *cell, uint64_t first,
                              unsigned words)
{
    int lanes = view->finer_lanes || view->finer_threads || run->lanes < 2 ? run->lanes : 2;
    for (unsigned i = 0; i < words; i++) {
        uint64_t me = first;
        for (int lane = 0; lane < lanes; lane++) {
            sim_word_read(view, cell + i, me, run->address + 4 * i);
            me = lane + 1 < lanes ? next_lane(view, me) : me;
        }
    }
}

// Words that several blocks have read and none has written, as inputs are: one reader more changes nothing that a
// later write would be judged by. Looked at without a lock, because that write will see what was seen here.
static inline bool read_by_many(const sim_view *view, const sim_cell *cell, size_t count)
{
    uint64_t floor = view->floor, least = floor > view->begun ? floor : view->begun;
    if ((cell->read & SIM_FLAGS) != SIM_MANY_BLOCKS)
        return false;
    unsigned other = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t write = cell[i].write, read = cell[i].read;
        other |= (write >= floor) | (read < least) | ((read & SIM_FLAGS) != SIM_MANY_BLOCKS);
    }
    return other == 0;
}

// The same for shared memory: words that several warps have read since the barrier.
static inline bool read_by_warps(const sim_view *view, const sim_cell *cell, size_t count)
{
    const uint64_t alike = (~(uint64_t)0 << SIM_STAMP_SHIFT) | SIM_FLAGS;
    const uint64_t many = (uint64_t)view->clock->stamp << SIM_STAMP_SHIFT | SIM_MANY_WARPS;
    if (((cell->read ^ many) & alike) != 0)
        return false;
    unsigned other = 0;
    for (size_t i = 0; i < count; i++)
        other |= (cell[i].write >= view->floor) | (((cell[i].read ^ many) & alike) != 0);
    return other == 0;
}

static void run_words(const sim_view *view, const sim_stretch *run, sim_cell *cell, int thread, unsigned words)
{
    uint64_t me = sim_clock_word(view->clock, thread) | (uint64_t)view->site << SIM_SITE_SHIFT;
    bool write = view->kind == SIM_WRITE;
    size_t count = run->stride ? (size_t)run->lanes * words : words;
    if (!write && (view->shared ? read_by_warps(view, cell, count) : read_by_many(view, cell, count)))
        return;
    if (run->stride == 0 && run->lanes > 1) {
        read_shared_words(view, run, cell, me, words);
    } else if (words == 1 && write) {
        write_words(view, cell, run->lanes, me, run->address);
    } else if (words == 1) {
        read_words(view, cell, run->lanes, me, run->address);
    } else {
        uintptr_t address = run->address;
        for (int lane = 0; lane < run->lanes; lane++) {
            for (unsigned i = 0; i < words; i++, cell++, address += 4)
                write ? sim_word_write(view, cell, me, address) : sim_word_read(view, cell, me, address);
            me = lane + 1 < run->lanes ? next_lane(view, me) : me;
        }
    }
}

// run_words where other workers may be at the words too. False: the page has been split meanwhile.
static bool run_words_locked(const sim_view *view, const sim_region *region, const sim_stretch *run, sim_cell *cell,
                             int thread, unsigned words)
{
    size_t span = sim_stretch_span(run, words << SIM_WORD_SHIFT);
    if (view->kind == SIM_READ && read_by_many(view, cell, span >> SIM_WORD_SHIFT))
        return true;
    sim_granules_lock(run->address, span);
    bool still = sim_page_find(region, run->address).grain == SIM_WORD_SHIFT;
    if (still)
        run_words(view, run, cell, thread, words);
    sim_granules_unlock(run->address, span);
    return still;
}

// One word of one lane, as in rows whose lanes are apart. False: this is not the common case, and nothing was done.
static inline bool lone_word(const sim_view *view, const sim_region *region, uintptr_t address, int thread)
{
    const bool write = view->kind == SIM_WRITE;
    const sim_page page = sim_page_find(region, address);
    uint8_t *written = region->initialised ? region->initialised + ((address - region->base) >> SIM_WORD_SHIFT) : NULL;
    if (!page.cells || page.grain != SIM_WORD_SHIFT || (!write && written && *written != SIM_WORD_INITIALISED))
        return false;
    sim_cell *cell = sim_cell_at(page, address);
    if (view->common)
        return !write && read_by_many(view, cell, 1);
    if (write && written)
        *written = SIM_WORD_INITIALISED;
    const uint64_t me = sim_clock_word(view->clock, thread) | (uint64_t)view->site << SIM_SITE_SHIFT;
    write ? sim_word_write(view, cell, me, address) : sim_word_read(view, cell, me, address);
    return true;
}

static inline void note_read(const sim_worker *worker, const sim_row *row)
{
    sim_ran *ran = &worker->race->ran[(size_t)row->site * SIM_WARPS + (unsigned)worker->warp];
    uint32_t stamp = worker->block->clock->stamp;
    bool before = ran->stamp == stamp;
    *ran = (sim_ran){stamp, before ? ran->lanes | row->mask : row->mask,
                     before ? ran->again | (ran->lanes & row->mask) : 0};
}

void sim_race_row(sim_worker *worker, const sim_row *row)
{
    if (!worker->block->clock)
        return;
    const sim_site *about = &sim_sites[row->site];
    unsigned bytes = about->bytes;
    if (about->copy != SIM_NO_COPY) {
        sim_under_way_row(worker, row);
        return;
    }
    if (about->kind != SIM_WRITE)
        note_read(worker, row);
    if (about->fetches)
        sim_read_only_row(worker, row);
    const bool words_only = bytes == 1u << SIM_WORD_SHIFT && about->kind <= SIM_WRITE && !sim_clock_spent;
    sim_region *region = NULL;
    sim_view view;
    for (int i = 0; i < row->runs; i++) {
        const sim_stretch *run = &row->run[i];
        if (!region || run->address - region->base >= region->span) {
            region = sim_region_of(worker, run->address);
            if (!region)
                continue;
            sim_view_make(&view, worker, region, row->site);
        }
        int thread = worker->warp * SIM_LANES + run->first;
        if (row->step != 0 && words_only && lone_word(&view, region, run->address, thread))
            continue;
        sim_cell *cell = NULL;
        bool alone = run->lanes == 1 || run->stride != 0;
        if (!sim_clock_spent && (about->kind == SIM_READ || (about->kind == SIM_WRITE && alone)))
            cell = cells_of(region, run, bytes, about->kind == SIM_WRITE);
        if (cell && !view.common)
            run_words(&view, run, cell, thread, bytes >> SIM_WORD_SHIFT);
        else if (!cell || !run_words_locked(&view, region, run, cell, thread, bytes >> SIM_WORD_SHIFT))
            run_by_lane(&view, region, run);
    }
}
