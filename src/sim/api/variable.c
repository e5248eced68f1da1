// Host code that uses a __device__ or __constant__ variable by its name. On a card the host has a variable of its own
// by that name, which starts as zero and which kernels and cudaMemcpyToSymbol never touch; here there is one variable,
// so what the program prints is not what it would print there. That is an error as soon as the card's side uses the
// variable too: a read of what the card has set, a write to what the card uses. Which it does may show only later, so
// uses are kept until then.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/variable.h"
#include "memory/sections.h"
#include "program/program.h"
#include "race/last.h"
#include "report/report.h"
#include "sim/abi.h"
#include "watch/watch.h"

// A place in the source, with the stretch of memory that it used.
enum { USES = 256, COPIES = 256 };
typedef struct host_use {
    uintptr_t pc, first, end;
    size_t bytes; // of one access
    uint64_t count;
    bool write, reported;
} host_use;
typedef struct copied_range {
    uintptr_t first, end;
    bool written;
} copied_range;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // host code of any thread comes here
static host_use uses[USES];
static copied_range copies[COPIES];
static copied_range addressed[COPIES];
static int use_count, copy_count, addressed_count;
static bool one_side; // host code has run a function of which only the device's path was built

static void report(const host_use *use, sim_tier tier)
{
    sim_finding finding = {.kind = SIM_DEVICE_POINTER,
                           .tier = tier,
                           .address = use->first,
                           .bytes = use->bytes,
                           .place[0] = {.pc = use->pc, .role = use->write ? "write" : "read"}};
    const char *what = tier == SIM_WARNING ? ""
                       : use->write        ? ", which kernels never see"
                                           : ", which kernels and cudaMemcpyToSymbol never change";
    snprintf(finding.message, sizeof finding.message,
             "host code %s a device variable by its name: on a GPU that is the host's own copy%s",
             use->write ? "writes to" : "reads", what);
    sim_report_many(&finding, use->count);
}

static bool was_copied(const host_use *use)
{
    for (int i = 0; i < copy_count; i++) {
        if (copies[i].first < use->end && use->first < copies[i].end && (use->write || copies[i].written))
            return true;
    }
    return false;
}

// Whether the card's side has set what the host reads, or uses what the host sets.
static bool matters(const host_use *use)
{
    return !one_side && (was_copied(use) || sim_variable_used(use->first, use->end - use->first, !use->write));
}

static bool host_wrote(uintptr_t address)
{
    for (int i = 0; i < use_count; i++) {
        if (uses[i].write && address - uses[i].first < uses[i].end - uses[i].first)
            return true;
    }
    return false;
}

// The host's own copy has no initialiser: a value that was not set since is not there on a GPU.
static bool reads_initialiser(uintptr_t address, size_t bytes)
{
    const uint8_t *at = (const uint8_t *)address; // NOLINT(performance-no-int-to-ptr)
    bool zero = true;
    for (size_t i = 0; i < bytes; i++)
        zero &= at[i] == 0;
    return !zero && !one_side && !host_wrote(address);
}

static host_use *use_at(uintptr_t pc, bool write)
{
    for (int i = 0; i < use_count; i++) {
        if (uses[i].pc == pc && uses[i].write == write)
            return &uses[i];
    }
    if (use_count == USES)
        return NULL;
    uses[use_count] = (host_use){.pc = pc, .write = write, .first = UINTPTR_MAX};
    return &uses[use_count++];
}

void sim_variable_touched(uintptr_t address, size_t bytes, bool write, uintptr_t pc)
{
    pthread_mutex_lock(&lock);
    host_use *use = use_at(pc, write != 0);
    if (use != NULL) {
        use->count++;
        use->bytes = bytes;
        use->first = address < use->first ? address : use->first;
        use->end = address + bytes > use->end ? address + bytes : use->end;
        if (!write && !use->reported && (matters(use) || reads_initialiser(address, bytes))) {
            report(use, SIM_ERROR);
            use->reported = true;
        }
    }
    pthread_mutex_unlock(&lock);
}

void sim_variable_copied(uintptr_t start, size_t bytes, bool written)
{
    if (written)
        sim_repeated_forget();
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < copy_count &&
           !(copies[at].written == written && start <= copies[at].end && copies[at].first <= start + bytes))
        at++;
    if (at == copy_count && copy_count < COPIES)
        copies[copy_count++] = (copied_range){start, start + bytes, written};
    if (at < COPIES) {
        copies[at].first = start < copies[at].first ? start : copies[at].first;
        copies[at].end = start + bytes > copies[at].end ? start + bytes : copies[at].end;
    }
    pthread_mutex_unlock(&lock);
}

// --- its address ----------------------------------------------------------------------------------------------------

static bool shared; // there is, or was, memory by which a kernel can hand the host an address unseen

static bool may_be_handed_out(void)
{
    return __atomic_load_n(&shared, __ATOMIC_RELAXED) ||
           (uintptr_t)__start_sim_managed != (uintptr_t)__stop_sim_managed;
}

void sim_variable_memory_shared(void)
{
    __atomic_store_n(&shared, true, __ATOMIC_RELAXED);
}

// Whether the variable at this address has been given out; `end`: counting the end of a variable as part of it.
static bool is_given(uintptr_t address, bool end)
{
    for (int i = 0; i < addressed_count; i++) {
        if (address - addressed[i].first < addressed[i].end - addressed[i].first + end)
            return true;
    }
    return addressed_count == COPIES; // there may have been more
}

void sim_variable_addressed(const void *start, size_t bytes)
{
    const uintptr_t first = (uintptr_t)start;
    if (!is_given(first, false) && addressed_count < COPIES)
        addressed[addressed_count++] = (copied_range){first, first + bytes, false};
}

static bool is_cards(const void *pointer)
{
    return sim_is_cards_variable((uintptr_t)pointer);
}

// Whether the program can only have made this address from a variable's name, and which variable that is. A range that
// was given out has an end, where another variable may begin.
static bool is_from_name(const void *pointer, sim_symbol *variable)
{
    return is_cards(pointer) && !may_be_handed_out() && !is_given((uintptr_t)pointer, true) &&
           sim_symbol_at((uintptr_t)pointer, variable);
}

bool sim_variable_is_by_name(const void *pointer)
{
    sim_symbol variable;
    return is_from_name(pointer, &variable) && variable.start == (uintptr_t)pointer;
}

void sim_variable_handed_out(const void *bytes, size_t size)
{
    enum { STEP = 4 }; // members of packed structs too
    const void *word;
    sim_symbol variable;
    if ((uintptr_t)__start_sim_device == (uintptr_t)__stop_sim_device &&
        (uintptr_t)__start_sim_constant == (uintptr_t)__stop_sim_constant)
        return;
    for (size_t at = 0; at + sizeof word <= size; at += STEP) {
        memcpy(&word, (const char *)bytes + at, sizeof word);
        if (is_cards(word) && !is_given((uintptr_t)word, false) && sim_symbol_at((uintptr_t)word, &variable))
            sim_variable_addressed((const void *)variable.start, variable.bytes); // NOLINT(performance-no-int-to-ptr)
    }
}

void sim_variable_arguments(const char *kernel, const void *bytes, size_t size)
{
    const void *word;
    sim_symbol variable;
    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
        memcpy(&word, (const char *)bytes + at, sizeof word);
        if (!is_from_name(word, &variable))
            continue;
        const bool start = variable.start == (uintptr_t)word; // what lies inside a variable has more ways to come by
        sim_finding finding = {.kind = SIM_HOST_POINTER,
                               .tier = start ? SIM_ERROR : SIM_WARNING,
                               .kernel = kernel,
                               .address = (uintptr_t)word,
                               .bytes = 1,
                               .place[0] = {.pc = sim_call_pc(), .role = "launch"}};
        snprintf(
            finding.message, sizeof finding.message,
            "the launch passes a device variable by its name: on a GPU that is the address of the host's own copy");
        sim_report(&finding);
    }
}

static void report_open(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < use_count; i++) {
        if (!uses[i].reported)
            report(&uses[i], matters(&uses[i]) ? SIM_ERROR : SIM_WARNING);
        uses[i].reported = true;
    }
    pthread_mutex_unlock(&lock);
}

void sim_one_side(void)
{
    if (!sim_in_kernel())
        one_side = true;
}

__attribute__((constructor(102))) static void start(void)
{
    sim_report_at_end(SIM_END_VARIABLES, report_open);
}
