// What the source adds to the facts of a report.

#include "check/explain.h"

#include <stdio.h>
#include <string.h>

#include "check/access.h"
#include "check/names.h"
#include "check/reach.h"
#include "sim/source/statement.h"

// A thread that never leaves a loop is found anywhere in it; what a person looks for is where it begins.
static void move_to_loop(heddle_check_frame *frame, heddle_check_sources *sources)
{
    const sim_source *source = heddle_check_sources_code(sources, frame->file);
    sim_statements statements = {0};
    int first = 0, last = 0, loop = -1;
    if (source)
        sim_tokens_on_line(&source->code, frame->line, &first, &last);
    int function = first < last ? sim_function_around(source, first) : -1;
    if (function >= 0 && sim_statements_read(source, function, &statements))
        for (int i = first; i < last; i++) {
            int around = sim_statement_loop(&statements, sim_statement_around(&statements, i));
            loop = around > loop ? around : loop; // the innermost that the line is part of
        }
    if (loop >= 0) {
        frame->line = source->code.at[statements.at[loop].first].line;
        frame->column = 0;
    }
    sim_statements_free(&statements);
}

// Threads that passed a barrier by are no better than ones that wait at another; whole warps, hardware forgives.
static void settle_reach(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    static const char ended[] = "had ended before this barrier";
    char text[512];
    finding->reach = heddle_check_reach_of(sources, &finding->places[0], finding->kernel);
    if (finding->reach == HEDDLE_CHECK_REACH_PASSED && finding->parts_warp)
        finding->tier = HEDDLE_CHECK_ERROR;
    const char *at = strstr(finding->message, ended);
    if (!at || finding->reach == HEDDLE_CHECK_REACH_UNKNOWN || finding->reach == HEDDLE_CHECK_REACH_RETURN)
        return;
    snprintf(text, sizeof text, "%.*sskipped this barrier%s", (int)(at - finding->message), finding->message,
             at + sizeof ended - 1);
    const char *copy = heddle_arena_copy_text(arena, text);
    finding->message = copy ? copy : finding->message;
}

static bool is(const sim_source *source, int token, const char *text)
{
    return sim_token_is(source, sim_token_at(&source->code, token), text);
}

// Whether one of the types is among the words before the name at this token. In an expression, such as "x * data",
// none is.
static bool is_of_type(const sim_source *source, int name, const char *const *types)
{
    static const char *const signs[] = {"*", "&", NULL};
    bool found = false;
    for (int at = name - 1; at >= 0; at--) {
        const sim_token *token = &source->code.at[at];
        if (token->kind == SIM_TOKEN_NAME)
            found |= sim_token_is_any(source, token, types);
        else if (!sim_token_is_any(source, token, signs))
            break;
    }
    return found;
}

static bool is_declared(const sim_source *source, int name)
{
    static const char *const no_types[] = {"return", "else", "case", "throw", "delete", "sizeof", NULL};
    const sim_token *before = sim_token_at(&source->code, name - 1);
    return (before->kind == SIM_TOKEN_NAME && !sim_token_is_any(source, before, no_types)) ||
           (is(source, name - 1, "*") && sim_token_at(&source->code, name - 2)->kind == SIM_TOKEN_NAME);
}

bool heddle_check_has_type(const heddle_check_finding *finding, const heddle_check_place *place,
                           heddle_check_sources *sources, const char *const *types)
{
    const sim_source *source = place->frames > 0 ? heddle_check_sources_code(sources, place->frame[0].file) : NULL;
    heddle_check_access access;
    int first = 0, last = 0;
    if (!source || !heddle_check_access_find(source, finding, place, &access) || !access.name[0])
        return false;
    sim_tokens_on_line(&source->code, place->frame[0].line, &first, &last);
    for (int i = first - 1; i > 0; i--) // the last declaration before the line
        if (is(source, i, access.name) && is_declared(source, i))
            return is_of_type(source, i, types);
    return false;
}

// Whether it is a number of eight bytes that is read, as the line and the declaration before it show, and no structure.
static bool reads_number(const heddle_check_finding *finding, heddle_check_sources *sources)
{
    static const char *const types[] = {"double", "long", "size_t", "int64_t", "uint64_t", NULL};
    return finding->place_count > 0 && heddle_check_has_type(finding, &finding->places[0], sources, types);
}

// Takes out the uninitialised reads of structures: their padding, or a member that nobody uses.
static void drop_structures(heddle_check_report *report, heddle_check_sources *sources)
{
    int kept = 0;
    for (int i = 0; i < report->finding_count; i++)
        if (!report->findings[i].partly || reads_number(&report->findings[i], sources))
            report->findings[kept++] = report->findings[i];
    report->finding_count = kept;
}

static bool is_of_thrust(const heddle_check_finding *finding, heddle_check_sources *sources)
{
    const heddle_check_place *place = &finding->places[0];
    if (finding->place_count == 0 || place->frames == 0)
        return false;
    if (place->within && strstr(place->within, "/thrust/"))
        return true;
    const char *line = heddle_check_sources_line(sources, place->frame[0].file, place->frame[0].line);
    size_t bytes = line ? strcspn(line, "\n") : 0;
    return line && memmem(line, bytes, "thrust::", strlen("thrust::")) && !memmem(line, bytes, "cuda", strlen("cuda"));
}

// Thrust reaches memory by copies of its own, of which the program knows nothing.
static void reword_thrust(heddle_check_finding *finding, heddle_check_sources *sources, heddle_arena *arena)
{
    static const char copies[] = "cudaMemcpy";
    const char *fails = strstr(finding->message, " fails with cudaErrorInvalidValue: ");
    const char *reads = strstr(finding->message, " at the source, of which");
    const char *writes = strstr(finding->message, " at the destination, of which");
    const char *at = reads ? reads : writes;
    if (finding->kind != HEDDLE_CHECK_OUT_OF_BOUNDS || !fails || !at ||
        strncmp(finding->message, copies, sizeof copies - 1) != 0 || !is_of_thrust(finding, sources))
        return;
    const char *size = strchr(fails, ':') + 2;
    char text[512];
    snprintf(text, sizeof text, "Thrust %s %.*s%s", reads ? "reads" : "writes", (int)(at - size), size,
             strchr(at, ','));
    const char *copy = heddle_arena_copy_text(arena, text);
    finding->message = copy ? copy : finding->message;
}

void heddle_check_explain(heddle_check_report *report, heddle_check_sources *sources)
{
    drop_structures(report, sources);
    for (int i = 0; i < report->finding_count; i++) {
        heddle_check_finding *finding = &report->findings[i];
        heddle_check_names_settle(finding, sources, report->arena);
        reword_thrust(finding, sources, report->arena);
        if (finding->place_count == 0 || finding->places[0].frames == 0)
            continue;
        if (finding->kind == HEDDLE_CHECK_SPIN && strcmp(finding->places[0].role, "loop") == 0)
            move_to_loop(&finding->places[0].frame[0], sources);
        if (finding->kind == HEDDLE_CHECK_BARRIER_EXITED)
            settle_reach(finding, sources, report->arena);
    }
}
