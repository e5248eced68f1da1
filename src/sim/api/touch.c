// Host code that uses memory of the device, or memory that the device has not finished with. An access to pinned or
// managed memory, or to a __managed__ variable, while work is queued is remembered; when the work has run and did use
// the place, the wait was missing. So a program that touches one buffer while a kernel works on another is left alone.
#include "api/touch.h"

#include <stdio.h>
#include <string.h>

#include "api/call.h"

#include "api/variable.h"
#include "machine/options.h"
#include "memory/memory.h"
#include "memory/sections.h"
#include "progress/host_looks.h"
#include "progress/host_sets.h"
#include "progress/host_waits.h"
#include "race/last.h"
#include "race/site.h"
#include "race/stream_order.h"
#include "watch/watch.h"

// A place in the source that touched memory while work was queued, with some of the addresses.
enum { TOUCHES = 256, SAMPLES = 16 };
typedef struct touched_word {
    uintptr_t address;  // 0: none
    uint64_t submitted; // operations up to this one were queued when it was last touched
    uint64_t sets;      // words that the host had set by then for kernels to see
    uint64_t before;    // what was there before the kernel that runs now
    uint64_t functions; // functions of the host that streams had begun to run
} touched_word;
typedef struct touch {
    uintptr_t pc;
    size_t bytes; // of one access
    bool write, plain, reported;
    sim_host_place host; // of the last touch, where a function that a stream runs made it
    uint64_t count;
    uint64_t renewed, renewed_sets; // all samples are from this time; 0: from several
    touched_word sample[SAMPLES];
} touch;
static touch touches[TOUCHES];
static int touch_count;
static uint64_t functions_begun; // that streams run

// `only_read`: by the kernel or copy.
static void report_wait(const touch *one, uintptr_t address, const char *kernel, uintptr_t launched_at, bool only_read)
{
    sim_finding finding = {.kind = SIM_MISSING_WAIT,
                           .tier = SIM_ERROR,
                           .kernel = kernel,
                           .address = address,
                           .bytes = one->bytes,
                           .place = {{.pc = one->pc, .role = one->write ? "write" : "read"},
                                     {.pc = launched_at, .role = kernel != NULL ? "launch" : "call"}}};
    snprintf(finding.message, sizeof finding.message,
             "the host %s memory that %s%s uses, without waiting for it to end", one->write ? "writes" : "reads",
             kernel != NULL     ? "kernel "
             : launched_at != 0 ? "a copy in a stream"
                                : "work that is in a stream",
             kernel != NULL ? kernel : "");
    if (one->write && only_read)
        snprintf(finding.note, sizeof finding.note, "the host overwrites memory that the stream may still read");
    sim_report(&finding);
}

// --- the place is remembered ----------------------------------------------------------------------------------------

// Functions that several streams run touch memory at different times in the order: each stream's is kept by itself.
static touch *touch_at(uintptr_t pc, size_t bytes, int write, bool plain)
{
    const sim_host_place host = sim_streams_host_place();
    for (int i = 0; i < touch_count; i++) {
        touch *one = &touches[i];
        if (one->pc == pc && one->write == (write != 0) && one->host.chain == host.chain) {
            one->host = host;
            return one;
        }
    }
    if (touch_count == TOUCHES)
        return NULL;
    touches[touch_count] = (touch){.pc = pc, .bytes = bytes, .write = write != 0, .plain = plain, .host = host};
    return &touches[touch_count++];
}

// Those that are touched again are as good as new.
static void renew(touch *one, const touched_word *now)
{
    bool all = true;
    for (int i = 0; i < SAMPLES; i++) {
        touched_word *word = &one->sample[i];
        if (word->address == now->address)
            *word = *now;
        all &= word->address == 0 || (word->submitted == now->submitted && word->sets == now->sets);
    }
    one->renewed = all ? now->submitted : 0;
    one->renewed_sets = now->sets;
}

// The first addresses, and then ever rarer ones.
static void sample(touch *one, uintptr_t address)
{
    const touched_word now = {.address = address,
                              .submitted = sim_streams_submitted(),
                              .sets = sim_host_sets(),
                              .functions = functions_begun};
    const uint64_t count = one->count++;
    if (one->renewed != now.submitted || one->renewed_sets != now.sets)
        renew(one, &now);
    if (count < SAMPLES / 2)
        one->sample[count] = now;
    else if ((count & (count - 1)) == 0)
        one->sample[SAMPLES / 2 + (unsigned)__builtin_ctzll(count) % (SAMPLES / 2)] = now;
}

// --- copies are known before they run -------------------------------------------------------------------------------

typedef struct overlap {
    uintptr_t address;
    bool write;
    uintptr_t pc; // of the copy that uses the address; 0: none
    bool written; // by the copy
} overlap;

static bool within(uintptr_t address, const void *start, size_t pitch, size_t slice, size_t width, size_t height,
                   size_t depth)
{
    const size_t span = (depth - 1) * slice + (height - 1) * pitch + width;
    size_t offset = address - (uintptr_t)start;
    if (offset >= span)
        return false;
    offset = depth > 1 && slice > 0 ? offset % slice : offset;
    offset = height > 1 && pitch > 0 ? offset % pitch : offset;
    return offset < width; // else it lies between two rows
}

static bool overlaps(const sim_work *work, void *context)
{
    overlap *found = context;
    const sim_copy *copy = &work->copy;
    const sim_fill *fill = &work->fill;
    bool used = false;
    if (work->kind == SIM_WORK_COPY) {
        found->written =
            within(found->address, copy->to, copy->to_pitch, copy->to_slice, copy->width, copy->height, copy->depth);
        used = found->written || (found->write && within(found->address, copy->from, copy->from_pitch, copy->from_slice,
                                                         copy->width, copy->height, copy->depth));
    }
    if (work->kind == SIM_WORK_FILL)
        used = found->written =
            within(found->address, fill->to, fill->pitch, fill->slice, fill->width, fill->height, fill->depth);
    if (used)
        found->pc = work->pc;
    return !used;
}

// --- kernels are known when they have run ---------------------------------------------------------------------------

// The launches that use the address in a way that this touch has to wait for; 0: none. Words that kernels use by
// atomics or through volatile may be how the two talk: the host does so in the same way, or sets what a kernel looks
// for.
typedef struct users {
    uint64_t writer, reader;
} users;

static users users_of(const touch *one, uintptr_t address)
{
    const sim_last last = sim_last_uses(address);
    if (last.flag && (!one->plain || (one->write && last.looks)))
        return (users){0, 0};
    return (users){last.writer, one->write ? last.reader : 0};
}

static bool is_waited_for(uint64_t number)
{
    return sim_order_waited(number) || sim_looks_saw(number);
}

// What has run already but was not waited for: copies, and kernels.
static void find_copy_that_ran(overlap *found, size_t bytes)
{
    found->pc = sim_watch_copy_unwaited(found->address, bytes, false);
    found->written = found->pc != 0;
    if (found->pc == 0 && found->write)
        found->pc = sim_watch_copy_unwaited(found->address, bytes, true);
}

static bool ran_unwaited(const touch *one, uintptr_t address, bool *written)
{
    const users found = users_of(one, address);
    *written = !is_waited_for(found.writer);
    return *written || !is_waited_for(found.reader);
}

bool sim_touch_unwaited(uintptr_t address, size_t bytes, int write, bool plain, uintptr_t pc)
{
    touch *one = touch_at(pc, bytes, write, plain);
    if (one == NULL || one->reported)
        return false;
    overlap copy = {.address = address, .write = write != 0};
    sim_operations_unwaited(overlaps, &copy);
    if (copy.pc == 0)
        find_copy_that_ran(&copy, bytes);
    if (copy.pc != 0 || ran_unwaited(one, address, &copy.written)) {
        one->reported = true;
        report_wait(one, address, NULL, copy.pc, !copy.written);
        return false;
    }
    sample(one, address);
    if (one->count % SIM_POLLING != 0 || sim_streams_run_here())
        return false;
    one->count = 0;
    memset(one->sample, 0, sizeof one->sample);
    return true;
}

static bool was_queued(const touched_word *word, const sim_operation *operation)
{
    return word->address != 0 && word->submitted >= operation->work.submitted;
}

static uint64_t value_at(uintptr_t address, size_t bytes)
{
    sim_allocation found;
    uint64_t value = 0;
    if (bytes <= sizeof value && (sim_is_managed_variable(address) || sim_memory_find(address, &found)))
        memcpy(&value, (const void *)address, bytes); // NOLINT(performance-no-int-to-ptr)
    return value;
}

void sim_touch_runs(const sim_operation *operation)
{
    for (int i = 0; i < touch_count; i++) {
        for (int j = 0; j < SAMPLES && touches[i].write && !touches[i].reported; j++) {
            touched_word *word = &touches[i].sample[j];
            if (was_queued(word, operation))
                word->before = value_at(word->address, touches[i].bytes);
        }
    }
}

// An atomic that adds nothing is a look.
static bool was_looked_at(const touch *one, const touched_word *word)
{
    return one->write && sim_last_uses(word->address).asks && value_at(word->address, one->bytes) == word->before;
}

static bool is_used_by(const touch *one, const touched_word *word, const sim_operation *operation, uint64_t number)
{
    if (!was_queued(word, operation) || was_looked_at(one, word))
        return false;
    const users found = users_of(one, word->address);
    return (found.writer == number || found.reader == number) &&
           !sim_host_set_orders(word->address, one->write, number, word->sets);
}

void sim_touch_ran(const sim_operation *operation, uint64_t number, const char *kernel, uintptr_t launched_at)
{
    sim_looks_ran(number);
    for (int i = 0; i < touch_count; i++) {
        touch *one = &touches[i];
        if (one->host.chain != SIM_NO_CHAIN && sim_order_number_at(number, one->host.chain) >= one->host.next)
            continue; // it waited for the function that touched the place
        for (int j = 0; j < SAMPLES && !one->reported; j++) {
            if (!is_used_by(one, &one->sample[j], operation, number))
                continue;
            one->reported = true;
            report_wait(one, one->sample[j].address, kernel, launched_at,
                        users_of(one, one->sample[j].address).writer != number);
        }
    }
}

// --- functions of the host are known when they have run --------------------------------------------------------------

// What the function that runs now has used, and whether it looks at or sets words through volatile or by atomics: then
// it may hear from the host, and tell it, in its own way.
enum { RANGES = 64 };
typedef struct used_range {
    uintptr_t first, end;
    bool write;
} used_range;
static used_range ranges[RANGES];
static int range_count;
static bool talks;

void sim_touch_function_begins(void)
{
    range_count = 0;
    talks = false;
    functions_begun++;
}

void sim_touch_by_function(uintptr_t address, size_t bytes, bool write)
{
    for (int i = 0; i < range_count; i++) {
        used_range *range = &ranges[i];
        if (range->write == write && address <= range->end && range->first <= address + bytes) {
            range->first = address < range->first ? address : range->first;
            range->end = address + bytes > range->end ? address + bytes : range->end;
            return;
        }
    }
    if (range_count < RANGES)
        ranges[range_count++] = (used_range){address, address + bytes, write};
}

void sim_touch_function_talks(void)
{
    talks = true;
}

// Whether the function has used the word in a way that the touch should have waited for; *written: by writing to it.
static bool function_used(const touch *one, uintptr_t address, bool *written)
{
    bool used = false;
    for (int i = 0; i < range_count; i++) {
        const used_range *range = &ranges[i];
        if (address >= range->end || address + one->bytes <= range->first || !(one->write || range->write))
            continue;
        used = true;
        *written |= range->write;
    }
    return used;
}

static void report_function(touch *one, uintptr_t address, uintptr_t asked_at, bool only_read)
{
    sim_finding finding = {
        .kind = SIM_MISSING_WAIT,
        .tier = SIM_ERROR,
        .address = address,
        .bytes = one->bytes,
        .place = {{.pc = one->pc, .role = one->write ? "write" : "read"}, {.pc = asked_at, .role = "call"}}};
    snprintf(finding.message, sizeof finding.message,
             "the host %s memory that a host function in a stream uses, without waiting for it to end",
             one->write ? "writes" : "reads");
    if (one->write && only_read)
        snprintf(finding.note, sizeof finding.note, "the host overwrites memory that the function may still read");
    one->reported = true;
    sim_report(&finding);
}

// Only what the host did before the function began: later it may have heard of its end, and be it by a lock.
void sim_touch_function_ran(const sim_operation *operation)
{
    for (int i = 0; i < touch_count && !talks; i++) {
        touch *one = &touches[i];
        for (int j = 0; j < SAMPLES && one->plain && one->host.chain == SIM_NO_CHAIN && !one->reported; j++) {
            const touched_word *word = &one->sample[j];
            bool written = false;
            if (was_queued(word, operation) && word->functions < functions_begun &&
                function_used(one, word->address, &written))
                report_function(one, word->address, operation->work.pc, !written);
        }
    }
    range_count = 0;
}
