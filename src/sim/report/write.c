// When the report is written: once, at the end of the program or when it crashes, and only by the process that started
// it, not by its children, be they copies of it or programs of their own.
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "machine/options.h"
#include "machine/started.h"
#include "race/race.h"
#include "report/internal.h"
#include "watch/watch.h"

static atomic_bool started, writing, written;
static atomic_int leaver; // thread that ends the program
static pid_t owner;
static bool is_child; // of the program that the report is about
static void (*ends[SIM_ENDS])(void);

void sim_report_at_end(int when, void (*finish)(void))
{
    ends[when] = finish;
}

static int exit_status = -1; // with which the program ends; -1: not known

static size_t write_once(const char *status)
{
    if (atomic_exchange(&writing, true) || is_child || getpid() != owner)
        return 0;
    sim_report_crashing |= strncmp(status, "crashed", 7) == 0 || strncmp(status, "ended", 5) == 0;
    sim_race_finish();
    const sim_options *options = sim_options_get();
    if (!options->report && sim_report_is_embedded() && !sim_report_crashing)
        return 0;
    if (options->trace)
        sim_trace_want();
    const sim_conclusion *conclusion = sim_conclude();
    if (options->report)
        sim_document_write(conclusion, status, exit_status, options->report);
    else
        sim_text_write(conclusion, status, STDERR_FILENO);
    if (options->trace)
        sim_trace_write(options->trace);
    return conclusion->errors;
}

// Two threads may end the program at a time: the report is written before either of them does.
static bool is_left_to_another(void)
{
    int none = 0, self = gettid();
    if (atomic_compare_exchange_strong(&leaver, &none, self) || none == self)
        return false;
    while (!atomic_load(&written))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return true;
}

static _Unwind_Reason_Code look_for_handler(struct _Unwind_Context *frame, void *found)
{
    int interrupted = 0;
    _Unwind_GetIPInfo(frame, &interrupted);
    *(bool *)found |= interrupted != 0;
    return interrupted ? _URC_END_OF_STACK : _URC_NO_REASON;
}

bool sim_report_in_handler(void)
{
    bool found = false;
    _Unwind_Backtrace(look_for_handler, &found);
    return found;
}

static void at_exit(void)
{
    if (getpid() != owner || is_left_to_another())
        return;
    // A handler may have interrupted a call of CUDA: what is queued is only counted then.
    const bool in_handler = sim_report_in_handler();
    for (int when = 0; when < SIM_ENDS && !atomic_load(&writing); when++)
        if (ends[when] && (!in_handler || when == SIM_END_RUN))
            ends[when]();
    size_t errors = write_once("finished");
    atomic_store(&written, true);
    const char *wanted = getenv("SIM_EXIT");
    if (errors > 0 && wanted && strcmp(wanted, "1") == 0) {
        fflush(NULL);
        _exit(1);
    }
}

static void at_exit_with(int status, void *nothing)
{
    (void)nothing;
    exit_status = status & 0xff;
    at_exit();
}

// These end a program without its destructors, but what it did up to then is reported. They stand in for the C
// library's own; children, which may share the program's memory, just end.
static _Noreturn void leave(int status)
{
    if (atomic_load(&started))
        at_exit_with(status, NULL);
    for (;;)
        syscall(SYS_exit_group, status);
}

_Noreturn void _exit(int status)
{
    leave(status);
}

_Noreturn void _Exit(int status)
{
    leave(status);
}

static void be_child(void)
{
    is_child = true;
}

void sim_report_used(void)
{
    static atomic_bool told;
    char path[4096];
    const char *report = is_child && !atomic_exchange(&told, true) ? sim_options_get()->report : NULL;
    if (!report || (size_t)snprintf(path, sizeof path, "%s.child", report) >= sizeof path)
        return;
    int mark = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (mark >= 0)
        close(mark);
}

// A simulated program that this one executes has the same SIM_REPORT. It knows by this variable that it is not the one.
static void find_owner(void)
{
    static const char name[] = "SIM_OWNER";
    char number[16];
    const char *report = getenv("SIM_REPORT"), *told = getenv(name);
    snprintf(number, sizeof number, "%d", (int)owner);
    if (!report || sim_started_in(report))
        return;
    if (told)
        is_child = strcmp(told, number) != 0;
    else
        setenv(name, number, 1);
}

static void start(void)
{
    if (atomic_exchange(&started, true))
        return;
    owner = getpid();
    find_owner();
    pthread_atfork(NULL, NULL, be_child);
    sim_report_seconds(); // counts from here
    sim_findings_go_to(sim_findings_take);
    sim_module_self();
    sim_arena_take(0); // reserved now: the card's memory may leave no addresses
    on_exit(at_exit_with, NULL);
    (void)at_quick_exit(at_exit);
    if (sim_started_in(getenv("SIM_REPORT")))
        sim_options_get(); // says that the program has started, even if it never calls CUDA
}

void sim_report_write(const char *status)
{
    start();
    write_once(status);
}

// Before every other constructor, so that at_exit runs after the destructors of the program's own objects, which may
// still free memory.
__attribute__((constructor(101))) static void start_first(void) // the priority would be lost on a declared function
{
    start();
}
