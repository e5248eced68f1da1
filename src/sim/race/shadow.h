// Shadow memory: for each word (or byte) that kernels touch, who touched it last, and for each byte, whether it was
// ever written. Shadows are kept by page, made at first touch, in cells of a word each; the first access to less than a
// word turns its page into cells of a byte each, so that neighbouring bytes are never mistaken for one another.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Two words: the last write, and the readers since. See cell.h.
typedef struct sim_cell {
    uint64_t write, read;
} sim_cell;

enum { SIM_PAGE_SHIFT = 12, SIM_PAGE_BYTES = 1 << SIM_PAGE_SHIFT, SIM_WORD_SHIFT = 2 };

typedef struct sim_page {
    sim_cell *cells; // NULL: never touched
    unsigned grain;  // a cell is 1 << grain bytes: 2, or 0 once bytes were accessed
} sim_page;

// The same in one word, because another worker may be splitting the page: the pointer, plus this for cells of a byte.
enum { SIM_PAGE_OF_BYTES = 1 };

// A range of addresses with a shadow: the card's memory, the program's __device__ variables, a worker's shared memory.
typedef struct sim_region {
    uintptr_t base; // a multiple of SIM_PAGE_BYTES
    size_t span;
    uintptr_t *pages;
    uint8_t *initialised; // one byte per word, bit i: byte i of it was written; NULL: all of it always is
    bool shared;          // seen by one block only
} sim_region;

enum { SIM_WORD_INITIALISED = 0x0f };

bool sim_region_make(sim_region *region, uintptr_t base, size_t span, bool tracked, bool shared);
void sim_region_free(sim_region *region);
// Forgets every access to [start, start + bytes).
void sim_region_forget(sim_region *region, uintptr_t start, size_t bytes);
// The memory was freed: forgets all about it and gives its shadow back. No other worker uses it.
void sim_region_release(sim_region *region, uintptr_t start, size_t bytes);
void sim_region_mark(sim_region *region, uintptr_t start, size_t bytes, bool initialised);

// The page of an address, with cells no coarser than an access of `bytes` bytes needs; no cells: no memory left.
sim_page sim_page_make(sim_region *region, uintptr_t address, unsigned bytes);

static inline sim_page sim_page_of(uintptr_t word)
{
    bool of_bytes = word & SIM_PAGE_OF_BYTES;
    return (sim_page){(sim_cell *)(word - of_bytes),
                      of_bytes ? 0 : SIM_WORD_SHIFT}; // NOLINT(performance-no-int-to-ptr)
}

// The page as it is.
static inline sim_page sim_page_find(const sim_region *region, uintptr_t address)
{
    return sim_page_of(__atomic_load_n(&region->pages[(address - region->base) >> SIM_PAGE_SHIFT], __ATOMIC_RELAXED));
}

static inline sim_page sim_page_at(sim_region *region, uintptr_t address, unsigned bytes)
{
    sim_page page = sim_page_find(region, address);
    if (__builtin_expect(page.cells && (bytes >= 4 || page.grain == 0), 1))
        return page;
    return sim_page_make(region, address, bytes);
}

static inline sim_cell *sim_cell_at(sim_page page, uintptr_t address)
{
    return page.cells + ((address & (SIM_PAGE_BYTES - 1)) >> page.grain);
}
