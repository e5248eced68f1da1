// Small things that kernels ask for: who and where they are, clocks, traps, dynamic shared memory.
#include <stdio.h>
#include <stdlib.h>

#include "core/scheduler.h"
#include "machine/index.h"
#include "machine/options.h"
#include "program/program.h"
#include "report/report.h"

// A look at the clock costs a GPU some cycles; here it is what makes time pass, so that loops that wait for it end. A
// kernel may wait for a second, which is billions of cycles: after WAITING looks with nothing else between them, each
// takes longer.
enum { CYCLES_PER_LOOK = 64, MOST_CYCLES_PER_LOOK = 1 << 14, WAITING = 32 };

unsigned sim_multiprocessors = 132;

int sim_in_kernel(void)
{
    return sim_current != NULL;
}

static _Noreturn void end_in_host_code(const char *what)
{
    fprintf(stderr, "sim: %s\n", what);
    sim_report_write("stopped: a feature that is not simulated, or a trap, in host code");
    _Exit(EXIT_FAILURE);
}

static _Noreturn void end_thread(sim_worker *worker, sim_finding *finding, uintptr_t pc, int error)
{
    finding->place[0] = sim_place_of(worker, worker->thread, pc, "call");
    sim_report(finding);
    sim_thread_fail(error);
}

void sim_assert_failed(const char *expression, const char *file, unsigned line, const char *function)
{
    sim_worker *worker = sim_current;
    if (!worker) {
        fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
        abort();
    }
    sim_finding finding = sim_finding_make(worker, SIM_ASSERT, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message, "assertion `%s' failed in %s", expression, function);
    end_thread(worker, &finding, (uintptr_t)__builtin_return_address(0), SIM_ERROR_ASSERT);
}

int sim_divided_by_zero(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return 0;
    sim_finding finding = sim_finding_make(worker, SIM_DIVISION_BY_ZERO, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message, "an integer is divided by zero: the result is undefined");
    finding.place[0] = sim_place_of(worker, worker->thread, (uintptr_t)__builtin_return_address(0), "division");
    sim_report(&finding);
    return 1;
}

void sim_fragment_unfilled(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return;
    sim_finding finding = sim_finding_make(worker, SIM_UNINITIALISED, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "a fragment is used that was never filled: fill_fragment or load_matrix_sync comes first");
    finding.place[0] = sim_place_of(worker, worker->thread, (uintptr_t)__builtin_return_address(0), "read");
    sim_report(&finding);
}

// A variable may lie elsewhere on a GPU: of its elements the place within it counts.
static uintptr_t offset_of(uintptr_t address)
{
    sim_symbol symbol;
    return sim_symbol_at(address, &symbol) ? address - symbol.start : address;
}

// Rows that do not begin at a multiple of 16 bytes are what the instructions fail at; that the matrix begins at one of
// 32 is CUDA's rule.
void sim_fragment_memory(const void *memory, unsigned leading_dimension, unsigned element_bytes, int write)
{
    enum { ROW_BYTES = 16, MATRIX_BYTES = 32, HALF_BYTES = 2, FLOAT_BYTES = 4 };
    sim_worker *worker = sim_current;
    const uintptr_t offset = offset_of((uintptr_t)memory), pc = (uintptr_t)__builtin_return_address(0);
    const bool checked = element_bytes == HALF_BYTES || element_bytes == FLOAT_BYTES;
    const bool uneven = checked && (size_t)leading_dimension * element_bytes % ROW_BYTES != 0;
    if (!worker || !sim_options_get()->watch || (offset % MATRIX_BYTES == 0 && !uneven))
        return;
    const sim_tier tier = uneven || offset % ROW_BYTES != 0 ? SIM_ERROR : SIM_WARNING;
    sim_finding finding = sim_finding_make(worker, uneven ? SIM_BAD_CALL : SIM_MISALIGNED, tier);
    if (uneven)
        snprintf(finding.message, sizeof finding.message,
                 "the leading dimension of a wmma matrix, %u, is not a multiple of %u elements", leading_dimension,
                 ROW_BYTES / element_bytes);
    else
        snprintf(finding.message, sizeof finding.message,
                 "a wmma matrix begins at an address that is not a multiple of %d bytes (off by %u)", MATRIX_BYTES,
                 (unsigned)(offset % MATRIX_BYTES));
    finding.address = (uintptr_t)memory;
    finding.bytes = element_bytes;
    finding.place[0] = sim_place_of(worker, worker->thread, pc, write ? "write" : "read");
    sim_report(&finding);
}

void sim_trap(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        end_in_host_code("__trap called in host code");
    sim_finding finding = sim_finding_make(worker, SIM_TRAP, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message, "__trap() ends the kernel");
    end_thread(worker, &finding, (uintptr_t)__builtin_return_address(0), SIM_ERROR_FAILURE);
}

void sim_object_destroyed(const char *object)
{
    sim_worker *worker = sim_current;
    if (!worker)
        end_in_host_code("textures and surfaces are read by kernels only");
    sim_finding finding = sim_finding_make(worker, SIM_USE_AFTER_FREE, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message, "the %s object was destroyed, or never created", object);
    end_thread(worker, &finding, (uintptr_t)__builtin_return_address(0), SIM_ERROR_FAILURE);
}

void sim_surface_outside(int x, int y, int z)
{
    sim_worker *worker = sim_current;
    if (!worker)
        end_in_host_code("surfaces are used by kernels only");
    sim_finding finding = sim_finding_make(worker, SIM_OUT_OF_BOUNDS, SIM_ERROR);
    snprintf(finding.message, sizeof finding.message,
             "access outside the surface, at byte %d of row %d, layer %d; cudaBoundaryModeTrap ends the kernel", x, y,
             z);
    end_thread(worker, &finding, (uintptr_t)__builtin_return_address(0), SIM_ERROR_FAILURE);
}

void sim_unsupported_at(const char *feature, const char *instead, uintptr_t pc)
{
    sim_worker *worker = sim_current;
    sim_finding finding = {.kind = SIM_UNSUPPORTED, .tier = SIM_ERROR};
    snprintf(finding.message, sizeof finding.message, "%s is not simulated", feature);
    snprintf(finding.note, sizeof finding.note, "%s", instead ? instead : "");
    if (worker) {
        finding.kernel = worker->launch->kernel->name;
        end_thread(worker, &finding, pc, SIM_ERROR_UNSUPPORTED);
    }
    finding.place[0] = (sim_place){.pc = pc, .role = "call"};
    sim_report(&finding);
    end_in_host_code(finding.message);
}

void sim_unsupported(const char *feature, const char *instead)
{
    sim_unsupported_at(feature, instead, (uintptr_t)__builtin_return_address(0));
}

void sim_exit_thread(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        end_in_host_code("a CUDA thread's exit called in host code");
    sim_thread_stops(worker);
    sim_thread_ends(worker);
}

static uint64_t cycles_of_look(uint64_t looks)
{
    const uint64_t longer = looks / WAITING * CYCLES_PER_LOOK;
    return longer < CYCLES_PER_LOOK ? CYCLES_PER_LOOK : longer < MOST_CYCLES_PER_LOOK ? longer : MOST_CYCLES_PER_LOOK;
}

long long sim_clock(void)
{
    sim_worker *worker = sim_current;
    if (!worker)
        return 0;
    sim_runner *runner = sim_runner_of(worker);
    sim_thread_acts(&runner->worker);
    sim_repeated_once(worker);
    // Looking at the clock is an event: a loop that waits for it is no endless one.
    uint64_t events = sim_progress_count(&runner->progress.events);
    runner->looks = events == runner->looked + 1 ? runner->looks + 1 : 0;
    runner->looked = events;
    runner->clock += cycles_of_look(runner->looks);
    const uint64_t now = (runner->clock + events) * sim_options_get()->tick;
    return (long long)now;
}

unsigned long long sim_time_ns(void)
{
    static atomic_ullong time;
    sim_clock();
    const unsigned long long looks = sim_current ? sim_runner_of(sim_current)->looks : 0;
    const unsigned long long passes = cycles_of_look(looks) * (unsigned long long)sim_options_get()->tick;
    return atomic_fetch_add_explicit(&time, passes, memory_order_relaxed) + passes;
}

unsigned sim_register_special(int which)
{
    const sim_worker *worker = sim_current;
    if (!worker)
        return 0;
    switch (which) {
    case SIM_LANE_ID: return (unsigned)worker->lane;
    case SIM_WARP_ID: return (unsigned)worker->warp;
    default: return (unsigned)(worker->block->number % sim_multiprocessors);
    }
}

void *sim_dynamic_shared(void)
{
    return sim_dynamic_buffer;
}

size_t sim_dynamic_shared_bytes(void)
{
    const sim_worker *worker = sim_current;
    return worker ? worker->launch->config.shared : 0;
}
