// Pointers of the program: told apart by where they point, and held against the allocation they point into.
#include "api/pointer.h"

#include <stdlib.h>
#include <string.h>

#include "api/call.h"
#include "api/host_heap.h"
#include "api/variable.h"
#include "memory/sections.h"
#include "program/program.h"

// --- device variables -----------------------------------------------------------------------------------------------

typedef struct known_symbol {
    const void *start;
    size_t bytes;
} known_symbol;
static known_symbol *symbols;
static size_t symbol_count, symbol_room;

void sim_symbol_known(const void *symbol, size_t bytes)
{
    enum { FIRST_ROOM = 16 };
    sim_api_lock();
    size_t i = 0;
    while (i < symbol_count && symbols[i].start != symbol)
        i++;
    if (i == symbol_room) {
        const size_t larger = symbol_room == 0 ? FIRST_ROOM : 2 * symbol_room;
        known_symbol *moved = realloc(symbols, larger * sizeof *symbols);
        symbols = moved != NULL ? moved : symbols;
        symbol_room = moved != NULL ? larger : symbol_room;
    }
    if (i == symbol_room)
        sim_no_memory();
    else if (i == symbol_count)
        symbols[symbol_count++] = (known_symbol){symbol, bytes};
    else if (symbols[i].bytes < bytes)
        symbols[i].bytes = bytes;
    sim_api_unlock();
}

bool sim_symbol_find(const void *address, const void **start, size_t *bytes)
{
    for (size_t i = 0; i < symbol_count; i++) {
        if ((uintptr_t)address - (uintptr_t)symbols[i].start < symbols[i].bytes) {
            *start = symbols[i].start;
            *bytes = symbols[i].bytes;
            return true;
        }
    }
    return false;
}

// --- all pointers ---------------------------------------------------------------------------------------------------

static bool in_card(const void *pointer)
{
    return (uintptr_t)pointer - sim_memory_base < sim_memory_span;
}

sim_where sim_pointer_where(const void *pointer, sim_allocation *found)
{
    const void *start;
    size_t bytes;
    if (sim_memory_find_kept((uintptr_t)pointer, found)) {
        switch (found->kind) {
        case SIM_MEMORY_PINNED: return SIM_AT_PINNED;
        case SIM_MEMORY_MANAGED: return SIM_AT_MANAGED;
        default: return SIM_AT_DEVICE;
        }
    }
    if (in_card(pointer))
        return SIM_AT_NOTHING;
    sim_symbol variable;
    if (sim_is_managed_variable((uintptr_t)pointer) && sim_symbol_at((uintptr_t)pointer, &variable)) {
        *found = (sim_allocation){.start = variable.start, .bytes = variable.bytes, .live = true};
        return SIM_AT_MANAGED;
    }
    if (sim_symbol_find(pointer, &start, &bytes)) {
        *found = (sim_allocation){.start = (uintptr_t)start, .bytes = bytes, .live = true};
        return SIM_AT_SYMBOL;
    }
    const sim_module *module = sim_module_self();
    if ((uintptr_t)pointer >= module->data_lo && (uintptr_t)pointer < module->data_hi)
        return SIM_AT_VARIABLE;
    return SIM_AT_HOST;
}

const char *sim_where_words(sim_where where)
{
    switch (where) {
    case SIM_AT_HOST: return "host memory";
    case SIM_AT_PINNED: return "pinned host memory";
    case SIM_AT_DEVICE: return "device memory";
    case SIM_AT_MANAGED: return "managed memory";
    case SIM_AT_SYMBOL: return "a device variable";
    case SIM_AT_VARIABLE: return "a variable of the program";
    case SIM_AT_NOTHING: break;
    }
    return "no memory";
}

cudaError_t sim_pointer_stale(const void *pointer, size_t bytes, const char *role)
{
    const uintptr_t address = (uintptr_t)pointer;
    sim_allocation near;
    const bool known = sim_memory_nearest(address, &near);
    if (known && !near.live && address - near.start < near.bytes)
        return sim_fail_as(SIM_USE_AFTER_FREE, SIM_ERROR, cudaErrorInvalidValue, address, bytes,
                           "the %s has been freed", role);
    return sim_fail_as(SIM_OUT_OF_BOUNDS, SIM_ERROR, cudaErrorInvalidValue, address, bytes,
                       "the %s is not in any allocation", role);
}

// A block of the host's heap, or a global variable, ends somewhere too; of other host memory nothing is known. CUDA
// does not look, and overwrites or reads what lies behind: here the call fails instead, so that nothing is damaged.
static cudaError_t check_host(const void *pointer, size_t bytes, const char *role)
{
    sim_host_block found;
    sim_symbol symbol;
    const bool block = sim_host_heap_find((uintptr_t)pointer, &found);
    uintptr_t start = found.start;
    size_t size = found.bytes;
    if (!block && sim_symbol_at((uintptr_t)pointer, &symbol) && !symbol.shared && symbol.bytes > 0) {
        start = symbol.start;
        size = symbol.bytes;
    } else if (!block) {
        const uintptr_t address = (uintptr_t)pointer;
        const bool cards = sim_is_cards_variable(address) || sim_is_managed_variable(address);
        if (!cards || !sim_symbols_complete())
            return cudaSuccess;
        return sim_fail_as(SIM_OUT_OF_BOUNDS, SIM_ERROR, cudaErrorInvalidValue, address, bytes,
                           "the %s is outside of every device variable", role);
    }
    const size_t left = size - ((uintptr_t)pointer - start);
    if ((uintptr_t)pointer - start > size || bytes <= left)
        return cudaSuccess;
    // What lies behind a variable is another one: it is told of by its own address.
    return sim_fail_as(
        SIM_OUT_OF_BOUNDS, SIM_ERROR, cudaErrorInvalidValue, block ? start + size : (uintptr_t)pointer,
        block ? bytes - left : bytes, "%zu bytes at the %s, of which %zu %s past the end of %s of %zu bytes", bytes,
        role, bytes - left, bytes - left == 1 ? "is" : "are", block ? "the host's block" : "the variable", size);
}

cudaError_t sim_pointer_check(const void *pointer, size_t bytes, const char *role, sim_where *where)
{
    sim_allocation found;
    if (pointer == NULL)
        return sim_fail(cudaErrorInvalidValue, "the %s is NULL", role);
    const char *function = sim_call_function();
    if (sim_variable_is_by_name(pointer) && function != NULL && strstr(function, "Symbol") == NULL)
        return sim_fail(cudaErrorInvalidValue,
                        "the %s is a device variable by its name, which on a GPU is the address of the host's own copy",
                        role);
    *where = sim_pointer_where(pointer, &found);
    if (*where == SIM_AT_NOTHING)
        return sim_pointer_stale(pointer, bytes, role);
    if (*where == SIM_AT_HOST || *where == SIM_AT_VARIABLE)
        return check_host(pointer, bytes, role);
    if (*where == SIM_AT_DEVICE && found.kind == SIM_MEMORY_HEAP)
        return sim_fail(cudaErrorInvalidValue,
                        "the %s is memory that a kernel allocated (malloc or new): only kernels can use it", role);
    const size_t left = found.bytes - ((uintptr_t)pointer - found.start);
    const bool symbol = *where == SIM_AT_SYMBOL || sim_is_managed_variable((uintptr_t)pointer); // as above
    if (bytes > left)
        return sim_fail_as(SIM_OUT_OF_BOUNDS, SIM_ERROR, cudaErrorInvalidValue,
                           symbol ? (uintptr_t)pointer : found.start + found.bytes, symbol ? bytes : bytes - left,
                           "%zu bytes at the %s, of which %zu %s past the end of %s", bytes, role, bytes - left,
                           bytes - left == 1 ? "is" : "are", symbol ? "the variable" : "the allocation");
    return cudaSuccess;
}
