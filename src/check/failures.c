// Calls and launches that fail: each is reported once, by the finding that says most; one that the program expects and
// handles is not a finding; and what only follows from a failure is left out until the failure is fixed.

#include "check/failures.h"

#include <stdio.h>
#include <string.h>

#include "check/describe.h"
#include "check/slips.h"

// --- an unchecked error goes with the call that made it -------------------------------------------------------------

static heddle_check_finding *reported_error(const heddle_check_result *result, const heddle_check_finding *unchecked)
{
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *other = result->findings[i];
        bool in_host_code = other->tier == HEDDLE_CHECK_ERROR && other->place_count > 0 && unchecked->place_count > 0 &&
                            other->places[0].frames > 0 && unchecked->places[0].frames > 0 &&
                            !other->places[0].has_thread;
        if (in_host_code && other->kind != HEDDLE_CHECK_UNCHECKED_ERROR && heddle_check_same_call(other, unchecked) &&
            other->places[0].frame[0].line == unchecked->places[0].frame[0].line &&
            strcmp(other->places[0].frame[0].file, unchecked->places[0].frame[0].file) == 0)
            return other;
    }
    return NULL;
}

static const char *with_unread(heddle_check_result *result, const char *message)
{
    static const char unread[] = "the program never checks the error";
    char text[1024];
    size_t length = strlen(message);
    bool asks = length > 0 && message[length - 1] == '?';
    if (strstr(message, unread))
        return message;
    snprintf(text, sizeof text, asks ? "%s (%s)" : "%s; %s", message, unread);
    const char *copy = heddle_arena_copy_text(result->arena, text);
    return copy ? copy : message;
}

static bool is_reported_elsewhere(heddle_check_result *result, const heddle_check_finding *finding)
{
    heddle_check_finding *reported =
        finding->kind == HEDDLE_CHECK_UNCHECKED_ERROR ? reported_error(result, finding) : NULL;
    if (reported)
        reported->message = with_unread(result, reported->message);
    return reported != NULL;
}

// An allocation that failed, of which the runtime does not say that the program looks at it.
static void settle_allocation(heddle_check_result *result, heddle_check_finding *finding)
{
    if (finding->kind != HEDDLE_CHECK_BAD_CALL || finding->tier != HEDDLE_CHECK_WARNING ||
        !strstr(finding->message, " fails with cudaErrorMemoryAllocation: "))
        return;
    finding->kind = HEDDLE_CHECK_UNCHECKED_ERROR;
    finding->message = with_unread(result, finding->message);
}

// --- failures that the program handles --------------------------------------------------------------------------

// The runtime says so of questions about the machine alone. A program that ends with a status of its own may have
// failed by the answer; otherwise it went on as it meant to.
static bool is_handled(heddle_check_result *result, const heddle_check_finding *finding)
{
    static const char mark[] = ", which the program looks at: ";
    const char *reason = finding->kind == HEDDLE_CHECK_BAD_CALL ? strstr(finding->message, mark) : NULL;
    bool went_on = result->exit_status == 0 || result->any_status;
    if (!reason || !went_on)
        return false;
    const heddle_check_place *place = finding->place_count ? &finding->places[0] : NULL;
    char where[1024] = "";
    if (place && place->frames)
        heddle_check_frame_text(&place->frame[0], where, sizeof where);
    return heddle_check_result_note(result, "%s%s%.*s (%s): the program checks that and goes on", where,
                                    where[0] ? ": " : "", (int)(reason - finding->message), finding->message,
                                    reason + sizeof mark - 1) == HEDDLE_OK;
}

// --- what follows from a failure -------------------------------------------------------------------------------------

// A call that would have written memory, and did not.
static bool leaves_unwritten(const heddle_check_finding *finding)
{
    static const char *const writers[] = {"cudaMemcpy", "cudaMemset", "cudaMalloc", "cudaLaunch", "cudaGraphLaunch"};
    if (finding->kind == HEDDLE_CHECK_BAD_LAUNCH)
        return true;
    bool of_library = finding->note && strstr(finding->note, " and does nothing");
    if (of_library && finding->kind == HEDDLE_CHECK_BAD_CALL)
        return true;
    if (finding->kind == HEDDLE_CHECK_OUT_OF_BOUNDS && strncmp(finding->message, "Thrust ", strlen("Thrust ")) == 0)
        return true;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (strncmp(finding->message, writers[i], strlen(writers[i])) == 0 && strstr(finding->message, " fails with "))
            return finding->kind != HEDDLE_CHECK_UNINITIALISED;
    return false;
}

// Work that did not wait for the copy or kernel that fills what it reads.
static bool same_memory(const heddle_check_finding *a, const heddle_check_finding *b)
{
    return a->memory && b->memory && strcmp(a->memory->name, b->memory->name) == 0 &&
           a->memory->bytes == b->memory->bytes && a->memory->allocated.line == b->memory->allocated.line;
}

static bool is_consequence(const heddle_check_result *result, const heddle_check_finding *finding)
{
    if (finding->kind != HEDDLE_CHECK_UNINITIALISED || finding->place_count == 0)
        return false;
    for (int i = 0; i < result->finding_count; i++) {
        const heddle_check_finding *other = result->findings[i];
        bool explains =
            leaves_unwritten(other) || (other->kind == HEDDLE_CHECK_MISSING_WAIT && same_memory(other, finding));
        if (explains && other->tier == HEDDLE_CHECK_ERROR) // a warning may be left as it is: nothing goes for it
            return true;
    }
    return false;
}

// A read that races with a write may come before it. Memory that no one else writes is another mistake.
static bool is_read_too_early(const heddle_check_result *result, const heddle_check_finding *finding)
{
    if (!strstr(finding->note, "write there only after they have read") ||
        finding->kind != HEDDLE_CHECK_UNINITIALISED || finding->place_count == 0 || finding->places[0].frames == 0)
        return false;
    const heddle_check_frame *read = &finding->places[0].frame[0];
    for (int i = 0; i < result->finding_count; i++) {
        const heddle_check_finding *race = result->findings[i];
        bool explains =
            race->kind == HEDDLE_CHECK_RACE && race->tier == HEDDLE_CHECK_ERROR && same_memory(race, finding);
        for (int p = 0; explains && p < race->place_count; p++) {
            const heddle_check_place *place = &race->places[p];
            if (place->frames > 0 && place->frame[0].line == read->line && strcmp(place->role, "write") != 0 &&
                strcmp(place->frame[0].file, read->file) == 0)
                return true;
        }
    }
    return false;
}

// A graph that is not there because the capture that was to make it failed.
static bool lacks_graph(const heddle_check_result *result, const heddle_check_finding *finding)
{
    static const char *const words[] = {"the capture was spoilt by an earlier error", "there is no such graph",
                                        "there is no such executable graph"};
    bool spoilt = false, spoils = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        spoilt |= finding->kind == HEDDLE_CHECK_BAD_CALL && strstr(finding->message, words[i]);
    for (int i = 0; i < result->finding_count && spoilt; i++)
        spoils |= strstr(result->findings[i]->message, "cudaErrorStreamCapture") != NULL &&
                  !strstr(result->findings[i]->message, words[0]);
    return spoils;
}

// Behind a barrier that threads do not reach together, the threads of a block are no longer in step: what else is found
// about barriers and order within its blocks follows from that.
static bool is_out_of_step(const heddle_check_result *result, const heddle_check_finding *finding)
{
    bool follows = finding->kind == HEDDLE_CHECK_BARRIER_EXITED ||
                   (finding->kind == HEDDLE_CHECK_RACE && finding->order == HEDDLE_CHECK_ORDER_BARRIER);
    for (int i = 0; i < result->finding_count && follows && finding->kernel; i++) {
        const heddle_check_finding *other = result->findings[i];
        bool divergent = other->kind == HEDDLE_CHECK_BARRIER_DIVERGENT && other->tier == HEDDLE_CHECK_ERROR;
        if (divergent && other->kernel && strcmp(other->kernel, finding->kernel) == 0)
            return true;
    }
    return false;
}

// Lanes that met in different operations are out of step, too, within their warp.
static bool is_behind_mismatch(const heddle_check_result *result, const heddle_check_finding *finding)
{
    bool follows = (finding->kind == HEDDLE_CHECK_WARP_MASK && finding->tier == HEDDLE_CHECK_WARNING) ||
                   (finding->kind == HEDDLE_CHECK_RACE && finding->order == HEDDLE_CHECK_ORDER_BARRIER);
    for (int i = 0; i < result->finding_count && follows && finding->kernel; i++) {
        const heddle_check_finding *other = result->findings[i];
        if (other->kind == HEDDLE_CHECK_WARP_MISMATCH && other->kernel && strcmp(other->kernel, finding->kernel) == 0)
            return true;
    }
    return false;
}

// A kernel that is called like a function runs on the host: what it does there is no fault of its own.
static bool is_kernel_on_host(const heddle_check_result *result, const heddle_check_finding *finding)
{
    bool of_host = !finding->kernel && finding->place_count > 0 && finding->places[0].frames > 0;
    for (int i = 0; i < result->finding_count && of_host; i++)
        if (heddle_check_is_plain_call(result->findings[i], finding->places[0].frame[0].function))
            return finding->kind == HEDDLE_CHECK_DEVICE_POINTER || finding->kind == HEDDLE_CHECK_DIED;
    return false;
}

// A program that gives up frees nothing any more.
static bool is_early_exit_leak(const heddle_check_result *result, const heddle_check_finding *finding)
{
    return finding->kind == HEDDLE_CHECK_LEAK && result->exit_status != 0 && !result->any_status;
}

// Takes out those that a test picks, of which none asks about another that it picks; says how many.
static int drop(heddle_check_result *result,
                bool (*picks)(const heddle_check_result *result, const heddle_check_finding *finding))
{
    int dropped = 0;
    for (int i = 0; i < result->finding_count;) {
        if (!picks(result, result->findings[i])) {
            i++;
            continue;
        }
        result->finding_count--;
        memmove(&result->findings[i], &result->findings[i + 1],
                (size_t)(result->finding_count - i) * sizeof *result->findings);
        dropped++;
    }
    return dropped;
}

static void drop_consequences(heddle_check_result *result)
{
    drop(result, is_kernel_on_host);
    int dropped = drop(result, is_consequence);
    if (dropped > 0)
        heddle_check_result_note(result,
                                 "left out: %d finding%s about uninitialised memory, which may follow from the call or "
                                 "launch that failed or was not waited for; fix that and check again",
                                 dropped, dropped == 1 ? "" : "s");
    dropped = drop(result, is_read_too_early);
    if (dropped > 0)
        heddle_check_result_note(
            result,
            "left out: %d finding%s about uninitialised memory, which may follow from the race; fix "
            "that and check again",
            dropped, dropped == 1 ? "" : "s");
    dropped = drop(result, lacks_graph);
    if (dropped > 0)
        heddle_check_result_note(result, "left out: %d call%s that failed because there is no graph", dropped,
                                 dropped == 1 ? "" : "s");
    dropped = drop(result, is_out_of_step);
    if (dropped > 0)
        heddle_check_result_note(result,
                                 "left out: %d finding%s about races or barriers, which may follow from the divergent "
                                 "barrier; fix that and check again",
                                 dropped, dropped == 1 ? "" : "s");
    dropped = drop(result, is_behind_mismatch);
    if (dropped > 0)
        heddle_check_result_note(
            result,
            "left out: %d finding%s about races or masks, which may follow from the lanes that wait "
            "in different operations; fix that and check again",
            dropped, dropped == 1 ? "" : "s");
    dropped = drop(result, is_early_exit_leak);
    if (dropped > 0)
        heddle_check_result_note(result, "left out: %d memory leak%s of a program that exited early", dropped,
                                 dropped == 1 ? "" : "s");
}

void heddle_check_failures_settle(heddle_check_result *result)
{
    int kept = 0;
    for (int i = 0; i < result->finding_count; i++) {
        heddle_check_finding *finding = result->findings[i];
        settle_allocation(result, finding);
        bool out = is_reported_elsewhere(result, finding) || is_handled(result, finding);
        if (!out)
            result->findings[kept++] = finding;
    }
    result->finding_count = kept;
    drop_consequences(result);
}
