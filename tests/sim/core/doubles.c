// Stand-ins for watch/ and report/; see doubles.h.
#define _GNU_SOURCE
#include "doubles.h"
#include "report/stopped.h"
#include "watch/scheduler.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

sim_finding double_findings[DOUBLE_FINDINGS];
int double_finding_count;
char double_told[4096];
uint32_t double_log_room = UINT32_MAX;
uint64_t double_accesses;
const sim_scheduler_calls *sim_scheduler;
uintptr_t sim_crashed_at;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep(const sim_finding *finding, uint64_t times)
{
    (void)times;
    pthread_mutex_lock(&lock);
    if (double_finding_count < DOUBLE_FINDINGS)
        double_findings[double_finding_count++] = *finding;
    pthread_mutex_unlock(&lock);
}

void sim_report_write(const char *status)
{
    printf("report: %s\n", status);
    fflush(stdout);
}

int double_count(sim_finding_kind kind)
{
    int count = 0;
    for (int i = 0; i < double_finding_count; i++)
        count += double_findings[i].kind == kind;
    return count;
}

const sim_finding *double_find(sim_finding_kind kind)
{
    for (int i = 0; i < double_finding_count; i++)
        if (double_findings[i].kind == kind)
            return &double_findings[i];
    return NULL;
}

int double_run_shaped(sim_config config, void (*kernel)(void *), void *argument)
{
    static uint64_t number;
    sim_kernel bound = {.name = "kernel", .run = kernel, .closure = argument};
    sim_launch_state launch = {.kernel = &bound, .config = config, .number = ++number};
    double_finding_count = 0;
    double_told[0] = 0;
    sim_findings_go_to(keep);
    return sim_run(&launch);
}

int double_run(unsigned blocks, unsigned threads, void (*kernel)(void *), void *argument)
{
    return double_run_shaped((sim_config){.grid = {blocks, 1, 1}, .block = {threads, 1, 1}}, kernel, argument);
}

// --- the module that the runtime is part of -------------------------------------------------------------------------

static sim_module module;
static sim_shared_variable shared[16];
static size_t shared_count;

static int look_at_program(struct dl_phdr_info *info, size_t size, void *tls)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_flags & PF_X) {
            module.text_lo = info->dlpi_addr + header->p_vaddr;
            module.text_hi = module.text_lo + header->p_memsz;
        }
        if (header->p_type == PT_TLS)
            module.tls_bytes = header->p_memsz;
    }
    *(uintptr_t *)tls = (uintptr_t)info->dlpi_tls_data;
    return 1;
}

uintptr_t sim_module_tls(void)
{
    uintptr_t tls;
    dl_iterate_phdr(look_at_program, &tls);
    return tls;
}

const char *sim_symbol_function(uintptr_t pc, size_t *offset)
{
    (void)pc;
    *offset = 0;
    return "main";
}

bool sim_symbol_at(uintptr_t address, sim_symbol *symbol)
{
    (void)address;
    (void)symbol;
    return false;
}

uint64_t sim_watch_accesses(void)
{
    return double_accesses;
}

unsigned sim_kernel_uses(const sim_kernel *kernel)
{
    (void)kernel;
    return sim_program_uses;
}

const sim_module *sim_module_self(void)
{
    if (!module.text_lo)
        sim_module_tls();
    return &module;
}

void double_shared_variable(const void *address, size_t bytes)
{
    shared[shared_count].offset = (uintptr_t)address - sim_module_tls();
    shared[shared_count++].bytes = bytes;
}

const sim_shared_variable *sim_shared_variables(size_t *count)
{
    *count = shared_count;
    return shared;
}

// --- the watch: b, B block begins and ends; < > thread left and entered; w warp stopped; | barrier; m, M lanes met (M:
// --- ordered); g grid barrier; p, P block parked and resumed; n named barrier ---------------------------------------

static void tell(char what)
{
    size_t length = strlen(double_told);
    if (length + 1 < sizeof double_told) {
        double_told[length] = what;
        double_told[length + 1] = 0;
    }
}

void sim_watch_start(sim_worker *worker)
{
    (void)worker;
}

bool sim_watch_repeats(sim_launch_state *launch, bool spent)
{
    (void)launch, (void)spent;
    return false;
}

void sim_repeated_once(sim_worker *worker)
{
    (void)worker;
}

void sim_watch_launch_begin(sim_launch_state *launch)
{
    (void)launch;
}

void sim_watch_launch_end(sim_launch_state *launch)
{
    (void)launch;
}

void sim_watch_block_begin(sim_worker *worker)
{
    (void)worker;
    tell('b');
}

void sim_watch_block_end(sim_worker *worker)
{
    (void)worker;
    tell('B');
}

void sim_watch_block_park(sim_worker *worker)
{
    (void)worker;
    tell('p');
}

void sim_watch_block_resume(sim_worker *worker)
{
    (void)worker;
    tell('P');
}

void sim_watch_leave(sim_worker *worker)
{
    (void)worker;
    tell('<');
}

bool sim_watch_log_all(sim_worker *worker)
{
    (void)worker;
    return false;
}

sim_polled sim_watch_polled(sim_worker *worker)
{
    (void)worker;
    return (sim_polled){0};
}

void sim_watch_enter(sim_worker *worker)
{
    (void)worker;
    tell('>');
}

uint32_t sim_watch_warp_stopped(sim_worker *worker)
{
    tell('w');
    return worker->block->full_log[worker->warp] & double_log_room;
}

void sim_watch_barrier(sim_worker *worker)
{
    (void)worker;
    tell('|');
}

void sim_watch_barrier_some(sim_worker *worker, int id, const uint32_t members[32])
{
    (void)worker;
    (void)id;
    (void)members;
    tell('n');
}

void sim_watch_barrier_arrive(sim_worker *worker, int id)
{
    (void)worker;
    (void)id;
    tell('a');
}

void sim_watch_barrier_grid(sim_launch_state *launch)
{
    (void)launch;
    tell('g');
}

void sim_watch_warp_met(sim_worker *worker, uint32_t mask, bool ordered)
{
    (void)worker;
    (void)mask;
    tell(ordered ? 'M' : 'm');
}

void sim_stopped_early(bool early)
{
    (void)early;
}
