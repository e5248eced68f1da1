// Making, refining and forgetting shadow pages.

#include "race/shadow.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "machine/worker.h"
#include "memory/reserve.h"
#include "race/exact.h"
#include "race/granule.h"

sim_granule_lock sim_granule_locks[SIM_GRANULE_LOCKS];
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

// --- cells -----------------------------------------------------------------------------------------------------------

// The cells of a page of words. They come from chunks: small ones at first, so that small programs stay small, and then
// large ones in huge pages, because the shadow of large memory is four times as large.
typedef union word_cells {
    union word_cells *next; // of those that are not in use
    sim_cell cell[SIM_PAGE_BYTES >> SIM_WORD_SHIFT];
} word_cells;

enum { SMALL_CHUNK = 64, LARGE_CHUNK = 4096, SMALL_CHUNKS = 8 }; // pages; and how many chunks are small

static struct {
    word_cells *spare;
    word_cells *next, *end; // of the last chunk: never used
    unsigned chunks;
} cells; // `making` is held

static void add_chunk(void)
{
    const size_t large = cells.chunks < SMALL_CHUNKS ? 0 : LARGE_CHUNK * sizeof(word_cells);
    const size_t small = SMALL_CHUNK * sizeof(word_cells);
    word_cells *chunk = large ? sim_reserve(large) : NULL;
    if (chunk)
        sim_reserve_huge(chunk, large);
    const size_t bytes = chunk ? large : small;
    if (!chunk)
        chunk = sim_reserve(small);
    if (!chunk)
        return;
    cells.chunks++;
    cells.next = chunk;
    cells.end = chunk + bytes / sizeof *chunk;
}

// Zeros; NULL: no memory left.
static sim_cell *take_cells(void)
{
    word_cells *used = cells.spare;
    if (used) {
        cells.spare = used->next;
        memset(used, 0, sizeof *used);
        return used->cell;
    }
    if (cells.next == cells.end)
        add_chunk();
    if (cells.next == cells.end)
        return NULL;
    cells.next->next = NULL; // memory that is read before it is written costs the system two page faults
    return (cells.next++)->cell;
}

static void give_cells(uintptr_t word)
{
    const sim_page page = sim_page_of(word);
    if (page.grain != SIM_WORD_SHIFT || !page.cells) {
        free(page.cells);
        return;
    }
    word_cells *given = (word_cells *)page.cells;
    pthread_mutex_lock(&making);
    given->next = cells.spare;
    cells.spare = given;
    pthread_mutex_unlock(&making);
}

// --- pages -----------------------------------------------------------------------------------------------------------

static size_t page_count(const sim_region *region)
{
    return (region->span + SIM_PAGE_BYTES - 1) >> SIM_PAGE_SHIFT;
}

bool sim_region_make(sim_region *region, uintptr_t base, size_t span, bool tracked, bool shared)
{
    uintptr_t aligned = base & ~(uintptr_t)(SIM_PAGE_BYTES - 1);
    *region = (sim_region){.base = aligned, .span = span + (base - aligned), .shared = shared};
    region->pages = sim_reserve(page_count(region) * sizeof *region->pages);
    if (tracked)
        region->initialised = sim_reserve((region->span >> SIM_WORD_SHIFT) + SIM_PAGE_BYTES);
    if (region->pages && (region->initialised || !tracked))
        return true;
    sim_region_free(region);
    return false;
}

void sim_region_free(sim_region *region)
{
    if (region->pages) {
        sim_region_forget(region, region->base, region->span);
        for (size_t i = 0; i < page_count(region); i++)
            give_cells(region->pages[i]);
        munmap(region->pages, page_count(region) * sizeof *region->pages);
    }
    if (region->initialised)
        munmap(region->initialised, (region->span >> SIM_WORD_SHIFT) + SIM_PAGE_BYTES);
    memset(region, 0, sizeof *region);
}

// Splits every cell in as many as it has bytes; each part saw what the whole saw. The coarse cells stay allocated:
// another worker may be about to read them. None is about to change them: their locks are held.
static sim_cell *refined(const sim_cell *coarse)
{
    sim_cell *fine = malloc(SIM_PAGE_BYTES * sizeof *fine);
    for (size_t i = 0; fine && i < SIM_PAGE_BYTES; i++)
        fine[i] = i % 4 == 0 ? coarse[i >> SIM_WORD_SHIFT] : sim_exact_copy(&coarse[i >> SIM_WORD_SHIFT]);
    return fine;
}

sim_page sim_page_make(sim_region *region, uintptr_t address, unsigned bytes)
{
    uintptr_t *word = &region->pages[(address - region->base) >> SIM_PAGE_SHIFT];
    uintptr_t start = address & ~(uintptr_t)(SIM_PAGE_BYTES - 1);
    pthread_mutex_lock(&making);
    sim_page page = sim_page_of(*word);
    bool to_bytes = bytes < 4 && page.grain != 0;
    bool lock = page.cells && to_bytes && sim_region_common(region);
    if (lock)
        sim_granules_lock(start, SIM_PAGE_BYTES);
    if (!page.cells || to_bytes) {
        unsigned grain = to_bytes ? 0 : SIM_WORD_SHIFT;
        page.cells = page.cells ? refined(page.cells)
                     : to_bytes ? calloc(SIM_PAGE_BYTES, sizeof(sim_cell))
                                : take_cells();
        page.grain = grain;
        if (page.cells)
            __atomic_store_n(word, (uintptr_t)page.cells + (to_bytes ? SIM_PAGE_OF_BYTES : 0), __ATOMIC_RELEASE);
    }
    if (lock)
        sim_granules_unlock(start, SIM_PAGE_BYTES);
    pthread_mutex_unlock(&making);
    return page;
}

void sim_region_forget(sim_region *region, uintptr_t start, size_t bytes)
{
    for (uintptr_t address = start; address < start + bytes;) {
        uintptr_t page_end = (address | (SIM_PAGE_BYTES - 1)) + 1;
        uintptr_t end = page_end < start + bytes ? page_end : start + bytes;
        sim_page page = sim_page_find(region, address);
        if (page.cells) {
            sim_cell *first = sim_cell_at(page, address);
            size_t count = (end - address + (1u << page.grain) - 1) >> page.grain;
            for (size_t i = 0; i < count; i++)
                sim_exact_forget(&first[i]);
        }
        address = end;
    }
}

// Sets bytes to zero; whole pages by giving them back, because an allocation may be larger than this machine's memory.
static void give_back(uint8_t *start, size_t bytes)
{
    uint8_t *first = (uint8_t *)(((uintptr_t)start + SIM_PAGE_BYTES - 1) & ~(uintptr_t)(SIM_PAGE_BYTES - 1));
    uint8_t *last = (uint8_t *)((uintptr_t)(start + bytes) & ~(uintptr_t)(SIM_PAGE_BYTES - 1));
    if (first >= last || madvise(first, (size_t)(last - first), MADV_DONTNEED) != 0) {
        memset(start, 0, bytes);
        return;
    }
    memset(start, 0, (size_t)(first - start));
    memset(last, 0, (size_t)(start + bytes - last));
}

static void clear(uint8_t *start, size_t bytes)
{
    enum { LARGE = 1 << 20 }; // below, as in shared memory, writing zeros is quicker than a call of the system
    if (bytes < LARGE)
        memset(start, 0, bytes);
    else
        give_back(start, bytes);
}

// Whole pages lose their cells: programs that allocate and free in a loop never come back to these addresses.
void sim_region_release(sim_region *region, uintptr_t start, size_t bytes)
{
    const uintptr_t end = start + bytes;
    for (uintptr_t address = start, next; address < end; address = next) {
        next = (address | (SIM_PAGE_BYTES - 1)) + 1;
        const bool whole = address % SIM_PAGE_BYTES == 0 && next <= end;
        uintptr_t *word = &region->pages[(address - region->base) >> SIM_PAGE_SHIFT];
        if (*word == 0)
            continue;
        if (!whole || __atomic_load_n(&sim_exact_any, __ATOMIC_RELAXED))
            sim_region_forget(region, address, (next < end ? next : end) - address);
        if (whole) {
            give_cells(*word);
            *word = 0;
        }
    }
    if (region->initialised)
        give_back(region->initialised + ((start - region->base) >> SIM_WORD_SHIFT), (bytes + 3) >> SIM_WORD_SHIFT);
}

void sim_region_mark(sim_region *region, uintptr_t start, size_t bytes, bool initialised)
{
    if (!region->initialised || bytes == 0)
        return;
    size_t at = start - region->base, end = at + bytes;
    for (; at < end && at % 4 != 0; at++) {
        uint8_t bit = (uint8_t)(1u << (at % 4));
        uint8_t *word = &region->initialised[at >> SIM_WORD_SHIFT];
        *word = initialised ? *word | bit : *word & (uint8_t)~bit;
    }
    size_t whole = (end - at) >> SIM_WORD_SHIFT;
    if (initialised)
        memset(region->initialised + (at >> SIM_WORD_SHIFT), SIM_WORD_INITIALISED, whole);
    else
        clear(region->initialised + (at >> SIM_WORD_SHIFT), whole);
    for (at += whole << SIM_WORD_SHIFT; at < end; at++) {
        uint8_t bit = (uint8_t)(1u << (at % 4));
        uint8_t *word = &region->initialised[at >> SIM_WORD_SHIFT];
        *word = initialised ? *word | bit : *word & (uint8_t)~bit;
    }
}
