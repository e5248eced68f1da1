// The simulated card's memory: one reserved range of addresses, as large as the named chip's memory, in which
// cudaMalloc and the like place allocations 256 bytes aligned, with a gap behind each that is mostly wider than the
// allocation itself, so that an out-of-bounds index hits no allocation. Addresses are not used twice while others are
// left, so that a stale pointer is known for one. Shadow memory is found by position in this range.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sim_memory_kind {
    SIM_MEMORY_DEVICE,
    SIM_MEMORY_PINNED,
    SIM_MEMORY_MANAGED,
    SIM_MEMORY_HEAP,
    SIM_MEMORY_VIRTUAL, // mapped to reserved addresses
    SIM_MEMORY_GRAPH // of a graph: keeps its addresses while it is free, because the graph's next launch takes it again
} sim_memory_kind;

typedef struct sim_allocation {
    uintptr_t start;
    size_t bytes;
    size_t gap; // bytes of unused addresses behind it when it was made
    sim_memory_kind kind;
    bool live;
    bool free_refused;                // the program has tried to free it, with a function that cannot
    uintptr_t allocated_at, freed_at; // return addresses in the program
    const char *function;             // "cudaMalloc", ...
} sim_allocation;

enum { SIM_MEMORY_GAP = 256 };        // bytes between allocations at least, and their alignment
enum { SIM_MEMORY_WIDE_GAP = 65536 }; // and mostly, besides as many as the allocation has

extern uintptr_t sim_memory_base; // the reserved range; set before the first launch
extern size_t sim_memory_span;

// The live allocation that holds `address`.
bool sim_memory_find(uintptr_t address, sim_allocation *found);
// The same, but memory of a graph also while it is free: a launch that is queued may allocate it.
bool sim_memory_find_kept(uintptr_t address, sim_allocation *found);
// For a message: the live or freed allocation that holds address or whose gap does, else the nearest below it.
bool sim_memory_nearest(uintptr_t address, sim_allocation *found);
// The same for an access of `size` bytes: far from all memory it is tried whether an index of 32 bits was negative, but
// not its type.
bool sim_memory_meant(uintptr_t address, size_t size, sim_allocation *found);
// Whether an address in or behind this allocation came from a pointer that outlived it.
bool sim_memory_is_stale(const sim_allocation *allocation, uintptr_t address);

// Called by the watch, which also keeps shadow memory in step (sim_watch_allocate, sim_watch_release).
void *sim_memory_allocate(size_t bytes, sim_memory_kind kind, uintptr_t pc, const char *function); // NULL: card full
// False: no live allocation starts there. *gone: the addresses that nothing lies at any more, all of them zero.
typedef struct sim_extent {
    uintptr_t start, end;
} sim_extent;
bool sim_memory_release(uintptr_t start, uintptr_t pc, sim_extent *gone);
// Memory of a graph, freed before, is allocated again. False: it is live.
bool sim_memory_retake(uintptr_t start);
// A wrong function was asked to free it: the memory stays, and the program has heard of that.
void sim_memory_refuse(uintptr_t start);
// Reserves the range for a card with this much memory; called once, before anything else here but the zone.
void sim_memory_start(size_t card_bytes);
// Where the range is; before the start: where it will be.
sim_extent sim_memory_zone(void);
// Addresses that no allocation gets, for a program that maps memory there itself; 0: none left.
uintptr_t sim_memory_reserve(size_t bytes, size_t alignment);
void sim_memory_unreserve(uintptr_t start);
// A range of reserved addresses can be used from now on, as one allocation, and no longer. What it holds stays.
bool sim_memory_expose(uintptr_t start, size_t bytes, uintptr_t pc, const char *function); // false: the table is full
void sim_memory_hide(uintptr_t start, uintptr_t pc);
void sim_memory_discard(uintptr_t start, size_t bytes); // zeros, of which the host gets the pages back
// Host memory of the program that cudaHostRegister pinned: outside the range, and yet the device may use it. It is then
// found by sim_memory_find as SIM_MEMORY_PINNED.
bool sim_memory_register(uintptr_t start, size_t bytes, uintptr_t pc); // false: overlaps what is registered
bool sim_memory_unregister(uintptr_t start);
bool sim_memory_is_registered(uintptr_t address);
void sim_memory_registered_each(void (*visit)(const sim_allocation *registered, void *context), void *context);
void sim_memory_each(void (*visit)(const sim_allocation *allocation, void *context), void *context);
size_t sim_memory_used(void);       // of the card, by live allocations
unsigned sim_memory_releases(void); // how often memory was released: what was found before may be gone
size_t sim_memory_total(void);      // the card's
size_t sim_memory_free(void);       // what an allocation can still get
