// Reads the environment. A value that makes no sense is named and the default kept: the program that runs is not ours
// to stop.
#define _GNU_SOURCE
#include "machine/options.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/started.h"

unsigned sim_program_uses, sim_schedule;

static sim_options options;

enum { MOST_USES = 128 }; // more than the runtime has
static sim_use told[MOST_USES];
static int told_count;

void sim_use_tell(unsigned uses, uintptr_t function)
{
    if (told_count < MOST_USES)
        told[told_count++] = (sim_use){function, uses};
}

const sim_use *sim_uses_told(int *count)
{
    *count = told_count;
    return told;
}

static bool number_from(const char *name, double least, double most, double *value)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return false;
    char *end;
    double number = strtod(text, &end);
    if (*end || !(number >= least && number <= most)) {
        fprintf(stderr, "sim: %s=%s: expected a number from %g to %g; using the default\n", name, text, least, most);
        return false;
    }
    *value = number;
    return true;
}

static const char *text_from(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static void read_environment(void)
{
    enum { KIB = 1024 };
    double value;
    options.report = text_from("SIM_REPORT");
    if (options.report && sim_started_in(options.report))
        options.report = sim_started_report(options.report);
    options.gpu = text_from("SIM_GPU");
    if (!options.gpu)
        options.gpu = "h200";
    options.values = text_from("SIM_VALUES");
    options.copy = text_from("SIM_COPY");
    options.progress = text_from("SIM_PROGRESS");
    options.trace = text_from("SIM_TRACE");
    options.tick = number_from("SIM_TICK", 1, 1000, &value) ? (unsigned)value : 1;
    options.watch = number_from("SIM_WATCH", 0, 1, &value) ? value != 0 : true;
    options.strict = number_from("SIM_STRICT", 0, 1, &value) ? value != 0 : false;
    options.schedule = number_from("SIM_SCHEDULE", 0, 4294967295.0, &value) ? (unsigned)value : 0;
    options.workers = number_from("SIM_WORKERS", 1, 256, &value) ? (int)value : cores();
    options.budget = number_from("SIM_BUDGET", 0, 1e12, &value) ? value * 1e6 : 0;
    options.seed = number_from("SIM_SEED", 0, 0x1p53, &value) ? (uint64_t)value : 1;
    options.spin_limit = number_from("SIM_SPIN_LIMIT", 0.01, 1e6, &value) ? value : 10;
    options.stack = (number_from("SIM_STACK", 16, 65536, &value) ? (size_t)value : SIM_STACK_DEFAULT) * KIB;
    sim_schedule = options.schedule;
}

const sim_options *sim_options_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_environment);
    return &options;
}
