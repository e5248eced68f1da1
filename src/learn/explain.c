// Findings of the simulator, told as a teacher would: who did what to which element, at which line.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/describe.h"
#include "learn/judging.h"

// --- threads and memory ----------------------------------------------------------------------------------------------

// Of the launches of its kernel: 1, 2 or 3.
static int dimensions_of(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_result *result = judging->result;
    int most = 1;
    for (int k = 0; finding->kernel && result->run_count > 0 && k < result->runs[0]->kernel_count; k++) {
        const heddle_check_kernel *kernel = &result->runs[0]->kernels[k];
        int own = strcmp(kernel->name, finding->kernel) == 0 ? heddle_learn_dimensions(kernel) : 1;
        most = own > most ? own : most;
    }
    for (int i = 0; i < finding->place_count; i++) {
        const heddle_check_place *place = &finding->places[i];
        int own = place->thread[2] + place->block[2] > 0 ? 3 : place->thread[1] + place->block[1] > 0 ? 2 : 1;
        most = own > most ? own : most;
    }
    return most;
}

// "thread 31 of block 0", "thread (3,0) of block (1,2)"; "" in host code.
static const char *who(const heddle_learn_judging *judging, const heddle_check_finding *finding,
                       const heddle_check_place *place)
{
    const int *thread = place->thread, *block = place->block;
    const char *text = place->has_thread
                           ? heddle_learn_format(judging->verdict->arena, "thread (%d,%d,%d) of block (%d,%d,%d)",
                                                 thread[0], thread[1], thread[2], block[0], block[1], block[2])
                           : NULL;
    return text ? heddle_learn_short_indices(judging, text, dimensions_of(judging, finding)) : "";
}

// The source of an access: "in[i + 1]"; "" where it is not known.
static const char *expression(const heddle_learn_judging *judging, const heddle_check_place *place)
{
    const char *line = place->frames > 0 && place->column > 0 && place->width > 0
                           ? heddle_check_sources_line(judging->sources, place->frame[0].file, place->frame[0].line)
                           : NULL;
    if (!line || (int)strlen(line) < place->column - 1 + place->width)
        return "";
    const char *text = heddle_learn_format(judging->verdict->arena, "`%.*s`", place->width, line + place->column - 1);
    return text ? text : "";
}

// "the array", "`tile`"
static const char *array_name(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const char *name = finding->parameter && finding->parameter[0] ? finding->parameter : finding->memory->name;
    const char *text = name && name[0] ? heddle_learn_format(judging->verdict->arena, "`%s`", name) : "the array";
    return text ? text : "the array";
}

static bool has_elements(const heddle_check_memory *memory)
{
    return memory && memory->size > 0 && memory->bytes > 0 && memory->offset % memory->size == 0 &&
           memory->bytes % memory->size == 0;
}

// Elements that are larger than those it was allocated for, such as float4: the last one is not whole.
static bool is_cut(const heddle_check_memory *memory)
{
    return memory && memory->size > 0 && memory->bytes > 0 && memory->offset >= 0 &&
           memory->offset % memory->size == 0 && memory->bytes % memory->size != 0;
}

static const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}

// Adds a text of the simulator's as a whole sentence.
static void add_sentence(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                         const heddle_check_finding *finding, const char *text)
{
    const char *clean =
        text ? heddle_learn_short_indices(judging, heddle_learn_clean(judging, text), dimensions_of(judging, finding))
             : "";
    size_t length = strlen(clean);
    if (length == 0)
        return;
    bool stops = strchr(".:!?", clean[length - 1]) != NULL;
    bool code = strncmp(clean, "cuda", 4) == 0 || clean[0] == '_';
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT, "%c%s%s",
                          code ? clean[0] : toupper((unsigned char)clean[0]), clean + 1, stops ? "" : ".");
}

// Which element was meant, how many there are, and by how much it missed.
static void tell_bounds(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                        const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    const char *meant = finding->place_count > 0 ? expression(judging, &finding->places[0]) : "";
    heddle_learn_verdict *verdict = judging->verdict;
    if (is_cut(memory)) {
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT,
                              "%s is element %lld of %lld bytes here. The array has %lld bytes, which is %lld whole "
                              "element%s of that size.",
                              meant[0] ? meant : "This", memory->offset / memory->size, memory->size, memory->bytes,
                              memory->bytes / memory->size, plural(memory->bytes / memory->size));
        return;
    }
    if (!has_elements(memory)) {
        add_sentence(judging, reason, finding, finding->message);
        long long negative = heddle_check_negative_index(finding);
        if (negative)
            heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT,
                                  "This is what %lld looks like as an unsigned number: the index is below 0.",
                                  negative);
        char sentence[HEDDLE_CHECK_SENTENCE];
        heddle_check_memory_sentence(finding, sentence, sizeof sentence);
        if (sentence[0] && !(memory && memory->bytes == 0)) // the message says that
            heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT, "The memory: %s.",
                                  heddle_learn_clean(judging, sentence));
        return;
    }
    long long index = memory->offset / memory->size, count = memory->bytes / memory->size;
    long long wrapped = heddle_check_wrapped_index(memory);
    const char *numbers = count > 1 ? heddle_learn_format(verdict->arena, "0 to %lld", count - 1) : "number 0";
    if (wrapped) {
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT,
                              "%s has the index %lld here, which is %lld as an unsigned number. %s has %lld element%s, "
                              "%s: this is before "
                              "its start.",
                              meant[0] ? meant : "This", wrapped, index, array_name(judging, finding), count,
                              plural(count), numbers);
        return;
    }
    long long missed = index < 0 ? -index : index - count + 1;
    heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT,
                          "%s is element %lld of %s here. It has %lld element%s of %lld byte%s, %s: this is %lld "
                          "element%s %s.",
                          meant[0] ? meant : "This", index, array_name(judging, finding), count, plural(count),
                          memory->size, plural(memory->size), numbers, missed, plural(missed),
                          index < 0 ? "before its start" : "past its end");
}

// "element 3 of `tile`, which has 32"; "" where that is not known.
static const char *element(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    if (!has_elements(memory))
        return "";
    long long count = memory->bytes / memory->size;
    const char *text =
        heddle_learn_format(judging->verdict->arena, "element %lld of %s, which has %lld element%s",
                            memory->offset / memory->size, array_name(judging, finding), count, plural(count));
    return text ? text : "";
}

// --- findings --------------------------------------------------------------------------------------------------------

// What happens at a place: "thread 1 of block 0 writes", "freed here".
static const char *doing(const heddle_learn_judging *judging, const heddle_check_finding *finding,
                         const heddle_check_place *place)
{
    static const struct {
        const char *role, *by_thread, *by_host;
    } words[] = {
        {"read", "reads", "host code reads"},
        {"write", "writes", "host code writes"},
        {"volatile read", "reads (volatile)", "host code reads"},
        {"volatile write", "writes (volatile)", "host code writes"},
        {"barrier", "waits here", "waits here"},
        {"loop", "loops here", "loops here"},
        {"call", "is at this call", "this call"},
        {"atomic", "updates it atomically", "atomic"},
        {"freed", "frees it", "freed here"},
        {"allocated", "allocates it", "allocated here"},
        {"launch", "launches it", "launched here"},
    };
    const char *thread = who(judging, finding, place);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(place->role, words[i].role) == 0)
            return thread[0] ? heddle_learn_format(judging->verdict->arena, "%s %s", thread, words[i].by_thread)
                             : words[i].by_host;
    return thread[0] ? heddle_learn_format(judging->verdict->arena, "%s: %s", place->role, thread)
                     : heddle_arena_copy_text(judging->verdict->arena, place->role);
}

static bool is_quoted(const heddle_learn_reason *reason, int line)
{
    for (int i = 0; i < reason->item_count; i++)
        if (reason->items[i].kind == HEDDLE_LEARN_CODE && reason->items[i].line == line)
            return true;
    return false;
}

static void quote_places(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                         const heddle_check_finding *finding)
{
    for (int i = 0; i < finding->place_count; i++) {
        const heddle_check_place *place = &finding->places[i];
        const char *about = doing(judging, finding, place);
        heddle_learn_quote(judging, reason, place, about ? about : "");
    }
    const heddle_check_memory *memory = finding->memory;
    if (!memory)
        return;
    heddle_check_place allocated = {.frame = {memory->allocated}, .frames = 1};
    heddle_check_place freed = {.frame = {memory->freed}, .frames = 1};
    if (heddle_learn_is_learners(judging, memory->allocated.file) && !is_quoted(reason, memory->allocated.line))
        heddle_learn_quote(judging, reason, &allocated, "allocated here");
    if (heddle_learn_is_learners(judging, memory->freed.file) && !is_quoted(reason, memory->freed.line))
        heddle_learn_quote(judging, reason, &freed, "freed here");
}

static void tell_race(const heddle_learn_judging *judging, heddle_learn_reason *reason,
                      const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    const char *which = element(judging, finding);
    bool indexed = has_elements(memory) && memory->bytes > memory->size;
    if (heddle_learn_is_same_index(finding) && indexed) {
        heddle_learn_add_item(
            judging->verdict, reason, HEDDLE_LEARN_TEXT,
            "Two threads computed the same index, %lld. Should each have its own? Check how the index "
            "is computed.",
            memory->offset / memory->size);
        return;
    }
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT,
                          "Both touch %s. Nothing makes one wait for the other, so the result depends on which comes "
                          "first.",
                          which[0] ? which : "the same memory");
    if (!heddle_learn_is_early(judging) || !strstr(finding->note, "__syncwarp"))
        add_sentence(judging, reason, finding, finding->note);
}

static void tell_timeout(const heddle_learn_judging *judging, heddle_learn_reason *reason)
{
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_TEXT,
                          "It was still running after %g seconds and was stopped. Solutions of this exercise need far "
                          "less than a second.",
                          judging->rules->seconds);
    heddle_learn_add_item(judging->verdict, reason, HEDDLE_LEARN_ADVICE,
                          "Look for a loop that never ends, or one that does much more work than the array has "
                          "elements.");
}

// Whether the message of the finding says already what its cause would say again.
static bool says_cause(const heddle_check_finding *finding)
{
    switch (finding->kind) {
    case HEDDLE_CHECK_LEAK:
    case HEDDLE_CHECK_BAD_LAUNCH:
    case HEDDLE_CHECK_DEVICE_POINTER:
    case HEDDLE_CHECK_HOST_POINTER: return true;
    case HEDDLE_CHECK_BAD_CALL: return strstr(finding->message, "without quotes") != NULL;
    case HEDDLE_CHECK_INVALID_FREE: return strstr(finding->message, "free it with") != NULL;
    case HEDDLE_CHECK_MISSING_WAIT: return strstr(finding->message, "without waiting") != NULL;
    case HEDDLE_CHECK_SPIN: return finding->place_count > 0 && strcmp(finding->places[0].role, "loop") == 0;
    default: return false;
    }
}

static void tell(const heddle_learn_judging *judging, heddle_learn_reason *reason, const heddle_check_finding *finding)
{
    heddle_learn_verdict *verdict = judging->verdict;
    const char *which = element(judging, finding);
    switch (finding->kind) {
    case HEDDLE_CHECK_RACE: tell_race(judging, reason, finding); break;
    case HEDDLE_CHECK_OUT_OF_BOUNDS: tell_bounds(judging, reason, finding); break;
    case HEDDLE_CHECK_TIMEOUT: tell_timeout(judging, reason); return;
    case HEDDLE_CHECK_UNINITIALISED:
        if (which[0])
            heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_TEXT, "It reads %s, before anything was written there.",
                                  which);
        else
            add_sentence(judging, reason, finding, finding->message);
        break;
    case HEDDLE_CHECK_UNSUPPORTED:
        if (strstr(finding->message, "cudaDeviceSynchronize in a kernel")) {
            add_sentence(judging, reason, finding, finding->cause);
            break;
        } // fall through
    default:
        add_sentence(judging, reason, finding, finding->message);
        add_sentence(judging, reason, finding, finding->note);
        if (!says_cause(finding))
            add_sentence(judging, reason, finding, finding->cause);
    }
    const char *advice = heddle_learn_advice(judging, finding);
    if (advice && advice[0])
        heddle_learn_add_item(verdict, reason, HEDDLE_LEARN_ADVICE, "%s", heddle_learn_clean(judging, advice));
}

static const char *tag_of(heddle_check_kind kind)
{
    return kind == HEDDLE_CHECK_DIED ? "crash" : heddle_check_kinds[kind].name;
}

static int rank_of(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    if (heddle_learn_follows(judging, finding))
        return HEDDLE_LEARN_RANK_FOLLOWS;
    // Two threads at one element mostly mean that another one has none, even if they write the same value.
    bool grave = finding->tier == HEDDLE_CHECK_ERROR || heddle_learn_is_same_index(finding);
    return grave ? HEDDLE_LEARN_RANK_ERROR : HEDDLE_LEARN_RANK_WARNING;
}

static bool is_header(const heddle_learn_judging *judging, const char *file)
{
    return file && strncmp(file, judging->include, strlen(judging->include)) == 0;
}

// The case in which it was first seen; "": not known, as of a leak, which shows only at the end.
static const char *case_of(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    bool known = finding->part && finding->kind != HEDDLE_CHECK_LEAK;
    return known ? heddle_learn_printable(judging->verdict->arena, finding->part) : "";
}

// A name as code: a kernel may be called `copy`, an array `in`.
static const char *as_code(const heddle_learn_judging *judging, const char *name)
{
    const char *quoted = name && name[0] ? heddle_learn_format(judging->verdict->arena, "`%s`", name) : NULL;
    return quoted ? quoted : name;
}

static void write_headline(const heddle_learn_judging *judging, const heddle_check_finding *finding, char *text,
                           size_t size)
{
    heddle_check_finding quoted = *finding;
    heddle_check_memory memory;
    quoted.kernel = as_code(judging, finding->kernel);
    quoted.parameter = as_code(judging, finding->parameter);
    if (finding->memory) {
        memory = *finding->memory;
        memory.name = as_code(judging, memory.name);
        quoted.memory = &memory;
    }
    heddle_check_headline(&quoted, text, size);
}

static heddle_learn_reason *explain(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    char headline[HEDDLE_CHECK_SENTENCE];
    if (finding->kind == HEDDLE_CHECK_TIMEOUT)
        snprintf(headline, sizeof headline, "it did not end within %g s", judging->rules->seconds);
    else
        write_headline(judging, finding, headline, sizeof headline);
    heddle_learn_reason *reason =
        heddle_learn_add_reason(judging->verdict, tag_of(finding->kind), rank_of(judging, finding), "%s", headline);
    reason->in_case = case_of(judging, finding);
    quote_places(judging, reason, finding);
    tell(judging, reason, finding);
    return reason;
}

// NULL: an error of the compiler.
static heddle_learn_reason *explain_known(const heddle_learn_judging *judging, const heddle_check_finding *finding)
{
    const heddle_check_frame *frame = finding->place_count > 0 ? &finding->places[0].frame[0] : NULL;
    heddle_check_finding known = *finding;
    heddle_check_memory memory;
    // Memory that the judge allocates has a name there that a learner does not know; the kernel's parameter has one.
    if (finding->memory && is_header(judging, finding->memory->allocated.file)) {
        memory = *finding->memory;
        memory.name = finding->parameter ? finding->parameter : "";
        known.memory = &memory;
        known.parameter = NULL;
    }
    if (finding->kind != HEDDLE_CHECK_NOT_BUILT)
        return explain(judging, &known);
    heddle_learn_explain_error(judging, frame ? frame->file : "", frame ? frame->line : 0, frame ? frame->column : 0,
                               finding->message);
    return NULL;
}

void heddle_learn_explain_findings(const heddle_learn_judging *judging)
{
    enum { MOST_LEADERS = 32 };
    struct {
        const heddle_check_finding *finding;
        heddle_learn_reason *reason;
        int others; // with the same cause
    } leaders[MOST_LEADERS];
    int count = 0;
    for (int i = 0; i < judging->result->finding_count; i++) {
        const heddle_check_finding *finding = judging->result->findings[i];
        int leader = 0;
        while (leader < count && !heddle_learn_same_cause(leaders[leader].finding, finding))
            leader++;
        if (leader < count) {
            leaders[leader].others++;
            continue;
        }
        heddle_learn_reason *reason = explain_known(judging, finding);
        if (reason)
            reason->finding = i;
        if (reason && count < MOST_LEADERS) {
            leaders[count].finding = finding;
            leaders[count].reason = reason;
            leaders[count++].others = 0;
        }
    }
    for (int i = 0; i < count; i++)
        if (leaders[i].others > 0)
            heddle_learn_add_item(judging->verdict, leaders[i].reason, HEDDLE_LEARN_TEXT,
                                  "And %d more pair%s of accesses, mended by the same %s.", leaders[i].others,
                                  plural(leaders[i].others),
                                  leaders[i].finding->order == HEDDLE_CHECK_ORDER_BARRIER &&
                                          !heddle_learn_is_same_index(leaders[i].finding)
                                      ? "barrier"
                                      : "change");
}
