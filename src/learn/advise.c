// What to do about a finding, in words that fit what the course has taught by then, and which findings have one cause.

#include <string.h>

#include "check/barrier.h"
#include "check/describe.h"
#include "learn/judging.h"

enum {
    LAST_SIMPLE =
        10, // chapters up to this one know blocks, barriers and launches: no atomics, fences or warps' barriers
    MANAGED_CHAPTER = 6, // the chapter that has cudaMallocManaged, and its exercise there
    MANAGED_PLACE = 13,
    FIRST_STREAMS = 7, // the chapter that has streams
    WARP = 32,
};

// --- races -----------------------------------------------------------------------------------------------------------

static bool has_role(const heddle_check_place *place, const char *role)
{
    return strcmp(place->role, role) == 0;
}

static bool is_same_line(const heddle_check_place *a, const heddle_check_place *b)
{
    return a->frames > 0 && b->frames > 0 && a->frame[0].line == b->frame[0].line &&
           strcmp(a->frame[0].file, b->frame[0].file) == 0;
}

// Of plain reads and writes; atomics and asynchronous copies have advice of their own.
static bool is_plain_race(const heddle_check_finding *finding)
{
    bool plain = finding->kind == HEDDLE_CHECK_RACE && finding->place_count > 1 &&
                 !strstr(finding->message, "asynchronous") && !strstr(finding->note, "asynchronous");
    for (int i = 0; plain && i < 2; i++)
        plain = has_role(&finding->places[i], "read") || has_role(&finding->places[i], "write");
    return plain && finding->order <= HEDDLE_CHECK_ORDER_BLOCKS;
}

bool heddle_learn_is_same_index(const heddle_check_finding *finding)
{
    const heddle_check_place *places = finding->places;
    if (!is_plain_race(finding) || !is_same_line(&places[0], &places[1]))
        return false;
    bool writes = has_role(&places[0], "write") && has_role(&places[1], "write");
    return writes || (places[0].column > 0 && places[0].column == places[1].column); // x[k] += ...
}

static int in_block(const int thread[3], const int block[3])
{
    return thread[0] + block[0] * (thread[1] + block[1] * thread[2]);
}

bool heddle_learn_is_early(const heddle_learn_judging *judging)
{
    return judging->exercise->chapter_number <= LAST_SIMPLE;
}

static bool is_one_warp(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_place *a = &finding->places[0], *b = &finding->places[1];
    const heddle_check_report *run =
        judging->result && judging->result->run_count > 0 ? judging->result->runs[0] : NULL;
    bool same_block = a->has_thread && b->has_thread && memcmp(a->block, b->block, sizeof a->block) == 0;
    for (int k = 0; run && same_block && finding->kernel && k < run->kernel_count; k++)
        if (strcmp(run->kernels[k].name, finding->kernel) == 0)
            return in_block(a->thread, run->kernels[k].block) / WARP ==
                   in_block(b->thread, run->kernels[k].block) / WARP;
    return false;
}

static const char *advise_barrier(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const char *barrier = !heddle_learn_is_early(judging) && is_one_warp(judging, finding)
                              ? "__syncthreads() (or __syncwarp(): both are in one warp)"
                              : "__syncthreads()";
    char place[192];
    heddle_arena *arena = judging->verdict->arena;
    if (is_same_line(&finding->places[0], &finding->places[1]))
        return heddle_learn_format(
            arena,
            "Read into a variable first, then put %s, then write. In a loop, put another barrier "
            "after the write.",
            barrier);
    if (!heddle_check_barrier_place(judging->sources, finding, place, sizeof place))
        return heddle_learn_format(arena, "Put %s between the two accesses.", barrier);
    return heddle_learn_format(arena, "Put %s %s.", barrier, place);
}

// Two threads at one element: that is mostly a wrong index, else an update that all of them should make.
static const char *advise_same_index(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    bool updates = has_role(&finding->places[0], "read") || has_role(&finding->places[1], "read") ||
                   strstr(finding->note, "also seen as read");
    if (updates && !heddle_learn_is_early(judging))
        return "If all of them should add to it, make the update one atomic operation, such as atomicAdd.";
    bool single = memory && memory->bytes > 0 && memory->bytes == memory->size;
    return single ? "Should only one thread write it, or each thread an element of its own?" : NULL;
}

static const char *advise_race(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    if (heddle_learn_is_same_index(finding))
        return advise_same_index(judging, finding);
    if (finding->order == HEDDLE_CHECK_ORDER_BARRIER)
        return advise_barrier(judging, finding);
    return heddle_learn_is_early(judging)
               ? "Blocks run in any order, and a barrier of one block does not make another wait. Give each block "
                 "elements of its own, or split the work into two launches."
               : finding->cure;
}

// --- bounds ----------------------------------------------------------------------------------------------------------

static const char *advise_bounds(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    bool past_the_end = finding->kernel && memory && strcmp(memory->space, "global") == 0 && memory->offset >= 0 &&
                        memory->offset + memory->size > memory->bytes && !heddle_check_wrapped_index(memory) &&
                        finding->place_count > 0 && finding->places[0].has_thread;
    if (memory && memory->is_dynamic && memory->bytes == 0)
        return "The launch has to say how large the array is, with a third number between <<< and >>>. It counts "
               "bytes: "
               "elements * sizeof(element).";
    if (memory && memory->is_dynamic && memory->size > 0 && memory->offset >= memory->bytes)
        return heddle_learn_format(
            judging->verdict->arena,
            "The launch gave %lld bytes, which is %lld element%s of %lld bytes. Its third number "
            "counts bytes: elements * sizeof(element).",
            memory->bytes, memory->bytes / memory->size, memory->bytes / memory->size == 1 ? "" : "s", memory->size);
    if (past_the_end)
        return heddle_learn_advise_guard(judging, finding);
    bool below = heddle_check_negative_index(finding) < 0 ||
                 (memory && (memory->offset < 0 || heddle_check_wrapped_index(memory) < 0));
    return finding->kernel && below && finding->place_count > 0 ? heddle_learn_advise_below(judging, finding)
                                                                : finding->cure;
}

// --- others ----------------------------------------------------------------------------------------------------------

static const char *line_of(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_place *place = &finding->places[0];
    return finding->place_count > 0 && place->frames > 0
               ? heddle_check_sources_line(judging->sources, place->frame[0].file, place->frame[0].line)
               : NULL;
}

// Changing the direction always silences the message, and is seldom what was meant.
static const char *advise_call(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const char *line =
        strstr(finding->message, "output argument for the pointer is NULL") ? line_of(judging, finding) : NULL;
    const char *address = line ? heddle_learn_advise_malloc(judging->verdict->arena, line) : NULL;
    if (address)
        return address;
    if (strstr(finding->message, "without quotes"))
        return NULL; // it says all
    if (strstr(finding->message, "cudaErrorMemoryAllocation"))
        return "If the size is right, the call may still fail. Test what it returns, and before another call replaces "
               "it: `if (error != cudaSuccess)`.";
    bool to_host = strstr(finding->message, "cudaMemcpyDeviceToHost wants ") != NULL;
    bool to_device = strstr(finding->message, "cudaMemcpyHostToDevice wants ") != NULL;
    if (!to_host && !to_device)
        return finding->cure;
    return to_host ? "What should this line do? If it brings data to the host, as its direction says, the destination "
                     "comes first: check the first two arguments. Change the direction only if the data should go to "
                     "the device."
                   : "What should this line do? If it takes data to the device, as its direction says, the destination "
                     "comes first: check the first two arguments. Change the direction only if the data should go to "
                     "the host.";
}

// The name of the pointer whose address cudaMalloc got, in the line of the learner's that allocates the memory.
static const char *allocated_pointer(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    const char *line = memory && heddle_learn_is_learners(judging, memory->allocated.file)
                           ? heddle_check_sources_line(judging->sources, memory->allocated.file, memory->allocated.line)
                           : NULL;
    return line ? heddle_learn_first_argument(judging->verdict->arena, line, "cudaMalloc(", true) : NULL;
}

static const char *advise_leak(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const char *pointer = allocated_pointer(judging, finding);
    return pointer ? heddle_learn_format(judging->verdict->arena,
                                         "Call `cudaFree(%s)` when it is no longer needed, on every path through the "
                                         "function.",
                                         pointer)
                   : finding->cure;
}

static const char *advise_free(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    heddle_arena *arena = judging->verdict->arena;
    if (strstr(finding->message, "free it with"))
        return NULL; // it says all
    const char *line = strstr(finding->message, "CUDA did not allocate") ? line_of(judging, finding) : NULL;
    const char *pointer = line ? heddle_learn_first_argument(arena, line, "cudaFree(", false) : NULL;
    return pointer
               ? heddle_learn_format(arena,
                                     "`%s` is not memory of the GPU. If it is the address of a pointer, free what that "
                                     "points to: `cudaFree(*%s)`.",
                                     pointer, pointer)
               : finding->cure;
}

static bool knows_managed(const heddle_learn_judging *judging)
{
    const heddle_learn_exercise *exercise = judging->exercise;
    return exercise->chapter_number > MANAGED_CHAPTER ||
           (exercise->chapter_number == MANAGED_CHAPTER && exercise->place >= MANAGED_PLACE);
}

// Host code that follows a pointer to the device.
static const char *advise_host_access(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    heddle_arena *arena = judging->verdict->arena;
    const char *pointer = allocated_pointer(judging, finding), *line = line_of(judging, finding);
    const char *followed = pointer ? heddle_learn_format(arena, "*%s", pointer) : NULL;
    if (line && followed && strstr(line, followed))
        return heddle_learn_format(
            arena,
            "If `%s` is the address of the caller's pointer, it is what cudaMalloc needs: pass it "
            "without `&`.",
            pointer);
    return knows_managed(judging) ? finding->cure : "Copy the data with cudaMemcpy.";
}

const char *heddle_learn_advice(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    if (is_plain_race(finding))
        return advise_race(judging, finding);
    switch (finding->kind) {
    case HEDDLE_CHECK_OUT_OF_BOUNDS: return advise_bounds(judging, finding);
    case HEDDLE_CHECK_BAD_CALL: return advise_call(judging, finding);
    case HEDDLE_CHECK_LEAK: return advise_leak(judging, finding);
    case HEDDLE_CHECK_INVALID_FREE: return advise_free(judging, finding);
    case HEDDLE_CHECK_DEVICE_POINTER: return advise_host_access(judging, finding);
    case HEDDLE_CHECK_HOST_POINTER:
        return knows_managed(judging)
                   ? finding->cure
                   : "Copy the data into memory from cudaMalloc, and pass that pointer to the kernel.";
    case HEDDLE_CHECK_MISSING_WAIT:
        return judging->exercise->chapter_number < FIRST_STREAMS
                   ? "Call cudaDeviceSynchronize() between the launch and the line where the host uses the memory."
                   : finding->cure;
    case HEDDLE_CHECK_UNINITIALISED:
        return memory && strcmp(memory->space, "shared") == 0 && memory->bytes > memory->size
                   ? "No thread has written this element by then. Is it the one that you mean? If so, guard the read "
                     "like "
                     "the write, or let threads without data write a value that changes nothing, such as 0."
                   : finding->cure;
    default: return finding->cure;
    }
}

// --- one cause for several findings ----------------------------------------------------------------------------------

static bool is_same_kernel(const heddle_check_finding *a, const heddle_check_finding *b)
{
    return a->kernel && b->kernel && strcmp(a->kernel, b->kernel) == 0;
}

static void line_range(const heddle_check_finding *finding, int *first, int *last)
{
    int a = finding->places[0].frame[0].line, b = finding->places[1].frame[0].line;
    *first = a < b ? a : b;
    *last = a < b ? b : a;
}

bool heddle_learn_same_cause(const heddle_check_finding *a, const heddle_check_finding *b)
{
    int first[2], last[2];
    if (!is_plain_race(a) || !is_plain_race(b) || !is_same_kernel(a, b) || a->order != b->order ||
        heddle_learn_is_same_index(a) != heddle_learn_is_same_index(b))
        return false;
    line_range(a, &first[0], &last[0]);
    line_range(b, &first[1], &last[1]);
    int from = first[0] > first[1] ? first[0] : first[1], to = last[0] < last[1] ? last[0] : last[1];
    // A barrier in a line that both pairs have between them, or one statement that needs one.
    return from < to || (first[0] == last[0] && first[0] == first[1] && last[0] == last[1]);
}

static bool is_same_memory(const heddle_check_memory *a, const heddle_check_memory *b)
{
    return a && b && strcmp(a->space, b->space) == 0 && strcmp(a->name, b->name) == 0 && a->bytes == b->bytes &&
           a->allocated.line == b->allocated.line;
}

// What a null pointer does behind an allocation that failed.
static bool follows_allocation(const heddle_check_result *result, const heddle_check_finding *finding)
{
    if (!strstr(finding->message, "through a null pointer") && !strstr(finding->message, " is NULL"))
        return false;
    for (int i = 0; i < result->finding_count; i++) {
        const heddle_check_finding *other = result->findings[i];
        if (other != finding && other->kind == HEDDLE_CHECK_BAD_CALL && strstr(other->message, "cudaMalloc fails"))
            return !strstr(finding->message, "cudaMalloc fails");
    }
    return false;
}

bool heddle_learn_follows(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_result *result = judging->result;
    if (follows_allocation(result, finding))
        return true;
    for (int i = 0; finding->kind == HEDDLE_CHECK_UNINITIALISED && i < result->finding_count; i++) {
        const heddle_check_finding *other = result->findings[i];
        if ((other->kind == HEDDLE_CHECK_RACE || other->kind == HEDDLE_CHECK_OUT_OF_BOUNDS) &&
            other->tier == HEDDLE_CHECK_ERROR && is_same_memory(other->memory, finding->memory))
            return true;
    }
    return false;
}
