#include "fakes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings/finding.h"
#include "machine/options.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "program/program.h"
#include "report/copied.h"
#include "report/report.h"
#include "watch/trace.h"
#include "watch/watch.h"

// What the build adds to a simulated program: the buffer behind extern __shared__, and the user's name as its alias.
__thread char sim_dynamic_buffer[4096] __attribute__((aligned(1024)));
extern __thread char scratch[4096] __attribute__((alias("sim_dynamic_buffer")));

enum { SPAN = 1 << 20, MOST = 16 };
static char card[SPAN] __attribute__((aligned(4096)));
static sim_allocation allocations[MOST];
static int allocation_count;
static sim_count counts[MOST];
static int count_count;

uintptr_t sim_memory_base = (uintptr_t)card;
size_t sim_memory_span = SPAN;
__thread sim_worker *sim_current __attribute__((tls_model("initial-exec")));
int sim_workers = 1;
static sim_worker only_worker;
static sim_launch_state launch;

__attribute__((noinline)) void *here(void)
{
    return __builtin_return_address(0);
}

const sim_options *sim_options_get(void)
{
    static sim_options options;
    const char *strict = getenv("SIM_STRICT"), *report = getenv("SIM_REPORT");
    options.gpu = "h200";
    options.strict = strict && strict[0] == '1';
    options.report = report && report[0] ? report : NULL;
    return &options;
}

sim_worker *sim_worker_at(int number)
{
    return number == 0 ? &only_worker : NULL;
}

void fake_worker(void *thread_local_start, void *dynamic_start, size_t dynamic_bytes)
{
    launch.config.shared = dynamic_bytes;
    only_worker.launch = &launch;
    only_worker.thread_local_lo = (uintptr_t)thread_local_start;
    only_worker.thread_local_hi = only_worker.thread_local_lo + sim_module_self()->tls_bytes;
    only_worker.dynamic_lo = (uintptr_t)dynamic_start;
    sim_current = &only_worker;
}

void *fake_malloc(void *pc, size_t bytes)
{
    sim_allocation *made = &allocations[allocation_count];
    *made = (sim_allocation){.start = sim_memory_base + 65536 * (size_t)allocation_count,
                             .bytes = bytes,
                             .live = true,
                             .allocated_at = (uintptr_t)pc,
                             .function = "cudaMalloc"};
    allocation_count++;
    return (void *)made->start;
}

void fake_free(void *memory, void *pc)
{
    for (int i = 0; i < allocation_count; i++) {
        if (allocations[i].start != (uintptr_t)memory)
            continue;
        allocations[i].live = false;
        allocations[i].freed_at = (uintptr_t)pc;
    }
}

bool sim_memory_find(uintptr_t address, sim_allocation *found)
{
    (void)address;
    (void)found;
    return false;
}

bool sim_memory_meant(uintptr_t address, size_t size, sim_allocation *found)
{
    (void)size;
    int best = (int)((address - sim_memory_base) / 65536);
    if (best >= allocation_count)
        return false;
    *found = allocations[best];
    return true;
}

void fake_count(void *pc, const char *kernel, unsigned units)
{
    counts[count_count++] = (sim_count){.pc = (uintptr_t)pc,
                                        .kernel = kernel,
                                        .size = 4,
                                        .requests = 1,
                                        .lanes = 32,
                                        .units = units,
                                        .ideal = 4,
                                        .worst_units = units,
                                        .worst_mask = ~0u};
}

void sim_counters_each(void (*visit)(const sim_count *count, void *context), void *context)
{
    for (int i = 0; i < count_count; i++)
        visit(&counts[i], context);
}

// At each counted place a branch, divergent where the access is more than ideal.
void sim_branch_counts_each(void (*visit)(const sim_branch_count *count, void *context), void *context)
{
    for (int i = 0; i < count_count; i++) {
        sim_branch_count branch = {.pc = counts[i].pc,
                                   .kernel = counts[i].kernel,
                                   .executions = 10,
                                   .divergent = counts[i].units > counts[i].ideal ? 3 : 0};
        visit(&branch, context);
    }
}

bool sim_branch_counts_in_pieces(void)
{
    return false;
}

void sim_kernel_counts_each(void (*visit)(const sim_kernel_count *count, void *context), void *context)
{
    sim_kernel_count count = {.kernel = "mm<1>",
                              .grid = {2, 1, 1},
                              .block = {32, 1, 1},
                              .shared = 64,
                              .launches = 1,
                              .accesses = 64,
                              .threads = 64};
    visit(&count, context);
}

__attribute__((constructor)) static void copy_twice(void)
{
    static const sim_copied copies[] = {
        {.hash = 0x1f, .to = 4096, .bytes = 4, .singles = {.fits = true, .sum = 1.5, .magnitude = 2}},
        {.hash = 0xabcdef, .to = 8192, .bytes = 64},
    };
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        sim_copied_keep(&copies[i]);
}

uint64_t sim_counters_algorithms(void)
{
    return 3;
}

void sim_race_finish(void)
{
}

static sim_place place_of(fake_place place)
{
    sim_place made = {.pc = (uintptr_t)place.pc, .role = place.role};
    made.has_thread = place.block >= 0;
    if (made.has_thread) {
        made.block[0] = (unsigned)place.block;
        made.thread[0] = (unsigned)place.thread;
    }
    return made;
}

void fake_finding(int kind, int tier, const char *kernel, const char *message, fake_place one, fake_place other,
                  const void *address, size_t bytes)
{
    sim_finding finding = {.kind = (sim_finding_kind)kind, .tier = (sim_tier)tier, .kernel = kernel};
    snprintf(finding.message, sizeof finding.message, "%s", message);
    finding.place[0] = place_of(one);
    finding.place[1] = place_of(other);
    finding.address = (uintptr_t)address;
    finding.bytes = bytes;
    sim_report(&finding);
}

// No launch is traced here.
unsigned sim_trace_launches(const sim_launch_trace *const **all, uint64_t *left_out)
{
    *all = NULL;
    *left_out = 0;
    return 0;
}

unsigned sim_trace_operations(const sim_trace_operation **all, uint64_t *left_out)
{
    *all = NULL;
    *left_out = 0;
    return 0;
}
