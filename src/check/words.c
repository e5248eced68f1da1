// The words that fit a finding best: those of a table by what its message says, then those of its facts (how far apart
// the threads of a race are, why threads miss a barrier), else those of its kind.

#include "check/words.h"

#include <stdio.h>
#include <string.h>

#include "check/barrier.h"
#include "check/describe.h"
#include "check/index.h"
#include "check/slips.h"
#include "check/words_by_message.h"
#include "sim/source/statement.h"

typedef heddle_check_words words;

// --- by facts --------------------------------------------------------------------------------------------------------

static const char vague[] = "between the two accesses"; // what lines of the source take the place of

// Of races that a barrier of the block would not cure.
static const words by_order[] = {
    [HEDDLE_CHECK_ORDER_BLOCKS] =
        {"Two blocks access the same memory, at least one writes, and blocks run in any order.",
         "Use an atomic, give each block elements of its own, split the work into two launches, or pass the data on "
         "with __threadfence() and an atomic flag. A block's barrier does not synchronise blocks; in a cooperative "
         "launch the grid's barrier does (grid.sync())."},
    [HEDDLE_CHECK_ORDER_COPY] =
        {"Memory is used while an asynchronous copy is in progress: the wait for the copy comes later, or never.",
         "Wait for the copy before its target is read or its source written: __pipeline_wait_prior, "
         "cp.async.wait_group, cooperative_groups::wait or the wait of its barrier or pipeline; where other threads "
         "use what was copied, a barrier of the block must follow that wait."},
    [HEDDLE_CHECK_ORDER_FENCE] =
        {"A lock or flag is passed on by an atomic alone, which orders nothing but its own word.",
         "Put __threadfence() on both sides, after the atomic that takes the lock and before the one that releases it, "
         "or use cuda::atomic_ref with acquire and release."},
    [HEDDLE_CHECK_ORDER_ACQUIRE] =
        {"A lock is taken or a flag seen by an atomic or volatile read, and there is no fence between it and the data "
         "after it.",
         "Put __threadfence() after the atomic that takes the lock or sees the flag, use cuda::atomic_ref with "
         "acquire, "
         "or read the data through volatile."},
    [HEDDLE_CHECK_ORDER_ACQUIRE_IN_BLOCK] =
        {"A lock is taken or a flag seen by an atomic or volatile read, and there is no fence between it and the data "
         "after it.",
         "Put __threadfence_block() after the atomic that takes the lock or sees the flag, use cuda::atomic_ref with "
         "acquire, or read the data through volatile."},
    [HEDDLE_CHECK_ORDER_GUARD] =
        {"A plain read decides whether the atomic is made, and another thread may change the word between the two.",
         "Compare with the very value that the atomic is given, so that a skipped atomic would have changed nothing, "
         "or "
         "make the atomic without the comparison."},
    [HEDDLE_CHECK_ORDER_CHILD] =
        {"A kernel and the kernels that it launches run at the same time, and a kernel cannot wait for those.",
         "Let all threads that write what a child reads meet the launching thread at __syncthreads() before the "
         "launch; launch what needs a child's results into cudaStreamTailLaunch; launch children that depend on each "
         "other from one block into one stream."},
};

// Of barriers that threads which have exited never reach.
static const words by_reach[] = {
    [HEDDLE_CHECK_REACH_RETURN] = {"Some threads return early while the others wait at the barrier.",
                                   "Replace the early return by a condition around the work, and let all threads reach "
                                   "the barrier."},
    [HEDDLE_CHECK_REACH_BRANCH] =
        {"The barrier is inside a branch or loop that not all threads of the block take; the others end without it.",
         "Move the barrier out of the branch, so that every thread of the block reaches it, and keep only the work "
         "inside."},
    [HEDDLE_CHECK_REACH_PASSED] =
        {"The barrier is inside a branch or loop that not all threads of the block take; the others continue after it, "
         "and what the barrier does without them is undefined.",
         "Move the barrier out of the branch, so that every thread of the block reaches it, and keep only the work "
         "inside."},
};

static const words beyond_array = {
    "An index leaves the array, or one of its rows, mostly at the edge of a block or tile.",
    "Guard the access, or make the array as large as its largest index needs."};
static const words before_start = {
    "An index is negative, mostly in the first block, which has no left neighbour.",
    "Guard the access (`if (i >= distance)`), and note that unsigned differences never become negative."};
static const words size_of_call = {
    "The size of the call and that of the allocation differ, often because one counts elements and the other bytes.",
    "Give both in bytes: count * sizeof(element)."};
static const words host_variable = {"A global variable without __device__ is in host memory.",
                                    "Pass its value to the kernel, or declare it __device__ or __constant__."};
static const words unwritten_shared = {
    "Not every element of the array is written before it is read: a guard keeps some threads from it, or it has more "
    "elements than the block has threads.",
    "Let the threads of the block fill all of it, and put __syncthreads() before the first read."};
static const words unwritten_scalar = {
    "The variable was never written: no thread took the branch that does, or the read comes first.",
    "Let one thread set its first value (`if (threadIdx.x == 0)`), and put __syncthreads() after that, before the "
    "others use it."};
static const words unset_local = {
    "A local variable is read before it is set: each thread gets what its register or stack happens to hold.",
    "Give the variable a value where it is declared."};
static const words copy_and_barrier = {
    "There is no barrier between the copy and another thread's use of that memory: after the wait for the copy, or "
    "before a buffer is filled again.",
    "Put __syncthreads() between the two accesses: after the wait for the copy where other threads read what it "
    "brought, before the copy where others may still use what it overwrites."};
static const words one_statement = {
    "A barrier is missing between the write and the read, or several threads write to one location.",
    "Where all threads update one element, make the update one atomic operation, such as atomicAdd. Where they read "
    "each other's elements, read into a variable first, put __syncthreads() after "
    "that, "
    "then write; in a loop, put another barrier after the write."};
static const words one_statement_in_loop = {
    "An iteration of the loop reads what another thread wrote in an earlier one, and there is no barrier between them.",
    "Put __syncthreads() between the two accesses."};
static const words read_while_overwritten = {
    "A thread reads an element that another thread overwrites in the same statement.",
    "Read into a variable first, then write, and put __syncthreads() between the two "
    "accesses."};
static const words lost_update = {
    "Several threads update one element: each reads it, changes it and writes it back, and updates of others are lost.",
    "Make the update one atomic operation, such as atomicAdd, or give each thread an element of its own."};
static const words many_writers = {
    "Several threads write to one element, and any of them may be the last.",
    "Let one thread write it (`if (threadIdx.x == 0)`), or give each thread an element of its own; if all should add "
    "to it, use atomicAdd."};
static const words missing_barrier = {
    "A thread reads what another thread writes, and there is no barrier between them.",
    "Put __syncthreads() between the two accesses."};
static const words missing_barrier_in_branch = {
    "A thread reads what another thread writes, and there is no barrier between them.",
    "Put __syncthreads() between the two accesses; if only one warp takes the branch, put __syncwarp() inside it."};
static const words missing_barrier_at_atomic = {
    "Some threads use the memory atomically while others still set it or already read it.",
    "Put __syncthreads() between the two accesses."};
static const words beside_atomic = {
    "An atomic is safe beside other atomics only: a plain access of the same memory may come before, between or after.",
    "Put __syncthreads() between the two accesses, or make the plain access an atomic one, too: atomicAdd(address, 0) "
    "reads, atomicExch writes."};
static const words beside_atomic_of_block = {
    "An atomic is safe beside other atomics only: a plain access of the same memory may come before, between or after, "
    "and blocks run in any order.",
    "Make the plain access an atomic one, too (atomicAdd(address, 0) reads, atomicExch writes), or move it to a later "
    "launch. A block's barrier does not synchronise blocks."};
static const words endless_loop = {"Nothing that the loop's condition depends on changes any more.",
                                   "Make sure that each round changes what the condition tests."};
static const words pipeline_wait = {
    "A stage of the pipeline never becomes ready: a producer waits until every consumer has released it, a consumer "
    "until every producer has committed it.",
    "Let every consumer call consumer_release() after each consumer_wait(), and every producer producer_commit() after "
    "each producer_acquire(); there must be as many of both as make_pipeline was given."};
static const words barrier_wait = {
    "Fewer threads arrive at the barrier than it was made for, or all have arrived and the wait is for a later phase.",
    "Let as many threads arrive in each phase as init was given, and let one that leaves early call "
    "arrive_and_drop()."};

static bool is_role(const heddle_check_finding *finding, const char *role)
{
    return finding->place_count > 0 && strcmp(finding->places[0].role, role) == 0;
}

static bool is_in(const heddle_check_finding *finding, const char *space)
{
    return finding->memory && strcmp(finding->memory->space, space) == 0;
}

bool heddle_check_is_host_variable(const heddle_check_finding *finding)
{
    return finding->kind == HEDDLE_CHECK_HOST_POINTER && is_in(finding, "device variable") &&
           !heddle_check_says(finding, "a device variable by its name");
}

// Both places in one line, where there is no room for a barrier.
static bool is_one_statement(const heddle_check_finding *finding)
{
    const heddle_check_place *places = finding->places;
    return finding->place_count > 1 && places[0].frames > 0 && places[1].frames > 0 &&
           places[0].frame[0].line == places[1].frame[0].line &&
           strcmp(places[0].frame[0].file, places[1].frame[0].file) == 0;
}

static bool has_role(const heddle_check_finding *finding, const char *role)
{
    for (int i = 0; i < finding->place_count; i++)
        if (strcmp(finding->places[i].role, role) == 0)
            return true;
    return false;
}

// One access is atomic, the other plain.
static bool is_beside_atomic(const heddle_check_finding *finding)
{
    return has_role(finding, "atomic") && (has_role(finding, "read") || has_role(finding, "write"));
}

static const words *of_race(const heddle_check_finding *finding)
{
    if (is_beside_atomic(finding) && finding->order == HEDDLE_CHECK_ORDER_BARRIER)
        return &beside_atomic;
    if (is_beside_atomic(finding) && finding->order == HEDDLE_CHECK_ORDER_BLOCKS)
        return &beside_atomic_of_block;
    if (finding->order != HEDDLE_CHECK_ORDER_BARRIER)
        return &by_order[finding->order];
    if (is_one_statement(finding))
        return &one_statement;
    return heddle_check_says(finding, "asynchronous copy") ? &copy_and_barrier : NULL;
}

static const words *of_bounds(const heddle_check_finding *finding)
{
    // What a copy or fill from host code would have done.
    if (!finding->kernel && is_role(finding, "call") && !finding->places[0].has_thread)
        return &size_of_call;
    if (finding->memory && (finding->memory->offset < 0 || heddle_check_wrapped_index(finding->memory)))
        return &before_start;
    if (heddle_check_negative_index(finding))
        return &before_start;
    bool array = is_role(finding, "index") || is_in(finding, "shared") || is_in(finding, "device variable");
    return array ? &beyond_array : NULL;
}

static const words *of_unwritten(const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    if (!memory) // what the compiler has found
        return &unset_local;
    if (!is_in(finding, "shared"))
        return NULL;
    bool whole = memory->bytes > 0 && memory->bytes == memory->size && !memory->is_dynamic;
    return whole ? &unwritten_scalar : &unwritten_shared;
}

// A thread that waits in one of CUDA's own classes is in a loop that is not the user's.
static const words *of_wait(const heddle_check_finding *finding)
{
    if (is_role(finding, "loop"))
        return &endless_loop;
    const char *header = finding->place_count > 0 && finding->places[0].within ? finding->places[0].within : "";
    if (strstr(header, "/cuda/pipeline"))
        return &pipeline_wait;
    return strstr(header, "/cuda/barrier") || strstr(header, "awbarrier") ? &barrier_wait : NULL;
}

static const words *by_facts(const heddle_check_finding *finding)
{
    switch (finding->kind) {
    case HEDDLE_CHECK_RACE: return of_race(finding);
    case HEDDLE_CHECK_OUT_OF_BOUNDS: return of_bounds(finding);
    case HEDDLE_CHECK_UNINITIALISED: return of_unwritten(finding);
    case HEDDLE_CHECK_SPIN: return of_wait(finding);
    case HEDDLE_CHECK_HOST_POINTER: return heddle_check_is_host_variable(finding) ? &host_variable : NULL;
    case HEDDLE_CHECK_BARRIER_EXITED: return finding->reach ? &by_reach[finding->reach] : NULL;
    default: return NULL;
    }
}

// --- all of it -------------------------------------------------------------------------------------------------------

static words words_of(const heddle_check_finding *finding)
{
    const words *found = heddle_check_words_by_message(finding);
    found = found ? found : by_facts(finding);
    const heddle_check_kind_info *kind = &heddle_check_kinds[finding->kind];
    return found ? *found : (words){kind->cause, kind->cure};
}

// How the accesses of a line are written: s[i] += s[i + half] has two elements, an update of one is the same twice.
typedef enum element_count { ELEMENTS_UNKNOWN, ELEMENTS_ONE, ELEMENTS_TWO } element_count;

static element_count count_elements(heddle_check_sources *sources, const heddle_check_finding *finding)
{
    const heddle_check_place *one = &finding->places[0], *other = &finding->places[1];
    const char *line = heddle_check_sources_line(sources, one->frame[0].file, one->frame[0].line);
    if (!line || one->column == 0 || other->column == 0)
        return ELEMENTS_UNKNOWN;
    bool same =
        one->width == other->width && memcmp(line + one->column - 1, line + other->column - 1, (size_t)one->width) == 0;
    return same ? ELEMENTS_ONE : ELEMENTS_TWO;
}

static const words *of_statement(heddle_check_sources *sources, const heddle_check_finding *finding, bool placed)
{
    bool reads = has_role(finding, "read") || strstr(finding->note, "also seen as read") ||
                 strstr(finding->note, "also seen as write and read");
    switch (count_elements(sources, finding)) {
    case ELEMENTS_ONE: return reads ? &lost_update : &many_writers;
    case ELEMENTS_TWO: return placed ? &one_statement_in_loop : &read_while_overwritten;
    case ELEMENTS_UNKNOWN: break;
    }
    return &one_statement;
}

// What the lines of a race within a block add: where a barrier can stand between them, it is all that is wanting.
static const words *of_lines(heddle_check_sources *sources, const heddle_check_finding *finding, bool placed,
                             const char *place)
{
    bool within_block = finding->kind == HEDDLE_CHECK_RACE && finding->order == HEDDLE_CHECK_ORDER_BARRIER;
    if (!within_block || finding->place_count < 2 || heddle_check_says(finding, "asynchronous"))
        return NULL;
    if (is_beside_atomic(finding))
        return placed && is_in(finding, "shared") ? &missing_barrier_at_atomic : NULL;
    if (is_one_statement(finding))
        return of_statement(sources, finding, placed);
    bool reads = has_role(finding, "read") && has_role(finding, "write");
    if (!placed || !reads)
        return NULL;
    return heddle_check_says(finding, "same warp") && strstr(place, "branch") ? &missing_barrier_in_branch
                                                                              : &missing_barrier;
}

// The line in the function of a race that names a barrier and does not call it; 0: none.
static int uncalled_barrier(heddle_check_sources *sources, const heddle_check_finding *finding)
{
    bool wants = finding->kind == HEDDLE_CHECK_RACE && finding->order == HEDDLE_CHECK_ORDER_BARRIER &&
                 finding->place_count > 0 && finding->places[0].frames > 0;
    const heddle_check_frame *frame = wants ? &finding->places[0].frame[0] : NULL;
    const sim_source *source = frame ? heddle_check_sources_code(sources, frame->file) : NULL;
    int first = 0, last = 0;
    if (source)
        sim_tokens_on_line(&source->code, frame->line, &first, &last);
    int open = -1;
    for (; open < 0 && first < last; first++)
        open = sim_function_around(source, first);
    if (open < 0 || source->code.at[open].match < 0)
        return 0;
    return heddle_check_uncalled_barrier(source, source->code.at[open].line,
                                         source->code.at[source->code.at[open].match].line);
}

// A line that the programmer takes for a barrier is what to mend.
static bool settle_uncalled(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    char text[256];
    int line = finding->cure ? 0 : uncalled_barrier(sources, finding);
    if (line == 0)
        return false;
    snprintf(text, sizeof text, "Write __syncthreads() with parentheses in line %d.", line);
    finding->cause = "A barrier is named but not called: without parentheses it does nothing.";
    finding->cure = heddle_arena_copy_text(arena, text);
    return finding->cure != NULL;
}

// A barrier of a warp, where the threads are of different warps.
static bool settle_warp_barrier(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    char cause[256], cure[128];
    int line = finding->cure ? 0 : heddle_check_warp_barrier(sources, finding);
    if (line == 0)
        return false;
    snprintf(cause, sizeof cause,
             "__syncwarp() in line %d makes only the threads of one warp wait, and these two are in different warps.",
             line);
    snprintf(cure, sizeof cure, "Use __syncthreads() in line %d.", line);
    finding->cause = heddle_arena_copy_text(arena, cause);
    finding->cure = heddle_arena_copy_text(arena, cure);
    return finding->cause && finding->cure;
}

// For a barrier in the middle of one statement; false: all threads get there, as far as branches show it.
static bool name_branch(heddle_check_sources *sources, const heddle_check_finding *finding, char *text, size_t size)
{
    int line = heddle_check_branch_around(sources, &finding->places[0].frame[0]);
    if (line > 0)
        snprintf(text, size, "%s, outside the branch of line %d", vague, line);
    return line > 0;
}

void heddle_check_words_settle(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    char place[320], text[1024];
    if (settle_uncalled(finding, sources, arena) || settle_warp_barrier(finding, sources, arena))
        return;
    if (!finding->cure && !heddle_check_words_by_message(finding) && heddle_check_index_settle(finding, sources, arena))
        return;
    words found = words_of(finding);
    bool placed = heddle_check_barrier_place(sources, finding, place, sizeof place);
    const words *better = of_lines(sources, finding, placed, place);
    found = better ? *better : found;
    if (!placed && found.cure == read_while_overwritten.cure)
        placed = name_branch(sources, finding, place, sizeof place);
    finding->cause = finding->cause ? finding->cause : found.cause;
    const char *at = finding->cure ? NULL : strstr(found.cure, vague);
    finding->cure = finding->cure ? finding->cure : found.cure;
    if (!at || !placed)
        return;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - found.cure), found.cure, place, at + sizeof vague - 1);
    const char *copy = heddle_arena_copy_text(arena, text);
    finding->cure = copy ? copy : finding->cure;
}
