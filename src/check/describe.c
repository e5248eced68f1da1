// Findings and counters in words.

#include "check/describe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "check/words.h"

enum { PATH_SIZE = 512 };

const char *heddle_check_tier_name(heddle_check_tier tier)
{
    return tier == HEDDLE_CHECK_ERROR ? "error" : "warning";
}

// --- places ----------------------------------------------------------------------------------------------------------

const char *heddle_check_frame_text(const heddle_check_frame *frame, char *text, size_t size)
{
    char path[PATH_SIZE];
    heddle_check_short_path(frame->file, path, sizeof path);
    if (frame->line > 0)
        snprintf(text, size, "%s:%d", path, frame->line);
    else
        snprintf(text, size, "%s", path);
    return text;
}

const char *heddle_check_thread_text(const heddle_check_place *place, char *text, size_t size)
{
    text[0] = '\0';
    if (place->has_thread)
        snprintf(text, size, "block (%d,%d,%d) thread (%d,%d,%d)", place->block[0], place->block[1], place->block[2],
                 place->thread[0], place->thread[1], place->thread[2]);
    return text;
}

// --- memory ----------------------------------------------------------------------------------------------------------

// "shared memory", "device variable"
static const char *space_text(const char *space, char *text, size_t size)
{
    bool complete = strstr(space, "variable") || strstr(space, "heap") || space[0] == '\0';
    bool unknown = strcmp(space, "unknown") == 0;
    snprintf(text, size, "%s%s", unknown ? "" : space,
             complete  ? (space[0] ? "" : "memory")
             : unknown ? "memory"
                       : " memory");
    return text;
}

// The report calls every variable of the program one of the device's; calls that leave a host's own say so.
static const char *memory_text(const heddle_check_finding *finding, char *text, size_t size)
{
    bool hosts =
        heddle_check_is_host_variable(finding) || strstr(finding->message, " past the end of the variable of ");
    return hosts ? "host variable" : space_text(finding->memory->space, text, size);
}

long long heddle_check_wrapped_index(const heddle_check_memory *memory)
{
    const long long all = 1LL << 32, index = memory->size > 0 ? memory->offset / memory->size : 0;
    return index >= all / 2 && index < all ? index - all : 0;
}

long long heddle_check_negative_index(const heddle_check_finding *finding)
{
    static const char lead[] = "index ";
    const long long all = 1LL << 32;
    long long index =
        strncmp(finding->message, lead, strlen(lead)) == 0 && strstr(finding->message, " outside the bounds ")
            ? strtoll(finding->message + strlen(lead), NULL, 10)
            : 0;
    return index >= all / 2 && index < all ? index - all : 0;
}

bool heddle_check_is_near(const heddle_check_memory *memory)
{
    const long long reach = memory->bytes + 4096, wrapped = heddle_check_wrapped_index(memory) * memory->size;
    const long long offset = wrapped ? wrapped : memory->offset;
    return offset >= -reach && offset <= memory->bytes + reach;
}

// ": index 31 of out[31]", where the size of the access is that of an element.
static void element_text(const heddle_check_finding *finding, char *text, size_t size)
{
    enum { LARGEST_SCALAR = 8 };
    const heddle_check_memory *memory = finding->memory;
    const bool named_by_kernel = finding->parameter && finding->parameter[0];
    const char *name = named_by_kernel ? finding->parameter : memory->name;
    const bool allocated = memory->is_dynamic || memory->allocated.file[0];
    const bool accessed = finding->place_count > 0 && strcmp(finding->places[0].role, "call") != 0;
    if (finding->kind != HEDDLE_CHECK_OUT_OF_BOUNDS || !allocated || !accessed || memory->bytes == 0 ||
        memory->bytes % memory->size != 0 || memory->offset % memory->size != 0 || !heddle_check_is_near(memory))
        return;
    char wrapped[48] = "";
    if (heddle_check_wrapped_index(memory))
        snprintf(wrapped, sizeof wrapped, " (unsigned: %lld)", heddle_check_wrapped_index(memory));
    const long long index = memory->offset / memory->size, count = memory->bytes / memory->size;
    if (name[0] && memory->size <= LARGEST_SCALAR)
        snprintf(text, size, ": index %lld%s of %s[%lld]", index, wrapped, name, count);
    else
        snprintf(text, size, ": index %lld%s of %lld element%s of %lld bytes", index, wrapped, count,
                 count == 1 ? "" : "s", memory->size);
}

// Where in the allocation the access lies.
static void position_text(const heddle_check_memory *memory, char *text, size_t size)
{
    long long past = memory->offset + memory->size - memory->bytes;
    if (memory->offset < 0)
        snprintf(text, size, "; %lld byte%s before its start", -memory->offset, memory->offset == -1 ? "" : "s");
    else if (past > 0)
        snprintf(text, size, "; %lld byte%s past its end", past, past == 1 ? "" : "s");
    else
        snprintf(text, size, "; %lld byte%s at offset %lld", memory->size, memory->size == 1 ? "" : "s",
                 memory->offset);
}

// Whether the line is one of the finding's places.
static bool is_shown(const heddle_check_finding *finding, const heddle_check_frame *frame)
{
    for (int i = 0; i < finding->place_count; i++) {
        const heddle_check_place *place = &finding->places[i];
        if (place->frames > 0 && strcmp(place->role, "freed") == 0 && place->frame[0].line == frame->line &&
            strcmp(place->frame[0].file, frame->file) == 0)
            return true;
    }
    return false;
}

const char *heddle_check_memory_sentence(const heddle_check_finding *finding, char *text, size_t size)
{
    const heddle_check_memory *memory = finding->memory;
    text[0] = '\0';
    if (!memory || (memory->bytes == 0 && memory->name[0] == '\0'))
        return text;
    char space[64], place[PATH_SIZE + 32], position[96] = "", element[384] = "", allocated[PATH_SIZE + 64] = "",
                                           freed[PATH_SIZE + 64] = "";
    const char *name = memory->name[0] || !finding->parameter ? memory->name : finding->parameter;
    if (memory->allocated.file[0])
        snprintf(allocated, sizeof allocated, ", allocated at %s",
                 heddle_check_frame_text(&memory->allocated, place, sizeof place));
    if (memory->freed.file[0] && !is_shown(finding, &memory->freed))
        snprintf(freed, sizeof freed, ", freed at %s", heddle_check_frame_text(&memory->freed, place, sizeof place));
    else if (!memory->live && !memory->freed.file[0])
        snprintf(freed, sizeof freed, ", already freed");
    if (memory->size > 0) {
        position_text(memory, position, sizeof position);
        element_text(finding, element, sizeof element);
    }
    snprintf(text, size, "%s%s%lld byte%s of %s%s%s%s%s", name, name[0] ? ", " : "", memory->bytes,
             memory->bytes == 1 ? "" : "s", memory_text(finding, space, sizeof space), allocated, freed, position,
             element);
    return text;
}

// The memory's name, led by a blank, as a kernel's reader knows it: what the kernel calls it and what host code does.
// Where the first is not certain, host code's alone may be that of another parameter, so the text says whose it is.
static const char *names_text(const heddle_check_finding *finding, char *text, size_t size)
{
    const char *name = finding->memory->name, *parameter = finding->parameter;
    text[0] = '\0';
    if (!name[0] && parameter && parameter[0])
        snprintf(text, size, " %s", parameter);
    else if (!name[0])
        return text;
    else if (!parameter || strcmp(parameter, name) == 0)
        snprintf(text, size, " %s", name);
    else if (!parameter[0])
        snprintf(text, size, " allocated as %s", name);
    else
        snprintf(text, size, " %s (allocated as %s)", parameter, name);
    return text;
}

const char *heddle_check_headline(const heddle_check_finding *finding, char *text, size_t size)
{
    const heddle_check_kind_info *kind = &heddle_check_kinds[finding->kind];
    char memory[512] = "", space[64], names[384], kernel[256] = "";
    if (kind->link && finding->memory)
        snprintf(memory, sizeof memory, " %s %s%s", kind->link, memory_text(finding, space, sizeof space),
                 names_text(finding, names, sizeof names));
    else if (kind->link && finding->array)
        snprintf(memory, sizeof memory, " %s %s", kind->link, finding->array);
    if (finding->kernel)
        snprintf(kernel, sizeof kernel, " in kernel %s", finding->kernel);
    bool skipped = finding->reach == HEDDLE_CHECK_REACH_BRANCH || finding->reach == HEDDLE_CHECK_REACH_PASSED;
    snprintf(text, size, "%s%s%s", skipped ? "barrier that some threads skip" : kind->title, memory, kernel);
    return text;
}

// --- numbers ---------------------------------------------------------------------------------------------------------

const char *heddle_check_count_text(double count, char *text, size_t size)
{
    if (count >= 1e9)
        snprintf(text, size, "%.3g billion", count / 1e9);
    else if (count >= 1e6)
        snprintf(text, size, "%.3g million", count / 1e6);
    else if (count >= 1e3)
        snprintf(text, size, "%d,%03d", (int)count / 1000, (int)count % 1000);
    else
        snprintf(text, size, "%.0f", count);
    return text;
}

const char *heddle_check_schedules_text(const heddle_check_result *result, const heddle_check_finding *finding,
                                        char *text, size_t size)
{
    text[0] = '\0';
    uint64_t all = 0, seen = 0; // schedules: some are run more than once
    int first = -1;
    for (int i = 0; i < result->run_count; i++) {
        int schedule = result->runs[i]->schedule % HEDDLE_CHECK_MOST_RUNS;
        all |= UINT64_C(1) << schedule;
        if (!(finding->schedules >> i & 1))
            continue;
        seen |= UINT64_C(1) << schedule;
        first = first < 0 ? schedule : first;
    }
    if (seen != 0 && seen != all)
        snprintf(text, size, (seen & (seen - 1)) == 0 ? "in schedule %d only" : "in schedule %d and others, not in all",
                 first);
    return text;
}

static double all_accesses(const heddle_check_result *result)
{
    double watched = 0;
    for (int i = 0; i < result->run_count; i++)
        watched += result->runs[i]->accesses;
    return watched;
}

double heddle_check_watched(const heddle_check_result *result)
{
    double blocks = 0, watched = 0;
    for (int i = 0; i < result->run_count; i++)
        for (int k = 0; k < result->runs[i]->kernel_count; k++) {
            blocks += result->runs[i]->kernels[k].blocks;
            watched += result->runs[i]->kernels[k].watched_blocks;
        }
    return result->unwatched ? 0 : blocks > 0 ? watched / blocks : 1;
}

// ", 24 % of blocks watched"; nothing where all of them are. Never 100 %, nor 0 %.
static const char *watched_text(const heddle_check_result *result, char *text, size_t size)
{
    const double percent = 100 * heddle_check_watched(result);
    text[0] = '\0';
    if (percent > 99 && percent < 100)
        snprintf(text, size, ", more than 99 %% of blocks watched");
    else if (percent > 0 && percent < 100)
        snprintf(text, size, percent < 1 ? ", %.1g %% of blocks watched" : ", %.0f %% of blocks watched", percent);
    return text;
}

// Launches that are a library's, and algorithms that are none: what they are given is checked as a whole, not access by
// access.
double heddle_check_library_calls(const heddle_check_result *result)
{
    static const char *const libraries[] = {"cublas", "cufft", "curand", "cusolver", "cusparse",
                                            "cudnn",  "nccl",  "cub::",  "thrust::"};
    double calls = result->run_count > 0 ? result->runs[0]->algorithms : 0;
    for (int k = 0; result->run_count > 0 && k < result->runs[0]->kernel_count; k++)
        for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
            if (strncmp(result->runs[0]->kernels[k].name, libraries[i], strlen(libraries[i])) == 0)
                calls += result->runs[0]->kernels[k].launches;
    return calls;
}

heddle_check_status heddle_check_status_of(const heddle_check_result *result)
{
    if (!result->built)
        return HEDDLE_CHECK_UNBUILT;
    if (result->errors > 0)
        return HEDDLE_CHECK_ERRORS;
    if (result->exit_status != 0 && !result->any_status)
        return HEDDLE_CHECK_FAILED;
    if (result->unanswered)
        return HEDDLE_CHECK_UNANSWERED;
    if (result->unwatched)
        return HEDDLE_CHECK_UNWATCHED;
    if (result->warnings > 0)
        return HEDDLE_CHECK_WARNINGS;
    return all_accesses(result) > 0 || heddle_check_library_calls(result) > 0 ? HEDDLE_CHECK_CLEAN
                                                                              : HEDDLE_CHECK_NOTHING;
}

const char *heddle_check_status_name(heddle_check_status status)
{
    static const char *const names[] = {"clean",  "warnings", "nothing checked", "unwatched", "no answer from nvcc",
                                        "failed", "errors",   "not built"};
    return names[status];
}

const char *heddle_check_nvcc_name(heddle_check_nvcc_answer answer)
{
    static const char *const names[] = {"not asked", "accepted", "rejected", "not judged", "no answer"};
    return names[answer];
}

// Why nothing was checked, in a few words.
static const char *reason_for_nothing(const heddle_check_result *result)
{
    for (int i = 0; i < result->run_count; i++)
        if (result->runs[i]->launches > 0)
            return "no kernel used memory";
    for (int i = 0; i < result->run_count; i++)
        if (result->runs[i]->unchecked[0])
            return "no kernel was checked to its end";
    return "no kernel was launched";
}

// "2 schedules, 1,536 accesses"; of a program that only calls libraries "2 schedules, arguments of 3 library calls".
static const char *extent_text(const heddle_check_result *result, char *text, size_t size)
{
    char number[32], watched[48];
    double accesses = all_accesses(result), calls = heddle_check_library_calls(result);
    const char *s = result->run_count == 1 ? "" : "s";
    if (accesses > 0 || calls == 0)
        snprintf(text, size, "%d schedule%s, %s accesses%s", result->run_count, s,
                 heddle_check_count_text(accesses, number, sizeof number),
                 watched_text(result, watched, sizeof watched));
    else
        snprintf(text, size, "%d schedule%s, arguments of %s library call%s", result->run_count, s,
                 heddle_check_count_text(calls, number, sizeof number), calls == 1 ? "" : "s");
    return text;
}

const char *heddle_check_verdict(const heddle_check_result *result, char *text, size_t size)
{
    char suppressed[48] = "", status[64], extent[160], watched[48];
    const char *s = result->warnings == 1 ? "" : "s";
    if (result->suppressed)
        snprintf(suppressed, sizeof suppressed, ", %d suppressed", result->suppressed);
    snprintf(status, sizeof status, "the program ended with status %d", result->exit_status);
    extent_text(result, extent, sizeof extent);
    switch (heddle_check_status_of(result)) {
    case HEDDLE_CHECK_UNBUILT: snprintf(text, size, "not built"); break;
    case HEDDLE_CHECK_ERRORS:
        snprintf(text, size, "%d error%s, %d warning%s%s%s", result->errors, result->errors == 1 ? "" : "s",
                 result->warnings, s, suppressed, watched_text(result, watched, sizeof watched));
        break;
    case HEDDLE_CHECK_FAILED:
        if (result->unwatched)
            snprintf(text, size, "%s, not watched", status);
        else
            snprintf(text, size, "%s: %s, %d %s%s%s", status, extent, result->warnings,
                     result->warnings ? "warning" : "findings", result->warnings > 1 ? "s" : "", suppressed);
        break;
    case HEDDLE_CHECK_UNANSWERED:
        snprintf(text, size, "unfinished: %s; here %s, %d %s%s%s", result->unanswered, extent, result->warnings,
                 result->warnings ? "warning" : "findings", result->warnings > 1 ? "s" : "", suppressed);
        break;
    case HEDDLE_CHECK_UNWATCHED: snprintf(text, size, "ran, not watched"); break;
    case HEDDLE_CHECK_WARNINGS:
        snprintf(text, size, "no errors, %d warning%s: %s%s", result->warnings, s, extent, suppressed);
        break;
    case HEDDLE_CHECK_NOTHING:
        snprintf(text, size, "nothing was checked: %s%s", reason_for_nothing(result), suppressed);
        break;
    case HEDDLE_CHECK_CLEAN: snprintf(text, size, "clean: %s, 0 findings%s", extent, suppressed); break;
    }
    return text;
}

// --- counters --------------------------------------------------------------------------------------------------------

const char *heddle_check_unit(const heddle_check_line *line)
{
    return heddle_check_is_shared(line->space) ? "wavefronts" : "sectors";
}

double heddle_check_excess(const heddle_check_line *line)
{
    return line->ideal > 0 ? 100 * (line->units / line->ideal - 1) : 0;
}

static int compare_rows(const void *a_, const void *b_)
{
    const heddle_check_row *a = a_, *b = b_;
    double waste_a = a->line->units - a->line->ideal, waste_b = b->line->units - b->line->ideal;
    if (waste_a != waste_b)
        return waste_a > waste_b ? -1 : 1;
    if (a->line->units != b->line->units)
        return a->line->units > b->line->units ? -1 : 1;
    int file = strcmp(a->line->file, b->line->file);
    if (file || a->line->line != b->line->line)
        return file ? file : a->line->line - b->line->line;
    return (a->line > b->line) - (a->line < b->line);
}

heddle_status heddle_check_rows(const heddle_check_result *result, heddle_check_row **rows, int *count)
{
    *count = 0;
    *rows = NULL;
    const heddle_check_report *first = result->run_count ? result->runs[0] : NULL;
    size_t most = 1;
    for (int k = 0; first && k < first->kernel_count; k++)
        most += (size_t)first->kernels[k].line_count;
    heddle_check_row *made = calloc(most, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for the counters");
    for (int k = 0; first && k < first->kernel_count; k++)
        for (int l = 0; l < first->kernels[k].line_count; l++)
            made[(*count)++] = (heddle_check_row){&first->kernels[k], &first->kernels[k].lines[l]};
    qsort(made, (size_t)*count, sizeof *made, compare_rows);
    *rows = made;
    return HEDDLE_OK;
}
