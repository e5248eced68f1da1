// Algorithms of Thrust and CUB: their elements on the way between the card's memory and the loop on the host that works
// on them (sim/algorithms.h).
#include "sim/algorithms.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/algorithms.h"
#include "api/call.h"
#include "api/caller.h"
#include "api/pointer.h"
#include "api/variable.h"
#include "core/core.h"
#include "machine/options.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "memory/sections.h"
#include "race/site.h"
#include "watch/watch.h"

static __thread cudaStream_t library_stream;
static __thread int library_system;  // SIM_SYSTEM_...
static __thread int on_device;       // ranges of the device that are worked on
static __thread sim_worker *at_work; // whose CUDA thread plays the host

cudaStream_t sim_library_stream(void)
{
    return library_stream;
}

void sim_library_stream_set(cudaStream_t stream)
{
    library_stream = stream;
}

int sim_library_system(void)
{
    return library_system;
}

void sim_library_system_set(int system)
{
    library_system = system;
}

void sim_library_on_device(int change)
{
    if (on_device == 0 && change > 0 && !sim_library_runs())
        sim_counters_algorithm();
    on_device += change;
}

// --- work of a stream -----------------------------------------------------------------------------------------------

int sim_library_runs(void)
{
    return sim_current == NULL && at_work != NULL;
}

// What follows is done by the CUDA thread, which a fault ends: then nobody comes back to `host_again`.
static sim_worker *thread_again(void)
{
    sim_worker *worker = at_work;
    at_work = NULL;
    sim_current = worker;
    return worker;
}

static void host_again(sim_worker *worker)
{
    at_work = worker;
    sim_current = NULL;
}

void *sim_library_enter(void)
{
    sim_worker *worker = sim_current;
    if (worker == NULL)
        return NULL;
    sim_repeated_once(worker); // the program's own functions may read more than is told here
    library_system = SIM_SYSTEM_DEVICE;
    sim_watch_plays_host(worker, true);
    host_again(worker);
    return worker;
}

void sim_library_leave(void *entered)
{
    if (entered != NULL)
        sim_watch_plays_host(thread_again(), false);
}

// An algorithm that runs at once has waited for its stream, so that only the place counts.
bool sim_library_accessed(uintptr_t address, size_t bytes, bool write, uintptr_t pc)
{
    if (sim_library_runs()) {
        sim_worker *worker = thread_again();
        sim_watch_access(address, bytes, write, pc);
        host_again(worker);
        return true;
    }
    sim_allocation found;
    if (on_device == 0 && library_system != SIM_SYSTEM_DEVICE)
        return false;
    if (sim_is_cards_variable(address)) {
        sim_variable_copied(address, bytes, write);
        return true;
    }
    return sim_memory_find(address, &found);
}

static const char *call_name(void)
{
    const char *name = sim_current->launch->kernel->name;
    return name != NULL ? name : "the call";
}

static void fail(sim_finding_kind kind, uintptr_t address, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void fail(sim_finding_kind kind, uintptr_t address, size_t bytes, const char *format, ...)
{
    sim_finding finding = {.kind = kind,
                           .tier = SIM_ERROR,
                           .kernel = call_name(),
                           .address = address,
                           .bytes = bytes,
                           .place[0] = {.pc = sim_current->launch->launched_at, .role = "call"}};
    const int used = snprintf(finding.message, sizeof finding.message, "%s ", call_name());
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding.message + used, sizeof finding.message - (size_t)used, format, arguments);
    va_end(arguments);
    sim_report(&finding);
    sim_thread_fail(cudaErrorIllegalAddress);
}

static bool is_variable(uintptr_t address)
{
    return sim_is_cards_variable(address) || sim_is_managed_variable(address);
}

// That all of it is memory that a kernel may use. verb, what: "reads", ""; "uses", " of temporary storage".
static void check_memory(const void *memory, size_t bytes, const char *verb, const char *what)
{
    const uintptr_t start = (uintptr_t)memory;
    sim_allocation found;
    if (is_variable(start))
        return;
    if (start == 0)
        fail(SIM_FAULT, start, bytes, "%s %zu bytes%s through a null pointer", verb, bytes, what);
    if (sim_memory_find(start, &found)) {
        const size_t left = found.bytes - (start - found.start);
        if (bytes > left)
            fail(SIM_OUT_OF_BOUNDS, found.start + found.bytes, bytes - left,
                 "%s %zu bytes%s, of which %zu are past the end of the allocation", verb, bytes, what, bytes - left);
        return;
    }
    if (start - sim_memory_base >= sim_memory_span)
        fail(SIM_HOST_POINTER, start, bytes, "%s %zu bytes%s in host memory, which a kernel cannot access", verb, bytes,
             what);
    if (sim_memory_nearest(start, &found) && sim_memory_is_stale(&found, start))
        fail(SIM_USE_AFTER_FREE, start, bytes, "%s %zu bytes%s in memory that has been freed", verb, bytes, what);
    fail(SIM_OUT_OF_BOUNDS, start, bytes, "%s %zu bytes%s outside of every allocation", verb, bytes, what);
}

// The order of streams, and what the host is told when it comes too early.
static void note_use(const void *memory, size_t bytes, bool write)
{
    if (!sim_watching)
        return;
    if (is_variable((uintptr_t)memory))
        sim_variable_copied((uintptr_t)memory, bytes, write);
    else
        sim_watch_library((uintptr_t)memory, bytes, 0, 1, write);
}

void sim_library_read(void *to, const void *from, size_t bytes, int some)
{
    if (bytes == 0)
        return;
    sim_worker *worker = thread_again();
    check_memory(from, bytes, "reads", "");
    note_use(from, bytes, false);
    uintptr_t first;
    if (!some && !sim_watch_initialised((uintptr_t)from, bytes, &first)) {
        sim_finding finding = {.kind = SIM_UNINITIALISED,
                               .tier = SIM_ERROR,
                               .kernel = call_name(),
                               .address = first,
                               .bytes = sim_watch_unwritten(first, (uintptr_t)from + bytes - first),
                               .place[0] = {.pc = worker->launch->launched_at, .role = "call"}};
        snprintf(finding.message, sizeof finding.message, "%s reads uninitialised elements", call_name());
        sim_report(&finding);
    }
    memcpy(to, from, bytes);
    host_again(worker);
}

void sim_library_write(void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    sim_worker *worker = thread_again();
    check_memory(to, bytes, "writes", "");
    note_use(to, bytes, true);
    sim_watch_filled((uintptr_t)to, bytes);
    memcpy(to, from, bytes);
    host_again(worker);
}

void sim_library_room(void *room, size_t bytes)
{
    sim_worker *worker = thread_again();
    check_memory(room, bytes, "uses", " of temporary storage");
    note_use(room, bytes, true);
    host_again(worker);
}

static cudaError_t refuse_room(size_t given, size_t needed)
{
    return sim_fail(cudaErrorInvalidValue,
                    "the temporary storage has %zu byte%s, and the call needs %zu: ask it for the size with these "
                    "arguments first",
                    given, given == 1 ? "" : "s", needed);
}

cudaError_t sim_library_short(const char *call, size_t given, size_t needed)
{
    return SIM_CALL_AS(call, refuse_room(given, needed));
}

// --- algorithms that run at once ------------------------------------------------------------------------------------

static void report(sim_finding_kind kind, const void *memory, size_t bytes, uintptr_t pc, const char *message)
{
    sim_finding finding = {.kind = kind,
                           .tier = SIM_ERROR,
                           .address = (uintptr_t)memory,
                           .bytes = bytes,
                           .place[0] = {.pc = sim_caller_outside(pc), .role = "call"}};
    snprintf(finding.message, sizeof finding.message, "%s", message);
    sim_report(&finding);
}

void sim_library_device_memory(const void *memory, size_t bytes)
{
    sim_allocation found;
    sim_api_lock();
    const sim_where where = sim_pointer_where(memory, &found);
    sim_api_unlock();
    if (bytes > 0 && (where == SIM_AT_HOST || where == SIM_AT_VARIABLE) && !is_variable((uintptr_t)memory))
        report(SIM_HOST_POINTER, memory, bytes, SIM_CALLER,
               "an algorithm that runs on the GPU is given host memory, which a kernel cannot access");
}

void sim_library_apart(const void *result, size_t bytes, const void *read, size_t read_bytes)
{
    const uintptr_t to = (uintptr_t)result, from = (uintptr_t)read;
    if (to >= from + read_bytes || from >= to + bytes)
        return;
    const uintptr_t start = to > from ? to : from;
    const uintptr_t end = to + bytes < from + read_bytes ? to + bytes : from + read_bytes;
    const bool later = sim_library_runs();
    sim_finding finding = {.kind = SIM_BAD_CALL, .tier = SIM_ERROR, .address = start, .bytes = end - start};
    finding.place[0].role = "call";
    finding.place[0].pc = later ? at_work->launch->launched_at : sim_caller_outside(SIM_CALLER);
    if (later)
        finding.kernel = at_work->launch->kernel->name;
    snprintf(finding.message, sizeof finding.message,
             "%s%sa result overlaps another range of the call by %zu bytes: elements are taken in any order",
             finding.kernel ? finding.kernel : "", finding.kernel ? ": " : "", (size_t)(end - start));
    sim_report(&finding);
}

// The first and the last element stand for all of them.
static void announce(const void *memory, size_t bytes, bool write, uintptr_t pc)
{
    enum { SAMPLE = 4 };
    const uintptr_t start = (uintptr_t)memory;
    const size_t sample = bytes < SAMPLE ? bytes : SAMPLE;
    if (sim_host_accessed == NULL || !sim_options_get()->watch)
        return;
    if (start - sim_memory_base >= sim_memory_span && !is_variable(start))
        return;
    const int device = on_device;
    on_device = 0; // of a copy between the two
    pc = sim_caller_outside(pc);
    sim_host_accessed(start, sample, write ? SIM_WRITE : SIM_READ, pc);
    if (bytes > sample)
        sim_host_accessed(start + bytes - sample, sample, write ? SIM_WRITE : SIM_READ, pc);
    on_device = device;
}

void sim_library_from_host(void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    announce(from, bytes, false, SIM_CALLER);
    memcpy(to, from, bytes);
}

void sim_library_to_host(void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    announce(to, bytes, true, SIM_CALLER);
    memcpy(to, from, bytes);
}

void sim_library_peek(void *to, const void *from, size_t bytes)
{
    sim_allocation found;
    if (bytes > 0 && sim_memory_find((uintptr_t)from, &found) && bytes <= found.start + found.bytes - (uintptr_t)from)
        memcpy(to, from, bytes);
}
