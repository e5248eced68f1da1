// The simulated card's memory: where allocations are placed in the reserved range, and how they are found again. The
// table itself is table.c; which calls allocate, and what is an error, is the API's business.
#define _GNU_SOURCE
#include "memory/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/reserve.h"
#include "memory/table.h"

// A fixed place that Linux leaves free on 64-bit machines: addresses are then the same in every run.
#define PREFERRED_BASE ((void *)0x300000000000)
#define PREFERRED_END  ((uintptr_t)0x400000000000) // no card is so large
// What a real context keeps for itself (code, local memory, printf buffer).
static const size_t context_bytes = (size_t)527 << 20;
// Below this a range is of no use to any program.
static const size_t smallest_span = (size_t)64 << 20;
// Of what could be reserved at most, this part is taken; the rest is for shadow memory and stacks.
static const size_t share_when_scarce = 4;

uintptr_t sim_memory_base;
size_t sim_memory_span;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t card_total, card_used;
static unsigned releases;
static uintptr_t next_address; // everything from here on was never used
static uintptr_t reuse_from;   // where to look once no unused address is left

// Of the addresses, the part that wide gaps may take: a card can be filled all the same.
static const size_t share_for_gaps = 4;
// An allocation larger than this has a gap that is smaller than itself.
static const size_t widest_copy = (size_t)64 << 20;
// Live allocations that have wide gaps: each has a page of memory for itself and some of shadow.
enum { MOST_WIDE = 2048 };
static size_t wide_bytes; // of addresses that are wide gaps of live allocations
static int wide_count;

enum { REGISTERED = 1024 };
static sim_allocation registered[REGISTERED];
static int registered_count;
static uintptr_t registered_lo = UINTPTR_MAX, registered_hi; // all of it that there ever was

static void *reserve(size_t span)
{
    return mmap(PREFERRED_BASE, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void sim_memory_start(size_t card_bytes)
{
    card_total = card_bytes;
    // Twice the card: pinned host memory lives here too, and stale addresses stay unused for longer.
    size_t span = 2 * card_bytes;
    void *range = reserve(span);
    if (range == MAP_FAILED) { // addresses are scarce (ulimit -v): others need some as well
        while (range == MAP_FAILED && span >= smallest_span)
            range = reserve(span /= 2);
        if (range != MAP_FAILED)
            munmap(range, span);
        range = reserve(span /= share_when_scarce);
    }
    if (range == MAP_FAILED || !sim_table_start())
        return; // every allocation fails, as on a full card
    madvise(range, span, MADV_DONTDUMP);
    sim_memory_base = (uintptr_t)range;
    sim_memory_span = span;
    next_address = reuse_from = sim_memory_base + SIM_MEMORY_WIDE_GAP; // a gap below the first one too
}

sim_extent sim_memory_zone(void)
{
    if (sim_memory_span == 0)
        return (sim_extent){(uintptr_t)PREFERRED_BASE, PREFERRED_END};
    return (sim_extent){sim_memory_base, sim_memory_base + sim_memory_span};
}

static size_t rounded(size_t bytes)
{
    return (bytes + SIM_MEMORY_GAP - 1) / SIM_MEMORY_GAP * SIM_MEMORY_GAP;
}

// The gap that is wanted behind an allocation: so wide that an index off by a row, or by the whole of it, still lands
// in nothing. It costs addresses and no memory, but an allocation with a wide gap has pages of its own: where there are
// very many, and in the heap of kernels, the gap is narrow.
static size_t wanted_gap(size_t bytes, sim_memory_kind kind)
{
    const size_t size = rounded(bytes);
    const size_t gap = SIM_MEMORY_WIDE_GAP + (size < widest_copy ? size : widest_copy);
    const bool roomy = gap <= sim_memory_span / share_for_gaps - wide_bytes && wide_count < MOST_WIDE;
    return kind != SIM_MEMORY_HEAP && roomy ? gap : SIM_MEMORY_GAP;
}

static void count_gap(size_t gap, int times)
{
    if (gap <= SIM_MEMORY_GAP)
        return;
    wide_bytes += gap * (size_t)times;
    wide_count += times;
}

// Ranges that the program maps memory to itself.
enum { RESERVATIONS = 256 };
static sim_extent reserved[RESERVATIONS];
static int reserved_count;

static uintptr_t unused_gap(uintptr_t from, uintptr_t end, size_t bytes)
{
    uintptr_t start = sim_table_gap(from, end, bytes);
    for (int i = 0; i < reserved_count && start != 0; i++) {
        if (start < reserved[i].end && reserved[i].start < start + bytes) {
            start = sim_table_gap(reserved[i].end, end, bytes);
            i = -1; // the next gap may be in one that was passed
        }
    }
    return start;
}

// *gap: what is wanted, and then what there is.
static uintptr_t place(size_t bytes, size_t *gap)
{
    const uintptr_t end = sim_memory_base + sim_memory_span;
    const size_t needed = rounded(bytes) + SIM_MEMORY_GAP;
    const size_t left = end - next_address;
    if (rounded(bytes) + *gap > left)
        *gap = SIM_MEMORY_GAP;
    if (needed <= left) {
        const uintptr_t start = next_address;
        next_address += rounded(bytes) + *gap;
        return start;
    }
    uintptr_t start = unused_gap(reuse_from, end, needed);
    if (start == 0)
        start = unused_gap(sim_memory_base + SIM_MEMORY_GAP, end, needed);
    if (start != 0)
        reuse_from = start + needed;
    return start;
}

static bool on_card(sim_memory_kind kind)
{
    return kind != SIM_MEMORY_PINNED;
}

size_t sim_memory_total(void)
{
    return card_total;
}

unsigned sim_memory_releases(void)
{
    return __atomic_load_n(&releases, __ATOMIC_RELAXED);
}

size_t sim_memory_used(void)
{
    return __atomic_load_n(&card_used, __ATOMIC_RELAXED);
}

size_t sim_memory_free(void)
{
    const size_t used = sim_memory_used() + context_bytes;
    return used < card_total ? card_total - used : 0;
}

void *sim_memory_allocate(size_t bytes, sim_memory_kind kind, uintptr_t pc, const char *function)
{
    const bool fits = bytes <= sim_memory_span && (!on_card(kind) || rounded(bytes) <= sim_memory_free());
    if (!fits)
        return NULL;
    pthread_mutex_lock(&lock);
    sim_allocation made = {.bytes = bytes, .kind = kind, .allocated_at = pc, .function = function};
    made.live = kind != SIM_MEMORY_GRAPH;
    made.gap = wanted_gap(bytes, kind);
    made.start = place(bytes, &made.gap);
    const bool added = made.start != 0 && sim_table_add(&made);
    if (added) {
        card_used += on_card(kind) ? rounded(bytes) : 0;
        count_gap(made.gap, 1);
    }
    pthread_mutex_unlock(&lock);
    if (added)
        sim_reserve_huge((void *)made.start, bytes);
    return added ? (void *)made.start : NULL;
}

// The host gets the pages back; what lies on the edges is zeroed, so that no stale content survives there either.
static void discard(uintptr_t start, size_t bytes)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t end = start + bytes;
    const uintptr_t first = (start + page - 1) / page * page, last = end / page * page;
    if (first >= last) {
        memset((void *)start, 0, bytes);
        return;
    }
    memset((void *)start, 0, first - start);
    madvise((void *)first, last - first, MADV_DONTNEED);
    memset((void *)last, 0, end - last);
}

// What goes back with an allocation: also the rest of its first and last page where no other one reaches into them.
static sim_extent extent_of(const sim_neighbours *found)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    sim_extent own = {found->below.start, found->below.start + found->below.bytes};
    const sim_extent pages = {own.start / page * page, (own.end + page - 1) / page * page};
    sim_neighbours before;
    sim_table_search(own.start - 1, &before);
    if (pages.start >= sim_memory_base && (!before.has_below || before.below.start + before.below.bytes <= pages.start))
        own.start = pages.start;
    if (pages.end <= sim_memory_base + sim_memory_span && (!found->has_above || found->above.start >= pages.end))
        own.end = pages.end;
    return own;
}

bool sim_memory_release(uintptr_t start, uintptr_t pc, sim_extent *gone)
{
    pthread_mutex_lock(&lock);
    sim_neighbours found;
    sim_table_search(start, &found);
    const bool known = found.has_below && found.below.start == start && found.below.live;
    if (known) {
        sim_table_free(start, pc);
        __atomic_fetch_add(&releases, 1, __ATOMIC_RELAXED);
        if (found.below.kind != SIM_MEMORY_GRAPH) {
            card_used -= on_card(found.below.kind) ? rounded(found.below.bytes) : 0;
            count_gap(found.below.gap, -1);
        }
        *gone = extent_of(&found);
    }
    pthread_mutex_unlock(&lock);
    if (known)
        discard(gone->start, gone->end - gone->start);
    return known;
}

bool sim_memory_retake(uintptr_t start)
{
    pthread_mutex_lock(&lock);
    sim_neighbours found;
    sim_table_search(start, &found);
    const bool free_now = found.has_below && found.below.start == start && !found.below.live;
    if (free_now)
        sim_table_retake(start);
    pthread_mutex_unlock(&lock);
    return free_now;
}

void sim_memory_refuse(uintptr_t start)
{
    pthread_mutex_lock(&lock);
    sim_neighbours found;
    sim_table_search(start, &found);
    if (found.has_below && found.below.start == start && found.below.live)
        sim_table_refuse(start);
    pthread_mutex_unlock(&lock);
}

// --- reserved addresses ----------------------------------------------------------------------------------------------

uintptr_t sim_memory_reserve(size_t bytes, size_t alignment)
{
    if (bytes > sim_memory_span || alignment > sim_memory_span)
        return 0;
    pthread_mutex_lock(&lock);
    size_t gap = SIM_MEMORY_WIDE_GAP;
    uintptr_t start = reserved_count < RESERVATIONS ? place(bytes + alignment, &gap) : 0;
    if (start != 0) {
        start = (start + alignment - 1) / alignment * alignment;
        reserved[reserved_count++] = (sim_extent){start, start + bytes};
    }
    pthread_mutex_unlock(&lock);
    return start;
}

void sim_memory_unreserve(uintptr_t start)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < reserved_count; i++) {
        if (reserved[i].start == start)
            reserved[i] = reserved[--reserved_count];
    }
    pthread_mutex_unlock(&lock);
}

bool sim_memory_expose(uintptr_t start, size_t bytes, uintptr_t pc, const char *function)
{
    const sim_allocation made = {.start = start,
                                 .bytes = bytes,
                                 .gap = SIM_MEMORY_GAP,
                                 .kind = SIM_MEMORY_VIRTUAL,
                                 .live = true,
                                 .allocated_at = pc,
                                 .function = function};
    pthread_mutex_lock(&lock);
    const bool added = sim_table_add(&made);
    pthread_mutex_unlock(&lock);
    return added;
}

void sim_memory_hide(uintptr_t start, uintptr_t pc)
{
    pthread_mutex_lock(&lock);
    sim_table_free(start, pc);
    __atomic_fetch_add(&releases, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

void sim_memory_discard(uintptr_t start, size_t bytes)
{
    discard(start, bytes);
}

// --- finding ---------------------------------------------------------------------------------------------------------

static bool find_registered(uintptr_t address, sim_allocation *found)
{
    const int count = __atomic_load_n(&registered_count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < count; i++) {
        if (registered[i].live && address - registered[i].start < registered[i].bytes) {
            *found = registered[i];
            return true;
        }
    }
    return false;
}

bool sim_memory_is_registered(uintptr_t address)
{
    const uintptr_t lo = __atomic_load_n(&registered_lo, __ATOMIC_RELAXED);
    sim_allocation found;
    return address >= lo && address < __atomic_load_n(&registered_hi, __ATOMIC_RELAXED) &&
           find_registered(address, &found);
}

void sim_memory_registered_each(void (*visit)(const sim_allocation *registered, void *context), void *context)
{
    const int count = __atomic_load_n(&registered_count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < count; i++)
        if (registered[i].live)
            visit(&registered[i], context);
}

static bool in_range(uintptr_t address)
{
    return address - sim_memory_base < sim_memory_span;
}

bool sim_memory_find_kept(uintptr_t address, sim_allocation *found)
{
    if (!in_range(address))
        return find_registered(address, found);
    sim_neighbours neighbours;
    sim_table_search(address, &neighbours);
    *found = neighbours.below;
    return neighbours.has_below && (found->live || found->kind == SIM_MEMORY_GRAPH) &&
           address - found->start < found->bytes;
}

bool sim_memory_find(uintptr_t address, sim_allocation *found)
{
    return sim_memory_find_kept(address, found) && found->live;
}

bool sim_memory_nearest(uintptr_t address, sim_allocation *found)
{
    if (!in_range(address))
        return find_registered(address, found);
    sim_neighbours neighbours;
    sim_table_search(address, &neighbours);
    if (!neighbours.has_below && !neighbours.has_above)
        return false;
    // In a gap: just before an allocation is more likely that one's than far behind the one below.
    const sim_allocation *below = &neighbours.below, *above = &neighbours.above;
    const bool before_above = neighbours.has_above && above->start - address <= SIM_MEMORY_WIDE_GAP / 2;
    const bool behind_below = neighbours.has_below && address >= below->start + below->bytes;
    const bool nearer_above =
        before_above && behind_below && above->start - address < address - (below->start + below->bytes);
    *found = !neighbours.has_below || nearer_above ? *above : *below;
    return true;
}

bool sim_memory_meant(uintptr_t address, size_t size, sim_allocation *found)
{
    const uintptr_t wraps = (uintptr_t)size << 32;
    sim_allocation signed_one;
    if (!sim_memory_nearest(address, found))
        return false;
    const bool far = address >= found->start + found->bytes + found->gap;
    if (far && in_range(address - wraps) && sim_memory_nearest(address - wraps, &signed_one) && signed_one.live)
        *found = signed_one;
    return true;
}

bool sim_memory_is_stale(const sim_allocation *allocation, uintptr_t address)
{
    return !allocation->live && address - allocation->start < allocation->bytes + allocation->gap;
}

void sim_memory_each(void (*visit)(const sim_allocation *allocation, void *context), void *context)
{
    if (sim_memory_span == 0)
        return;
    for (size_t i = 0; i < sim_table_count(); i++) {
        const sim_allocation copy = *sim_table_at(i);
        visit(&copy, context);
    }
}

bool sim_memory_register(uintptr_t start, size_t bytes, uintptr_t pc)
{
    int slot = registered_count;
    for (int i = 0; i < registered_count; i++) {
        if (!registered[i].live)
            slot = i;
        else if (start < registered[i].start + registered[i].bytes && registered[i].start < start + bytes)
            return false;
    }
    if (slot == REGISTERED)
        return false;
    registered[slot] = (sim_allocation){.start = start,
                                        .bytes = bytes,
                                        .kind = SIM_MEMORY_PINNED,
                                        .live = true,
                                        .allocated_at = pc,
                                        .function = "cudaHostRegister"};
    if (start < registered_lo)
        __atomic_store_n(&registered_lo, start, __ATOMIC_RELAXED);
    if (start + bytes > registered_hi)
        __atomic_store_n(&registered_hi, start + bytes, __ATOMIC_RELAXED);
    if (slot == registered_count)
        __atomic_store_n(&registered_count, slot + 1, __ATOMIC_RELEASE);
    return true;
}

bool sim_memory_unregister(uintptr_t start)
{
    for (int i = 0; i < registered_count; i++) {
        if (registered[i].live && registered[i].start == start) {
            registered[i].live = false;
            __atomic_fetch_add(&releases, 1, __ATOMIC_RELAXED);
            return true;
        }
    }
    return false;
}
