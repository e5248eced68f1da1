// Findings the user does not want to see: by a file that SIM_SUPPRESS names, or by a comment at the line. What these
// may say is in rules.h; the comment's mark is "sim: allow".
#include <stdio.h>
#include <stdlib.h>

#include "report/internal.h"
#include "report/rules.h"

enum { LONGEST = 4096 }; // of a line in the file

static bool rule_matches(const sim_rule *rule, const sim_record *record)
{
    const sim_finding *finding = &record->finding;
    if (!sim_rule_is_for(rule, sim_kind_name(finding->kind)))
        return false;
    if (sim_rule_is_everywhere(rule) || sim_rule_has_kernel(rule, finding->kernel))
        return true;
    for (int i = 0; i < SIM_PLACES; i++) {
        const sim_stack *stack = record->where[i];
        for (size_t f = 0; stack && f < stack->count; f++)
            if (sim_rule_has_line(rule, stack->frames[f].file, stack->frames[f].line))
                return true;
    }
    return false;
}

// Wrong lines are left to those who can say so: nothing is suppressed by them.
static bool in_file(const sim_record *record, const char *path)
{
    size_t length;
    const char *text;
    for (unsigned number = 1; (text = sim_source_line(path, number, &length)) != NULL; number++) {
        char line[LONGEST];
        sim_rule rule;
        snprintf(line, sizeof line, "%.*s", (int)(length < LONGEST - 1 ? length : LONGEST - 1), text);
        if (sim_rule_parse(line, &rule) == SIM_RULE_READ && rule_matches(&rule, record))
            return true;
    }
    return false;
}

static bool line_allows(const char *file, unsigned number, const char *kind)
{
    size_t length;
    const char *text = number > 0 ? sim_source_line(file, number, &length) : NULL;
    return text && sim_comment_allows(text, length, "sim: allow", kind);
}

static bool by_comment(const sim_record *record)
{
    const char *kind = sim_kind_name(record->finding.kind);
    for (int i = 0; i < SIM_PLACES; i++) {
        const sim_stack *stack = record->where[i];
        for (size_t f = 0; stack && f < stack->count; f++) {
            const sim_frame *frame = &stack->frames[f];
            if (line_allows(frame->file, frame->line, kind) || line_allows(frame->file, frame->line - 1, kind))
                return true;
        }
    }
    return false;
}

bool sim_suppressed(const sim_record *record)
{
    const char *path = getenv("SIM_SUPPRESS");
    return by_comment(record) || (path && path[0] && in_file(record, path));
}
