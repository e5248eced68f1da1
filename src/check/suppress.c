// Suppressions from a file and from comments. What they mean is the simulator's, so that both read the same alike; what
// is wrong with a file is told here.

#include "check/suppress.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "report/rules.h"

enum { LARGEST_FILE = 1 << 20 };

struct heddle_check_suppressions {
    char *content; // of the file: the rules point into it
    sim_rule *rules;
    int count;
};

// --- the file --------------------------------------------------------------------------------------------------------

// A name without wildcards must be one that there is.
static heddle_status check_kind(const char *path, int line, const char *word)
{
    if (strpbrk(word, "*?[") || heddle_check_kind_find(word) != HEDDLE_CHECK_OTHER)
        return HEDDLE_OK;
    const char *names[HEDDLE_CHECK_KINDS];
    for (int i = 0; i < HEDDLE_CHECK_KINDS; i++)
        names[i] = heddle_check_kinds[i].name;
    const char *nearest = heddle_text_nearest(word, names, HEDDLE_CHECK_OTHER);
    return heddle_fail(HEDDLE_CORRUPT, "%s:%d: there is no kind of finding called '%s'%s%s%s", path, line, word,
                       nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
}

static heddle_status read_rule(const char *path, int number, char *text, heddle_check_suppressions *suppressions)
{
    sim_rule rule;
    switch (sim_rule_parse(text, &rule)) {
    case SIM_RULE_NONE: return HEDDLE_OK;
    case SIM_RULE_READ: break;
    case SIM_RULE_WRONG:
        return heddle_fail(HEDDLE_CORRUPT,
                           "%s:%d: a suppression is KIND, KIND FILE, KIND FILE:LINE or KIND kernel:NAME", path, number);
    }
    HEDDLE_TRY(check_kind(path, number, rule.kind));
    suppressions->rules[suppressions->count++] = rule;
    return HEDDLE_OK;
}

heddle_status heddle_check_suppressions_read(const char *path, heddle_check_suppressions **suppressions)
{
    *suppressions = NULL;
    heddle_check_suppressions *made = calloc(1, sizeof *made);
    if (!made)
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", path);
    size_t size = 0, lines = 1;
    heddle_status status = heddle_file_read(path, LARGEST_FILE, &made->content, &size);
    for (size_t i = 0; status == HEDDLE_OK && i < size; i++)
        lines += made->content[i] == '\n';
    made->rules = calloc(lines, sizeof *made->rules);
    if (status == HEDDLE_OK && !made->rules)
        status = heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory for %s", path);
    char *rest = made->content;
    for (int number = 1; status == HEDDLE_OK && made->rules && rest; number++)
        status = read_rule(path, number, strsep(&rest, "\n"), made);
    if (status != HEDDLE_OK) {
        heddle_check_suppressions_free(made);
        return status;
    }
    *suppressions = made;
    return HEDDLE_OK;
}

void heddle_check_suppressions_free(heddle_check_suppressions *suppressions)
{
    if (!suppressions)
        return;
    free(suppressions->content);
    free(suppressions->rules);
    free(suppressions);
}

// --- matching --------------------------------------------------------------------------------------------------------

static bool rule_matches(const sim_rule *rule, const heddle_check_finding *finding)
{
    if (!sim_rule_is_for(rule, heddle_check_kinds[finding->kind].name))
        return false;
    if (sim_rule_is_everywhere(rule) || sim_rule_has_kernel(rule, finding->kernel))
        return true;
    for (int p = 0; p < finding->place_count; p++)
        for (int f = 0; f < finding->places[p].frames; f++)
            if (sim_rule_has_line(rule, finding->places[p].frame[f].file, (unsigned)finding->places[p].frame[f].line))
                return true;
    return false;
}

static bool line_allows(heddle_check_sources *sources, const char *file, int line, const char *kind)
{
    const char *text = heddle_check_sources_line(sources, file, line);
    return text && sim_comment_allows(text, strlen(text), "heddle: allow", kind);
}

static bool frame_allows(heddle_check_sources *sources, const heddle_check_frame *frame, const char *kind)
{
    return line_allows(sources, frame->file, frame->line, kind) ||
           line_allows(sources, frame->file, frame->line - 1, kind);
}

bool heddle_check_suppressed(const heddle_check_suppressions *suppressions, heddle_check_sources *sources,
                             const heddle_check_finding *finding)
{
    for (int i = 0; suppressions && i < suppressions->count; i++)
        if (rule_matches(&suppressions->rules[i], finding))
            return true;
    for (int p = 0; p < finding->place_count; p++)
        for (int f = 0; f < finding->places[p].frames; f++)
            if (frame_allows(sources, &finding->places[p].frame[f], heddle_check_kinds[finding->kind].name))
                return true;
    return false;
}
