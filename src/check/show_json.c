// A result as one JSON document: everything the text says, and all lines of counters.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "check/describe.h"
#include "check/fidelity.h"
#include "check/show.h"
#include "check/wrong.h"
#include "heddle/heddle.h"

enum { VERSION = 2 }; // of this format; 2: "clean" is true only where something was checked and nothing found

static void add_triple(cJSON *object, const char *name, const int values[3])
{
    cJSON_AddItemToObject(object, name, cJSON_CreateIntArray(values, 3));
}

static cJSON *frame_json(const heddle_check_frame *frame, const char *function)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "file", frame->file);
    cJSON_AddNumberToObject(object, "line", frame->line);
    if (frame->function[0])
        cJSON_AddStringToObject(object, function, frame->function);
    return object;
}

// --- findings --------------------------------------------------------------------------------------------------------

static cJSON *place_json(const heddle_check_result *result, const heddle_check_place *place)
{
    cJSON *object = place->frames ? frame_json(&place->frame[0], "function") : cJSON_CreateObject();
    cJSON_AddStringToObject(object, "role", place->role);
    if (place->column > 0)
        cJSON_AddNumberToObject(object, "column", place->column);
    const char *source =
        place->frames ? heddle_check_sources_line(result->sources, place->frame[0].file, place->frame[0].line) : NULL;
    if (source)
        cJSON_AddStringToObject(object, "source", source);
    if (place->has_thread) {
        add_triple(object, "thread", place->thread);
        add_triple(object, "block", place->block);
    }
    cJSON *callers = place->frames > 1 ? cJSON_AddArrayToObject(object, "callers") : NULL;
    for (int i = 1; i < place->frames; i++)
        cJSON_AddItemToArray(callers, frame_json(&place->frame[i], "function"));
    return object;
}

static cJSON *memory_json(const heddle_check_finding *finding)
{
    const heddle_check_memory *memory = finding->memory;
    char sentence[HEDDLE_CHECK_SENTENCE];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "space", memory->space);
    cJSON_AddStringToObject(object, "name", memory->name);
    cJSON_AddNumberToObject(object, "bytes", (double)memory->bytes);
    cJSON_AddNumberToObject(object, "offset", (double)memory->offset);
    cJSON_AddNumberToObject(object, "size", (double)memory->size);
    cJSON_AddBoolToObject(object, "live", memory->live);
    if (memory->allocated.file[0])
        cJSON_AddItemToObject(object, "allocated", frame_json(&memory->allocated, "call"));
    if (memory->freed.file[0])
        cJSON_AddItemToObject(object, "freed", frame_json(&memory->freed, "call"));
    cJSON_AddStringToObject(object, "sentence", heddle_check_memory_sentence(finding, sentence, sizeof sentence));
    return object;
}

static void add_cell(cJSON *object, const char *name, const char *text)
{
    const double number = strtod(text, NULL), most_exact = 0x1p53; // readers of JSON round larger whole numbers
    char again[64], digits[64] = "";
    snprintf(again, sizeof again, "%.9g", number);
    if (fabs(number) <= most_exact)
        snprintf(digits, sizeof digits, "%.0f", number);
    // 1.50 and 1.5 are lines that differ
    if (isfinite(number) && (strcmp(text, again) == 0 || strcmp(text, digits) == 0))
        cJSON_AddNumberToObject(object, name, number);
    else
        cJSON_AddStringToObject(object, name, text);
}

static cJSON *wrong_json(const heddle_check_wrong *wrong)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddNumberToObject(object, "wrong", (double)wrong->wrong);
    cJSON_AddNumberToObject(object, "of", (double)wrong->of);
    cJSON_AddStringToObject(object, "inputs", wrong->inputs);
    cJSON_AddStringToObject(object, "pattern", wrong->pattern);
    cJSON *elements = cJSON_AddArrayToObject(object, "elements");
    for (int r = 0; r < wrong->row_count; r++) {
        cJSON *element = cJSON_CreateObject();
        for (int c = 0; c < wrong->column_count; c++)
            add_cell(element, wrong->columns[c], wrong->cells[r][c]);
        cJSON_AddItemToArray(elements, element);
    }
    return object;
}

// Some orders are run more than once.
static bool seen_before(const heddle_check_result *result, const heddle_check_finding *finding, int run)
{
    for (int i = 0; i < run; i++)
        if (result->runs[i] && finding->schedules >> i & 1 && result->runs[i]->schedule == result->runs[run]->schedule)
            return true;
    return false;
}

static cJSON *finding_json(const heddle_check_result *result, const heddle_check_finding *finding)
{
    char text[HEDDLE_CHECK_SENTENCE];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "kind", heddle_check_kinds[finding->kind].name);
    cJSON_AddStringToObject(object, "tier", heddle_check_tier_name(finding->tier));
    cJSON_AddStringToObject(object, "headline", heddle_check_headline(finding, text, sizeof text));
    cJSON_AddStringToObject(object, "message", finding->message);
    cJSON_AddStringToObject(object, "note", finding->note);
    cJSON_AddStringToObject(object, "cause", finding->cause);
    cJSON_AddStringToObject(object, "cure", finding->cure);
    cJSON_AddNumberToObject(object, "count", (double)finding->count);
    if (finding->kernel)
        cJSON_AddStringToObject(object, "kernel", finding->kernel);
    else
        cJSON_AddNullToObject(object, "kernel");
    if (finding->program)
        cJSON_AddStringToObject(object, "program", finding->program);
    cJSON *places = cJSON_AddArrayToObject(object, "places");
    for (int i = 0; i < finding->place_count; i++)
        cJSON_AddItemToArray(places, place_json(result, &finding->places[i]));
    if (finding->memory)
        cJSON_AddItemToObject(object, "memory", memory_json(finding));
    if (finding->wrong)
        cJSON_AddItemToObject(object, "result", wrong_json(finding->wrong));
    cJSON *schedules = cJSON_AddArrayToObject(object, "schedules");
    for (int i = 0; i < result->run_count; i++)
        if (result->runs[i] && finding->schedules >> i & 1 && !seen_before(result, finding, i))
            cJSON_AddItemToArray(schedules, cJSON_CreateNumber(result->runs[i]->schedule));
    return object;
}

// --- counters --------------------------------------------------------------------------------------------------------

static cJSON *line_json(const heddle_check_line *line)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "file", line->file);
    cJSON_AddNumberToObject(object, "line", line->line);
    cJSON_AddStringToObject(object, "access", line->access);
    cJSON_AddStringToObject(object, "space", line->space);
    cJSON_AddNumberToObject(object, "size", line->size);
    cJSON_AddNumberToObject(object, "requests", line->requests);
    cJSON_AddNumberToObject(object, "lanes", line->lanes);
    cJSON_AddNumberToObject(object, heddle_check_unit(line), line->units);
    cJSON_AddNumberToObject(object, "ideal", line->ideal);
    cJSON_AddNumberToObject(object, "excess_percent", heddle_check_excess(line));
    if (!line->worst)
        return object;
    cJSON *worst = cJSON_AddObjectToObject(object, "worst");
    cJSON_AddNumberToObject(worst, heddle_check_unit(line), line->worst->units);
    cJSON_AddNumberToObject(worst, "mask", line->worst->mask);
    cJSON_AddNumberToObject(worst, "lowest", (double)line->worst->lowest);
    cJSON *offsets = cJSON_AddArrayToObject(worst, "offsets");
    for (int lane = 0; lane < HEDDLE_CHECK_LANES; lane++)
        cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)line->worst->offsets[lane]));
    add_triple(worst, "block", line->worst->block);
    cJSON_AddNumberToObject(worst, "warp", line->worst->warp);
    return object;
}

// Only in a check that counted them.
static void add_branches(const heddle_check_result *result, const char *kernel, cJSON *object)
{
    cJSON *branches = result->branches ? cJSON_AddArrayToObject(object, "branches") : NULL;
    for (int k = 0; branches && k < result->branches->kernel_count; k++) {
        const heddle_check_kernel *counted = &result->branches->kernels[k];
        for (int i = 0; i < counted->branch_count && strcmp(counted->name, kernel) == 0; i++) {
            cJSON *branch = cJSON_CreateObject();
            cJSON_AddStringToObject(branch, "file", counted->branches[i].file);
            cJSON_AddNumberToObject(branch, "line", counted->branches[i].line);
            cJSON_AddNumberToObject(branch, "executions", counted->branches[i].executions);
            cJSON_AddNumberToObject(branch, "divergent", counted->branches[i].divergent);
            cJSON_AddItemToArray(branches, branch);
        }
    }
}

static cJSON *kernel_json(const heddle_check_result *result, const heddle_check_kernel *kernel)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "kernel", kernel->name);
    add_triple(object, "grid", kernel->grid);
    add_triple(object, "block", kernel->block);
    cJSON_AddNumberToObject(object, "shared", kernel->shared);
    cJSON_AddNumberToObject(object, "launches", kernel->launches);
    cJSON_AddNumberToObject(object, "repeated_launches", kernel->repeated);
    cJSON_AddNumberToObject(object, "accesses", kernel->accesses);
    cJSON_AddNumberToObject(object, "barriers", kernel->barriers);
    cJSON_AddNumberToObject(object, "threads", kernel->threads);
    cJSON_AddNumberToObject(object, "blocks", kernel->blocks);
    cJSON_AddNumberToObject(object, "watched_blocks", kernel->watched_blocks);
    cJSON *lines = cJSON_AddArrayToObject(object, "lines");
    for (int i = 0; i < kernel->line_count; i++)
        cJSON_AddItemToArray(lines, line_json(&kernel->lines[i]));
    add_branches(result, kernel->name, object);
    return object;
}

// --- fidelity --------------------------------------------------------------------------------------------------------

static cJSON *use_json(const heddle_check_use *use)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "name", use->name);
    cJSON_AddStringToObject(object, "why", heddle_check_fidelity_name(use->fidelity));
    cJSON_AddStringToObject(object, "file", use->file);
    cJSON_AddNumberToObject(object, "line", use->line);
    if (use->decides_line) {
        cJSON_AddStringToObject(object, "decides", use->decides);
        cJSON_AddNumberToObject(object, "decides_line", use->decides_line);
    }
    return object;
}

static void add_fidelity(const heddle_check_result *result, cJSON *json)
{
    cJSON *object = cJSON_AddObjectToObject(json, "fidelity");
    cJSON *approximate = cJSON_AddArrayToObject(object, "approximate");
    cJSON *not_simulated = cJSON_AddArrayToObject(object, "not_simulated");
    for (int i = 0; i < result->use_count; i++)
        cJSON_AddItemToArray(result->uses[i].fidelity < HEDDLE_CHECK_TIMING ? approximate : not_simulated,
                             use_json(&result->uses[i]));
}

// --- all of it -------------------------------------------------------------------------------------------------------

cJSON *heddle_check_json(const heddle_check_result *result)
{
    const heddle_check_report *first = result->run_count ? result->runs[0] : NULL;
    char text[HEDDLE_CHECK_SENTENCE];
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "version", VERSION);
    cJSON_AddStringToObject(json, "heddle", heddle_version());
    cJSON_AddStringToObject(json, "verdict", heddle_check_verdict(result, text, sizeof text));
    heddle_check_status status = heddle_check_status_of(result);
    cJSON_AddStringToObject(json, "status", heddle_check_status_name(status));
    cJSON_AddBoolToObject(json, "clean", status == HEDDLE_CHECK_CLEAN);
    cJSON_AddBoolToObject(json, "passed", !heddle_check_failed(result) && !result->unwritten);
    cJSON_AddBoolToObject(json, "built", result->built);
    cJSON_AddNumberToObject(json, "errors", result->errors);
    cJSON_AddNumberToObject(json, "warnings", result->warnings);
    cJSON_AddNumberToObject(json, "suppressed", result->suppressed);
    cJSON_AddNumberToObject(json, "exit_status", result->exit_status);
    cJSON_AddStringToObject(json, "nvcc", heddle_check_nvcc_name(result->nvcc));
    cJSON_AddStringToObject(json, "sandbox", result->sandbox ? result->sandbox : "off");
    cJSON_AddNumberToObject(json, "seconds", result->seconds);
    if (first)
        cJSON_AddStringToObject(json, "gpu", first->gpu);
    cJSON_AddNumberToObject(json, "runs", result->run_count);
    cJSON_AddNumberToObject(json, "watched", heddle_check_watched(result));
    if (result->messages)
        cJSON_AddStringToObject(json, "messages", result->messages);
    cJSON *findings = cJSON_AddArrayToObject(json, "findings");
    for (int i = 0; i < result->finding_count; i++)
        cJSON_AddItemToArray(findings, finding_json(result, result->findings[i]));
    cJSON *kernels = cJSON_AddArrayToObject(json, "kernels");
    for (int i = 0; first && i < first->kernel_count; i++)
        cJSON_AddItemToArray(kernels, kernel_json(result, &first->kernels[i]));
    cJSON *notes = cJSON_AddArrayToObject(json, "notes");
    for (int i = 0; i < result->note_count; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(result->notes[i]));
    add_fidelity(result, json);
    return json;
}
