// The frame around every API call: lock, last error, sticky error, findings about failed calls.
#define _GNU_SOURCE
#include "api/call.h"
#include "api/children.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/caller.h"
#include "api/chips.h"
#include "core/core.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "program/program.h"
#include "progress/beside.h"
#include "progress/host_threads.h"
#include "race/stream_order.h"
#include "report/report.h"
#include "report/stopped.h"
#include "sim/runtime_api.h"

enum { SIM_WRONG_USAGE = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t started = PTHREAD_ONCE_INIT;
static cudaError_t broken; // the device is unusable since this fault
static bool no_card;       // SIM_GPU names none: for good
static bool is_copy;       // made by fork, of a process that had used the device: for good

typedef struct current_call {
    const char *function;
    uintptr_t pc;
    unsigned thread; // 0: not asked for yet
    int depth;       // API functions that this thread is in: it holds the lock when not 0
    int outer_depth; // what depth was when a host function began
    bool in_host_function;
    const char *expected; // the function that is about to be called, and whose status is looked at
    bool handled;         // that is the current call
    cudaError_t last_error, refused_with;
} current_call;
static __thread current_call call;

// Errors that nobody has looked at yet.
enum { UNREAD = 64 };
typedef struct unread_error {
    cudaError_t error;
    const char *function;
    uintptr_t pc;
    const void *thread;
} unread_error;
static unread_error unread[UNREAD];
static int unread_count;

// A program of its own says so and ends; in a library each call says so, for its user to make something of it.
static void refuse_card(const char *why)
{
    if (sim_module_self()->is_program && !sim_report_is_embedded()) {
        sim_report_write(why); // which says it on stderr unless a file is asked for
        exit(SIM_WRONG_USAGE);
    }
    fprintf(stderr, "sim: %s\n", why);
    no_card = true;
}

static void order_lacks_memory(void)
{
    sim_no_memory();
}

// As on a card: what the device was for the first process is nothing to a copy. The workers and who holds the lock have
// not been copied.
static void be_copy(void)
{
    pthread_mutex_init(&lock, NULL);
    is_copy = true;
}

static void start(void)
{
    char why[SIM_CHIP_REFUSAL];
    if (!sim_chip_known(why))
        refuse_card(why);
    sim_memory_start(sim_chip_get()->memory);
    sim_multiprocessors = (unsigned)sim_chip_get()->multiprocessors;
    sim_order_lacks_memory = order_lacks_memory;
    pthread_atfork(NULL, NULL, be_copy);
}

static void api_start(void)
{
    pthread_once(&started, start);
}

void sim_api_lock(void)
{
    if (call.depth++ == 0) {
        if (pthread_mutex_trylock(&lock) != 0) {
            sim_beside_awake(true);   // else it would be counted twice
            sim_host_thread_waits(1); // no kernel gets what it waits for from this thread meanwhile
            pthread_mutex_lock(&lock);
            sim_host_thread_waits(-1);
        }
        api_start();
    }
}

bool sim_api_try_lock(void)
{
    if (call.depth == 0 && pthread_mutex_trylock(&lock) != 0)
        return false;
    call.depth++;
    return true;
}

void sim_api_unlock(void)
{
    if (--call.depth == 0)
        pthread_mutex_unlock(&lock);
}

bool sim_api_is_copy(void)
{
    return is_copy;
}

pthread_mutex_t *sim_api_mutex(void)
{
    return &lock;
}

bool sim_call_begin(const char *function, uintptr_t pc)
{
    if (sim_current != NULL) {
        char feature[96];
        snprintf(feature, sizeof feature, "%s in a kernel (dynamic parallelism)", function);
        sim_unsupported_at(feature, "call it from host code", pc);
    }
    sim_api_lock();
    sim_report_used();
    if (call.depth == 1) {
        call.function = function;
        call.pc = sim_caller_outside(pc);
        call.handled = call.expected != NULL && strcmp(call.expected, function) == 0;
        if (call.handled)
            call.expected = NULL;
        sim_host_called();
    }
    call.refused_with = cudaSuccess;
    if (call.in_host_function) {
        call.refused_with = sim_fail(cudaErrorNotPermitted, "a function that a stream runs may not call CUDA");
    } else if (no_card || is_copy) {
        call.refused_with = no_card ? cudaErrorNoDevice : cudaErrorInitializationError;
    } else if (broken != cudaSuccess) {
        call.refused_with = broken;
    }
    return call.refused_with == cudaSuccess;
}

// Of the driver, whose result is all that a program gets: cudaGetLastError does not return it.
static bool is_of_driver(const char *function)
{
    return strncmp(function, "cuMem", 5) == 0;
}

static void set_error(cudaError_t error, const char *function, uintptr_t pc)
{
    if (error == cudaErrorNotReady || is_of_driver(function))
        return; // CUDA does not count the first as an error either
    call.last_error = error;
    if (error == broken || call.handled)
        return;
    for (int i = 0; i < unread_count; i++) {
        if (unread[i].pc == pc && unread[i].thread == &call)
            return;
    }
    if (unread_count < UNREAD)
        unread[unread_count++] = (unread_error){error, function, pc, &call};
}

cudaError_t sim_call_end(cudaError_t error)
{
    if (broken == cudaErrorMemoryAllocation)
        error = broken; // whatever the call made of it: the tables are not whole
    if (error != cudaSuccess && call.depth == 1)
        set_error(error, call.function, call.pc);
    sim_api_unlock();
    return error;
}

cudaError_t sim_call_refused(void)
{
    const cudaError_t error = call.refused_with;
    call.last_error = error;
    if (error == broken && call.depth == 1)
        sim_stopped_call(call.function);
    sim_api_unlock();
    return error;
}

void sim_handled(const char *function)
{
    call.expected = function;
}

uintptr_t sim_call_pc(void)
{
    return call.pc;
}

const char *sim_call_function(void)
{
    return call.function;
}

unsigned sim_call_thread(void)
{
    static unsigned threads; // the lock is held
    if (call.thread == 0)
        call.thread = ++threads;
    return call.thread;
}

// --- findings -------------------------------------------------------------------------------------------------------

// What a program asks a machine to find out what it has, as opposed to arguments that are wrong on every machine.
static bool is_question(const char *function, cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidDevice:
    case cudaErrorNoDevice:
    case cudaErrorNotSupported:
    case cudaErrorPeerAccessUnsupported:
    case cudaErrorPeerAccessAlreadyEnabled:
    case cudaErrorPeerAccessNotEnabled:
    case cudaErrorHostMemoryAlreadyRegistered:
    case cudaErrorHostMemoryNotRegistered:
    case cudaErrorGraphExecUpdateFailure:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorNotReady: return true;
    default: return strcmp(function, "cudaFuncSetAttribute") == 0 || strcmp(function, "cudaDeviceSetLimit") == 0;
    }
}

static void report(sim_finding *finding, cudaError_t error, const char *format, va_list arguments)
{
    const char *function = call.function != NULL ? call.function : "what runs in the background";
    // A question whose answer the program looks at may well be answered with no.
    const bool handled = call.handled && finding->kind == SIM_BAD_CALL && is_question(function, error);
    if (handled)
        finding->tier = SIM_WARNING;
    int written = snprintf(finding->message, sizeof finding->message, "%s fails with %s%s: ", function,
                           sim_error_name(error), handled ? ", which the program looks at" : "");
    if (error == cudaSuccess)
        written = snprintf(finding->message, sizeof finding->message, "%s: ", function);
    vsnprintf(finding->message + written, sizeof finding->message - (size_t)written, format, arguments);
    finding->place[0].pc = call.pc;
    finding->place[0].role = "call";
    sim_report(finding);
}

cudaError_t sim_fail(cudaError_t error, const char *format, ...)
{
    sim_finding finding = {.kind = SIM_BAD_CALL, .tier = SIM_ERROR};
    va_list arguments;
    va_start(arguments, format);
    report(&finding, error, format, arguments);
    va_end(arguments);
    return error;
}

cudaError_t sim_fail_as(sim_finding_kind kind, sim_tier tier, cudaError_t error, uintptr_t address, size_t bytes,
                        const char *format, ...)
{
    sim_finding finding = {.kind = kind, .tier = tier, .address = address, .bytes = bytes};
    va_list arguments;
    va_start(arguments, format);
    report(&finding, error, format, arguments);
    va_end(arguments);
    return error;
}

cudaError_t sim_no_memory(void)
{
    if (broken == cudaSuccess)
        sim_fail(cudaErrorMemoryAllocation, "the simulator is out of host memory");
    sim_error_break(cudaErrorMemoryAllocation);
    return cudaErrorMemoryAllocation;
}

// --- last error and sticky error ------------------------------------------------------------------------------------

static void forget(bool (*matches)(const unread_error *, cudaError_t), cudaError_t error)
{
    int kept = 0;
    for (int i = 0; i < unread_count; i++) {
        if (!matches(&unread[i], error))
            unread[kept++] = unread[i];
    }
    unread_count = kept;
}

static bool same_error(const unread_error *candidate, cudaError_t error)
{
    return candidate->error == error;
}

static bool same_thread(const unread_error *candidate, cudaError_t error)
{
    (void)error;
    return candidate->thread == &call;
}

static void looked_at(cudaError_t error)
{
    if (sim_current != NULL || __atomic_load_n(&unread_count, __ATOMIC_RELAXED) == 0)
        return;
    sim_api_lock();
    forget(same_error, error);
    sim_api_unlock();
}

void sim_error_break(cudaError_t error)
{
    if (broken == cudaSuccess)
        broken = error;
}

void sim_error_reset(void)
{
    broken = cudaSuccess;
}

cudaError_t sim_error_broken(void)
{
    return broken;
}

static void report_unread(void)
{
    for (int i = 0; i < unread_count; i++) {
        // A full card is found by looking at what cudaMalloc returns, and that cannot be seen from here.
        if (unread[i].error == cudaErrorMemoryAllocation)
            continue;
        sim_finding finding = {.kind = SIM_UNCHECKED_ERROR, .tier = SIM_WARNING};
        snprintf(finding.message, sizeof finding.message, "%s failed with %s and the program never checked the error",
                 unread[i].function, sim_error_name(unread[i].error));
        finding.place[0] = (sim_place){.pc = unread[i].pc, .role = "call"};
        sim_report(&finding);
    }
    unread_count = 0;
}

__attribute__((constructor(102))) static void start_looking(void)
{
    sim_report_at_end(SIM_END_ERRORS, report_unread);
}

// Who asks what an error means has looked at it.
const char *cudaGetErrorName(cudaError_t error)
{
    looked_at(error);
    return sim_error_name(error);
}

const char *cudaGetErrorString(cudaError_t error)
{
    looked_at(error);
    return sim_error_text(error);
}

static cudaError_t last_error(bool reset)
{
    if (sim_current != NULL)
        return sim_child_error(sim_current, reset);
    sim_api_lock();
    const cudaError_t error = call.last_error;
    if (reset)
        call.last_error = cudaSuccess;
    forget(same_thread, error);
    sim_api_unlock();
    return error;
}

cudaError_t cudaGetLastError(void)
{
    return last_error(true);
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error(false);
}

// The lock is given up meanwhile, so that the function can wait for other threads of the program.
void sim_host_function_enter(void)
{
    call.in_host_function = true;
    call.outer_depth = call.depth;
    call.depth = 0;
    pthread_mutex_unlock(&lock);
}

void sim_host_function_leave(void)
{
    pthread_mutex_lock(&lock);
    call.depth = call.outer_depth;
    call.in_host_function = false;
}
