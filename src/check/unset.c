// Local variables are in registers and on stacks, which nothing watches. But a result that is one if all of them begin
// as 0, and another if they begin with other bits, is made of one that was never set.

#include "check/unset.h"

#include <stdio.h>
#include <string.h>

#include "check/copies.h"
#include "check/explain.h"
#include "check/first_use.h"
#include "check/order.h"

// Two programs, and two runs of each, in turn: what time or chance decides does not change between the two programs
// and then change back.
enum { ZEROED, FILLED, ZEROED_AGAIN, FILLED_AGAIN, RUNS };

enum { TEXT_SIZE = 1200 };

// Watched accesses of a run that may be repeated so often: it takes a second or two.
static const double most_accesses = 200e6;

typedef struct unset_look {
    heddle_check_state *state;
    int copy; // the first that differs, from 0; -1: not known yet
    char program[2][HEDDLE_CHECK_PATH];
    char bytes[HEDDLE_CHECK_PATH]; // of the copy, in the run that is compared with
    heddle_check_report *runs[RUNS];
} unset_look;

static bool is_suspected(const heddle_check_state *state)
{
    const heddle_check_result *result = state->result;
    if (result->unrepeatable || result->run_count == 0 || result->runs[0]->accesses > most_accesses ||
        heddle_check_result_explains_difference(result))
        return false;
    bool found = result->suspected > 0 || result->changing > 0;
    for (int i = 0; i < result->finding_count; i++)
        found |= result->findings[i]->kind == HEDDLE_CHECK_ORDER_DEPENDENT;
    if (found || !state->sources)
        return found;
    heddle_check_own_files files = heddle_check_own_files_read(result->sources, (const char *const *)state->sources);
    return heddle_check_first_use_reads(&files);
}

static heddle_status build(unset_look *look, const char *const *sources, bool *fine)
{
    static const char *const values[] = {"zero", "pattern"};
    heddle_check_state *state = look->state;
    *fine = true;
    for (int i = 0; i < 2 && *fine; i++) {
        heddle_check_folder_path(&state->outer, values[i], look->program[i], sizeof look->program[i]);
        HEDDLE_TRY(
            heddle_check_build_filled(state->options, sources, &state->folder, look->program[i], values[i], fine));
    }
    return HEDDLE_OK;
}

static heddle_status run(unset_look *look, int which)
{
    heddle_check_state *state = look->state;
    char program[HEDDLE_CHECK_PATH], asked[HEDDLE_CHECK_PATH + 64] = "";
    if (look->copy >= 0)
        snprintf(asked, sizeof asked, "%s:%s", look->runs[ZEROED]->copies[look->copy].by, look->bytes);
    snprintf(program, sizeof program, "%s", state->program);
    snprintf(state->program, sizeof state->program, "%s", look->program[which % 2]);
    heddle_status status = heddle_check_run_beside(state, which, asked[0] ? asked : NULL, &look->runs[which]);
    snprintf(state->program, sizeof state->program, "%s", program);
    return status;
}

// The first copy that differs between the two programs.
static bool find_copy(unset_look *look)
{
    const heddle_check_report *zeroed = look->runs[ZEROED], *filled = look->runs[FILLED];
    heddle_check_difference found;
    if (!zeroed || !filled || zeroed->copies_in_any_order || filled->copies_in_any_order ||
        zeroed->copy_count != filled->copy_count || !heddle_check_copies_differ(zeroed, filled, NULL, &found) ||
        found.first != found.other || found.first >= zeroed->copy_count || !zeroed->copies[found.first].by[0])
        return false;
    look->copy = found.first;
    return true;
}

// Padding of a structure changes as well, and is no mistake: the store must be of a number.
static const heddle_check_finding *number_that_changed(const unset_look *look)
{
    static const char *const numbers[] = {
        "float",   "double",  "int",    "unsigned", "long",     "short",         "char",    "bool",
        "half",    "__half",  "half2",  "__half2",  "size_t",   "int8_t",        "int16_t", "int32_t",
        "int64_t", "uint8_t", "float2", "uint16_t", "uint32_t", "uint64_t",      "float4",  "double2",
        "int2",    "int4",    "uchar4", "uint4",    "uint",     "__nv_bfloat16", "float3",  NULL};
    const heddle_check_report *report = look->runs[FILLED_AGAIN];
    for (int i = 0; i < report->finding_count; i++) {
        const heddle_check_finding *finding = &report->findings[i];
        if (finding->kind == HEDDLE_CHECK_ORDER_DEPENDENT && finding->place_count == 2 &&
            heddle_check_has_type(finding, &finding->places[1], look->state->result->sources, numbers))
            return finding;
    }
    return NULL;
}

// *changed: in the runs of both programs, each of which repeats.
static heddle_status compare(unset_look *look, const heddle_check_finding **changed)
{
    HEDDLE_TRY(run(look, ZEROED));
    HEDDLE_TRY(run(look, FILLED));
    if (!find_copy(look))
        return HEDDLE_OK;
    for (int i = ZEROED_AGAIN; i < RUNS; i++) {
        HEDDLE_TRY(run(look, i));
        if (!look->runs[i] || !heddle_check_copy_repeats(look->runs[i - 2], look->runs[i], look->copy))
            return HEDDLE_OK;
    }
    *changed = number_that_changed(look);
    if (!*changed && look->state->result->changing == look->copy + 1) // padding explains it
        heddle_check_order_explained(look->state->result, NULL);
    return HEDDLE_OK;
}

static heddle_status report(unset_look *look, const heddle_check_finding *changed)
{
    heddle_check_result *result = look->state->result;
    heddle_check_finding finding = *changed;
    char text[TEXT_SIZE];
    const char *values = strstr(finding.message, ", which is "); // of the bits, which say nothing
    snprintf(text, sizeof text,
             "A local variable, or an element or member of one, is read before it is set: if all that were never set "
             "begin with other bits than 0, copy number %d to the host differs in %.*s.",
             look->copy + 1, (int)(values ? values - finding.message : TEXT_SIZE), finding.message);
    finding.kind = HEDDLE_CHECK_UNINITIALISED;
    finding.memory = NULL; // it is not this memory that was never set
    finding.message = heddle_arena_copy_text(result->arena, text);
    if (!finding.message)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the findings");
    heddle_check_order_explained(result, &finding);
    result->unset = look->runs[FILLED_AGAIN]; // whose strings the finding uses
    look->runs[FILLED_AGAIN] = NULL;
    return heddle_check_result_add_finding(result, &finding);
}

heddle_status heddle_check_unset_look(heddle_check_state *state, const char *const *sources)
{
    heddle_check_result *result = state->result;
    unset_look look = {.state = state, .copy = -1};
    const heddle_check_finding *changed = NULL;
    bool fine = false;
    if (!is_suspected(state))
        return HEDDLE_OK;
    heddle_check_folder_path(&state->folder, "unset", look.bytes, sizeof look.bytes);
    heddle_status status = build(&look, sources, &fine);
    if (status == HEDDLE_OK && fine)
        status = compare(&look, &changed);
    if (status == HEDDLE_OK && changed)
        status = report(&look, changed);
    else if (status == HEDDLE_OK && result->suspected > 0 && result->changing > 0)
        status = heddle_check_order_suspect(result);
    for (int i = 0; i < RUNS; i++)
        heddle_check_report_free(look.runs[i]);
    return status;
}
