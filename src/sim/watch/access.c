// An access that the hook does not know yet: where it points, whether it may, and what to say if not.

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine/errors.h"
#include "machine/index.h"
#include "memory/memory.h"
#include "memory/sections.h"
#include "program/program.h"
#include "progress/host_sets.h"
#include "race/values.h"
#include "race/word.h"
#include "watch/internal.h"
#include "watch/trace.h"

// Addresses this low are null pointers with an index: the first are never mapped, those that an index of 32 bits can
// reach are not in programs that are loaded at any address.
enum { NULL_PAGES = 1 << 16 };
#define NULL_REACH ((uintptr_t)1 << 32)

void (*sim_host_accessed)(uintptr_t address, size_t bytes, unsigned kind, uintptr_t pc);

static bool is_device_variable(uintptr_t address)
{
    return sim_is_cards_variable(address) || sim_is_managed_variable(address);
}

static bool is_of_card(uintptr_t address)
{
    return address - sim_memory_base < sim_memory_span || is_device_variable(address);
}

static const char *verb(unsigned kind)
{
    static const char *const names[] = {"read", "write", "atomic", "read", "write"};
    return names[kind];
}

static sim_finding finding_at(sim_worker *worker, sim_finding_kind kind, unsigned access_kind, uintptr_t pc,
                              uintptr_t address, unsigned bytes)
{
    sim_finding finding = sim_finding_of(worker, kind, SIM_ERROR);
    if (worker->block->trace)
        sim_trace_wrong(worker, address, bytes, access_kind, pc);
    finding.address = address;
    finding.bytes = bytes;
    finding.place[0] = sim_place_of(worker, worker->thread, pc, verb(access_kind));
    return finding;
}

// Accesses of one thread to one place: of an atomic, a copy or a poll the caller needs what is not there.
static bool is_plain(unsigned kind)
{
    return kind == SIM_READ || kind == SIM_WRITE;
}

static bool is_read(unsigned kind)
{
    return kind == SIM_READ || kind == SIM_VOLATILE_READ;
}

void sim_fail_misaligned(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    sim_finding finding = finding_at(worker, SIM_MISALIGNED, kind, pc, address, bytes);
    snprintf(finding.message, sizeof finding.message,
             "%s of %u bytes at an address that is not a multiple of %u (off by %u)", verb(kind), bytes, bytes,
             (unsigned)(address % bytes));
    enum { ANYWHERE = 8 }; // every host reads up to 8 bytes at any address
    sim_fault_at(worker, &finding, SIM_ERROR_MISALIGNED, kind == SIM_READ && bytes <= ANYWHERE);
}

static void fail_global(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    sim_allocation near;
    bool known = sim_memory_meant(address, bytes, &near);
    bool freed = known && sim_memory_is_stale(&near, address);
    sim_allocation there; // some bytes of it may be somebody's
    bool harmless = is_plain(kind) && address - sim_memory_base <= sim_memory_span - bytes &&
                    !sim_memory_find(address, &there) && !sim_memory_find(address + bytes - 1, &there);
    sim_finding finding = finding_at(worker, freed ? SIM_USE_AFTER_FREE : SIM_OUT_OF_BOUNDS, kind, pc, address, bytes);
    if (freed) {
        const bool ever = near.freed_at != 0;
        snprintf(finding.message, sizeof finding.message, "%s of %u bytes %s memory %s", verb(kind), bytes,
                 address - near.start < near.bytes ? "in" : "past the end of",
                 ever ? "that has been freed" : "of a graph that has not allocated it yet");
        if (ever)
            finding.place[1] = (sim_place){.pc = near.freed_at, .role = "freed"};
    } else {
        bool before = known && address < near.start, partly = known && !before && address - near.start < near.bytes;
        snprintf(finding.message, sizeof finding.message, "%s of %u bytes %s", verb(kind), bytes,
                 !known   ? "where nothing was allocated"
                 : before ? "before the start of an allocation, where nothing was allocated"
                 : partly ? "of which only some are in an allocation"
                          : "beyond the end of an allocation, where nothing was allocated");
    }
    sim_fault_at(worker, &finding, SIM_ERROR_ILLEGAL_ADDRESS, harmless);
}

static void fail_constant(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    sim_finding finding = finding_at(worker, SIM_OUT_OF_BOUNDS, kind, pc, address, bytes);
    snprintf(finding.message, sizeof finding.message, "%s of %u bytes in constant memory, which kernels can only read",
             verb(kind), bytes);
    sim_fault_at(worker, &finding, SIM_ERROR_ILLEGAL_ADDRESS, false);
}

// Behind each __shared__ array there is room that nobody has, and so there is behind the part of the dynamic buffer
// that the launch was given.
static bool is_gap(const sim_worker *worker, uintptr_t address, unsigned bytes)
{
    sim_symbol first, last;
    bool begins = sim_symbol_at(address, &first), ends = sim_symbol_at(address + bytes - 1, &last);
    if (!begins && !ends)
        return address - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo - bytes;
    return begins && ends && first.start == worker->dynamic_lo && last.start == worker->dynamic_lo &&
           address - worker->dynamic_lo >= worker->launch->config.shared;
}

static void fail_shared(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    sim_finding finding = finding_at(worker, SIM_OUT_OF_BOUNDS, kind, pc, address, bytes);
    uintptr_t dynamic = worker->dynamic_lo;
    size_t given = worker->launch->config.shared;
    if (address >= dynamic && address - dynamic < ((size_t)1 << 20)) {
        size_t past = address - dynamic;
        snprintf(finding.message, sizeof finding.message,
                 "%s of %u bytes at offset %zu of dynamic shared memory; the launch gave it %zu byte%s", verb(kind),
                 bytes, past, given, given == 1 ? "" : "s");
    } else {
        snprintf(finding.message, sizeof finding.message,
                 "%s of %u bytes outside the __shared__ variables of the block", verb(kind), bytes);
    }
    sim_fault_at(worker, &finding, SIM_ERROR_ILLEGAL_ADDRESS, is_plain(kind) && is_gap(worker, address, bytes));
}

// Between the variables of the card there is room that nobody has (build/object.h).
static bool is_between_variables(uintptr_t address)
{
    sim_symbol variable;
    return is_device_variable(address) && !sim_symbol_at(address, &variable);
}

// Whether the variable that an access missed is most likely a static one of a device function.
static bool is_at_static(uintptr_t address)
{
    sim_symbol near;
    return sim_symbol_nearest_data(address, &near) && near.card;
}

static bool is_between_constants(uintptr_t address)
{
    uintptr_t start;
    size_t size;
    return sim_symbol_fixed(address, &start, &size) == SIM_FIXED_GAP;
}

static void fail_variable(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    sim_symbol near;
    sim_finding finding = finding_at(worker, SIM_OUT_OF_BOUNDS, kind, pc, address, bytes);
    const bool known = sim_symbol_nearest_data(address, &near), before = known && address < near.start;
    snprintf(finding.message, sizeof finding.message, "%s of %u bytes %s", verb(kind), bytes,
             before                                       ? "before the start of a device variable"
             : known && address - near.start < near.bytes ? "of which only some are in a device variable"
                                                          : "beyond the end of a device variable");
    const bool between = is_between_variables(address) && is_between_variables(address + bytes - 1);
    const bool harmless = between ? is_plain(kind) : kind == SIM_READ && is_between_constants(address);
    sim_fault_at(worker, &finding, SIM_ERROR_ILLEGAL_ADDRESS, harmless);
}

static void fail_foreign(sim_worker *worker, const sim_foreign *foreign, unsigned bytes, unsigned kind, uintptr_t pc)
{
    sim_finding finding = finding_at(worker, SIM_FAULT, kind, pc, foreign->address, bytes);
    const bool shared = foreign->address != 0;
    if (foreign->stored_at)
        finding.place[1] = (sim_place){.pc = foreign->stored_at, .role = "write"};
    snprintf(finding.message, sizeof finding.message, "%s of %u bytes through a pointer to %s", verb(kind), bytes,
             shared ? "another block's shared memory" : "a local variable of another thread");
    snprintf(finding.note, sizeof finding.note, "%s",
             shared ? "shared memory is its block's alone: pass data on to other blocks and kernels in global memory"
                    : "local memory is its thread's alone: pass data on to other threads in shared or global memory");
    sim_fault_at(worker, &finding, SIM_ERROR_ILLEGAL_ADDRESS, false);
}

// Whether the host has no memory at this address either.
static bool is_unmapped(uintptr_t address)
{
    unsigned char resident;
    uintptr_t page = address & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    return mincore((void *)page, 1, &resident) != 0 && errno == ENOMEM; // NOLINT(performance-no-int-to-ptr)
}

static void fail_host(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    bool unmapped = address < NULL_PAGES || is_unmapped(address), null = unmapped && address < NULL_REACH;
    sim_finding finding = finding_at(worker, unmapped ? SIM_FAULT : SIM_HOST_POINTER, kind, pc, address, bytes);
    snprintf(finding.message, sizeof finding.message,
             null       ? "%s of %u byte%s through a null pointer"
             : unmapped ? "%s of %u byte%s at address %#llx, where neither GPU nor host has memory"
                        : "%s of %u byte%s in host memory, which a kernel cannot access",
             verb(kind), bytes, bytes == 1 ? "" : "s", (unsigned long long)address);
    sim_fault_at(worker, &finding, SIM_ERROR_ILLEGAL_ADDRESS, false);
}

void sim_slot_keep(sim_worker *worker, sim_slot *slot, sim_slot good)
{
    struct sim_watch *watch = worker->watch;
    if (slot->pc == 0)
        watch->slots_used[watch->slot_count++] = (uint16_t)(slot - worker->slots);
    *slot = good;
}

void sim_slots_forget(sim_worker *worker)
{
    struct sim_watch *watch = worker->watch;
    for (unsigned i = 0; i < watch->slot_count; i++)
        worker->slots[watch->slots_used[i]] = (sim_slot){0};
    watch->slot_count = 0;
}

static void remember(sim_worker *worker, unsigned site, uintptr_t start, size_t size, unsigned bytes)
{
    if (site == 0 || sim_sites[site].values || sim_trace_looks(worker) || sim_sites[site].kind >= SIM_ATOMIC ||
        size < bytes)
        return;
    uintptr_t pc = sim_sites[site].pc;
    sim_slot_keep(worker, &worker->slots[sim_slot_of(pc)],
                  (sim_slot){pc, start, size - (bytes - 1), (uint64_t)site << SIM_ENTRY_SHIFT});
}

// What of it no copy touches that may run beside the launch.
static void remember_alone(sim_worker *worker, unsigned site, uintptr_t address, unsigned bytes, unsigned kind,
                           uintptr_t pc, sim_extent memory)
{
    if (!sim_copies_meet(worker, address, bytes, !is_read(kind), pc, &memory))
        remember(worker, site, memory.start, memory.end - memory.start, bytes);
}

static bool inside(uintptr_t address, unsigned bytes, uintptr_t start, size_t size)
{
    return address >= start && address - start + bytes <= size;
}

// Some compilers watch the index variables too.
static bool is_index(uintptr_t address)
{
    const sim_dim *const variables[] = {&sim_thread_index_variable, &sim_block_index_variable, &sim_block_size_variable,
                                        &sim_grid_size_variable};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (address - (uintptr_t)variables[i] < sizeof(sim_dim))
            return true;
    return false;
}

// False: an access nobody needs to know of.
static bool check_shared(sim_worker *worker, unsigned site, uintptr_t address, unsigned bytes, unsigned kind,
                         uintptr_t pc)
{
    if (is_index(address))
        return false;
    if (inside(address, bytes, worker->dynamic_lo, worker->launch->config.shared)) {
        remember(worker, site, worker->dynamic_lo, worker->launch->config.shared, bytes);
        return true;
    }
    sim_symbol symbol;
    if (sim_symbol_at(address, &symbol)) {
        if (!symbol.shared)
            return false;
        bool dynamic = symbol.start == worker->dynamic_lo;
        if (!dynamic && inside(address, bytes, symbol.start, symbol.bytes)) {
            remember(worker, site, symbol.start, symbol.bytes, bytes);
            return true;
        }
    }
    if (!sim_symbol_is_guard(address))
        fail_shared(worker, address, bytes, kind, pc);
    return false;
}

// Memory of the host that cudaHostRegister has opened; it has no shadow.
static bool is_registered(sim_worker *worker, uintptr_t address, unsigned bytes)
{
    sim_allocation registered;
    if (!sim_memory_find(address, &registered) || !inside(address, bytes, registered.start, registered.bytes))
        return false;
    sim_thread_acts(worker); // the host may be at it, too
    sim_repeated_once(worker);
    return true;
}

// The allocation that all these bytes lie in.
static bool find_global(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, sim_extent *memory)
{
    enum { GRANULE_SHIFT = 16 };
    sim_known *known = &worker->watch->known[(address >> GRANULE_SHIFT) % SIM_KNOWN];
    const unsigned releases = sim_memory_releases();
    const bool here = known->releases == releases && address >= known->memory.start && address < known->memory.end;
    sim_allocation found;
    if (!here || !(known->kinds >> kind & 1)) {
        if (!sim_memory_find(address, &found))
            return false;
        sim_repeated_note(worker, &found, kind);
        *known = (sim_known){.memory = {found.start, found.start + found.bytes},
                             .releases = releases,
                             .kinds = (here ? known->kinds : 0) | 1u << kind};
    }
    *memory = known->memory;
    return bytes <= known->memory.end - address;
}

bool sim_access_check(sim_worker *worker, unsigned site, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    if (address - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo)
        return false;
    const sim_module *module = sim_module_self();
    if (address - sim_memory_base < sim_memory_span) {
        sim_extent memory;
        if (!find_global(worker, address, bytes, kind, &memory)) {
            fail_global(worker, address, bytes, kind, pc);
            return false;
        }
        remember_alone(worker, site, address, bytes, kind, pc, memory);
    } else if (address - worker->thread_local_lo < worker->thread_local_hi - worker->thread_local_lo) {
        if (!check_shared(worker, site, address, bytes, kind, pc))
            return false;
    } else if (address - module->tables_lo < module->tables_hi - module->tables_lo) {
        return false; // tables of virtual functions, of pointers
    } else if (address - module->data_lo < module->data_hi - module->data_lo) {
        sim_symbol symbol;
        bool known = sim_symbol_at(address, &symbol) && inside(address, bytes, symbol.start, symbol.bytes);
        if (known && !symbol.merged && !symbol.card && !is_device_variable(address)) {
            if (is_registered(worker, address, bytes))
                return false;
            fail_host(worker, address, bytes, kind, pc);
        }
        if (!known && (is_device_variable(address) || is_at_static(address)) && sim_symbols_complete()) {
            fail_variable(worker, address, bytes, kind, pc);
            return false;
        }
        if (known && !is_read(kind) && (symbol.constant || sim_is_constant_variable(address)))
            fail_constant(worker, address, bytes, kind, pc);
        sim_repeated_variable(worker, sim_is_managed_variable(address), kind);
        if (known)
            remember_alone(worker, site, address, bytes, kind, pc,
                           (sim_extent){symbol.start, symbol.start + symbol.bytes});
    } else if (address - module->image_lo < module->image_hi - module->image_lo) {
        if (is_between_constants(address))
            fail_variable(worker, address, bytes, kind, pc);
        return false; // tables and literals
    } else if (inside(address, bytes, (uintptr_t)worker->launch->kernel->closure,
                      worker->launch->kernel->closure_bytes)) {
        return false; // the kernel's arguments
    } else {
        sim_foreign foreign;
        if (is_registered(worker, address, bytes))
            return false;
        if (sim_published_find(worker, address, &foreign))
            fail_foreign(worker, &foreign, bytes, kind, pc);
        fail_host(worker, address, bytes, kind, pc); // host memory is out of reach
    }
    if ((address & (bytes - 1)) == 0)
        return true;
    sim_fail_misaligned(worker, address, bytes, kind, pc);
    return false;
}

bool sim_access_unnumbered(sim_worker *worker, unsigned site, uintptr_t address, unsigned bytes, bool write)
{
    if (site != 0)
        return false;
    sim_thread_acts(worker);
    sim_region *region = write ? sim_region_of(worker, address) : NULL;
    if (region)
        sim_region_mark(region, address, bytes, true);
    return true;
}

static bool is_write(unsigned kind)
{
    return kind == SIM_WRITE || kind == SIM_VOLATILE_WRITE;
}

static bool is_local(const sim_worker *worker, uintptr_t address)
{
    return address - worker->stacks_lo < worker->stacks_hi - worker->stacks_lo;
}

static void note(sim_worker *worker, unsigned site, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    if (!sim_access_check(worker, site, address, bytes, kind, pc) ||
        sim_access_unnumbered(worker, site, address, bytes, is_write(kind)))
        return;
    if (kind == SIM_VOLATILE_READ || kind == SIM_VOLATILE_WRITE) {
        sim_access_volatile(worker, site, address);
        if (kind == SIM_VOLATILE_READ)
            sim_host_set_looked(worker, address, false);
        return;
    }
    sim_log_add(worker, site, address);
}

// Others may have run while the access was noted: what it stores is asked for now that it is about to be made.
static void note_values(sim_worker *worker, unsigned site, uintptr_t address, size_t bytes, unsigned kind)
{
    if (worker->block->trace && is_write(kind) && bytes == sim_sites[site].bytes)
        sim_trace_stores(worker, address, (unsigned)bytes);
    if (sim_sites[site].values && is_write(kind))
        sim_values_store(worker, site, address, bytes);
}

void sim_access_slow(sim_worker *worker, uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc)
{
    if (!sim_watching || is_local(worker, address))
        return;
    unsigned site = sim_site_find(pc);
    if (site == 0)
        site = sim_site_make(pc, kind, bytes);
    worker->watch->single = true;
    note(worker, site, address, bytes, kind, pc);
    worker->watch->single = false;
    note_values(worker, site, address, bytes, kind);
}

void sim_access_ranged(uintptr_t address, unsigned bytes, unsigned kind, uintptr_t pc, sim_range *range)
{
    sim_worker *worker = sim_current;
    if (!worker) {
        if (!is_of_card(address) && !sim_memory_is_registered(address))
            sim_ranges_keep_host(range, address, bytes);
        sim_access_host(address, bytes, kind, pc);
        return;
    }
    sim_access_slow(worker, address, bytes, kind, pc);
    if (sim_watching)
        sim_ranges_keep(worker, range, address, bytes, pc);
}

// The same where all of it was found good before.
static void note_good(sim_worker *worker, unsigned site, uintptr_t address, size_t bytes, unsigned piece)
{
    const bool open = worker->watch->ranges.open;
    if (open && is_write(sim_sites[site].kind))
        sim_unwatched_mark(address, bytes);
    for (size_t at = 0; !open && at < bytes; at += piece)
        sim_log_add(worker, site, address + at);
}

// Structures, in the largest pieces that their size and address allow.
void sim_access_range(uintptr_t address, size_t bytes, bool write, uintptr_t pc)
{
    enum { LARGEST = 16 };
    sim_worker *worker = sim_current;
    if (bytes == 0)
        return;
    if (!worker) {
        sim_access_host(address, bytes, write ? SIM_WRITE : SIM_READ, pc);
        return;
    }
    if (!sim_watching || is_local(worker, address))
        return;
    unsigned piece = LARGEST, kind = write ? SIM_WRITE : SIM_READ;
    while (bytes % piece != 0 || address % piece != 0)
        piece /= 2;
    unsigned site = sim_site_sized(pc, kind, piece);
    const sim_slot *slot = &worker->slots[sim_slot_of(pc)];
    if (slot->pc == pc && slot->tag >> SIM_ENTRY_SHIFT == site && address - slot->lo < slot->span &&
        address - slot->lo + bytes - piece < slot->span) {
        note_good(worker, site, address, bytes, piece);
        return;
    }
    for (size_t at = 0; at < bytes; at += piece)
        note(worker, site, address + at, piece, kind, pc);
    note_values(worker, site, address, bytes, kind);
}

void sim_access_host(uintptr_t address, size_t bytes, unsigned kind, uintptr_t pc)
{
    bool plain = kind == SIM_READ || kind == SIM_WRITE;
    if ((is_of_card(address) || !plain || sim_memory_is_registered(address)) && sim_host_accessed)
        sim_host_accessed(address, bytes, kind, pc);
}
