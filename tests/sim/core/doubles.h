// What the scheduler's tests put in the place of the watch and the report: findings are kept to be looked at, and the
// watch can be switched on to see that it is told everything in the right order.
#ifndef SIM_TEST_DOUBLES_H
#define SIM_TEST_DOUBLES_H

#include "core/scheduler.h"
#include "machine/index.h"
#include "machine/options.h"
#include "program/program.h"
#include "report/report.h"

#define threadIdx sim_thread_index_variable
#define blockIdx  sim_block_index_variable
#define blockDim  sim_block_size_variable
#define gridDim   sim_grid_size_variable

enum { DOUBLE_FINDINGS = 64 };
extern sim_finding double_findings[DOUBLE_FINDINGS];
extern int double_finding_count;
int double_count(sim_finding_kind kind);
const sim_finding *double_find(sim_finding_kind kind); // the first of its kind; NULL: none

// Runs kernel(argument) for each thread; findings are forgotten first. Returns the launch's error.
int double_run(unsigned blocks, unsigned threads, void (*kernel)(void *), void *argument);
int double_run_shaped(sim_config config, void (*kernel)(void *), void *argument);

// Names a __thread variable that stands for a __shared__ one, before the first launch.
#define double_shared(variable) double_shared_variable(&(variable), sizeof(variable))
void double_shared_variable(const void *address, size_t bytes);

// What the watch was told, as text, one letter an event (see doubles.c).
extern char double_told[4096];
extern uint64_t double_accesses; // that the watch says it has watched in this launch
extern uint32_t double_log_room; // lanes whose logs have room again when their warp stops

#endif
