// Indices beyond an array's bounds that the compiler can see (-fsanitize=bounds).

#include <stdio.h>
#include <string.h>

#include "machine/errors.h"
#include "race/unwritten.h"
#include "watch/internal.h"
#include "watch/trace.h"

// The beginning of what the compiler passes to its handler: where the index is, and the type of the array.
typedef struct bounds_type {
    uint16_t kind, information;
    char name[]; // in quotes: 'int [16]'
} bounds_type;

typedef struct bounds_place {
    const char *file;
    uint32_t line, column;
    const bounds_type *array;
} bounds_place;

__attribute__((visibility("default"))) void __ubsan_handle_out_of_bounds(bounds_place *where, uintptr_t index);

void __ubsan_handle_out_of_bounds(bounds_place *where, uintptr_t index)
{
    sim_worker *worker = sim_current;
    const char *type = where->array->name;
    size_t length = strlen(type), quoted = length > 2 && type[0] == '\'';
    sim_finding finding = {.kind = SIM_OUT_OF_BOUNDS,
                           .tier = SIM_ERROR,
                           .kernel = worker ? worker->launch->kernel->name : NULL,
                           // The return address gives the line, with what it was inlined into.
                           .place[0] = {.pc = (uintptr_t)__builtin_return_address(0), .role = "index"},
                           .column = where->column};
    snprintf(finding.message, sizeof finding.message, "index %lld is outside the bounds of an array of type %.*s",
             (long long)index, (int)(length - 2 * quoted), type + quoted);
    if (worker && worker->block->trace)
        sim_trace_wrong(worker, index, 0, SIM_TRACE_INDEX, finding.place[0].pc);
    if (worker)
        finding.place[0] = sim_place_of(worker, worker->thread, finding.place[0].pc, finding.place[0].role);
    sim_report(&finding);
    if (worker)
        sim_scheduler->fail(SIM_ERROR_ILLEGAL_ADDRESS);
}
