// Findings the user does not want to see, by the file that SIM_SUPPRESS names (rules.h).
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/internal.h"
#include "report/rules.h"

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

// The whole file, in the arena; NULL: it cannot be read.
static char *read_file(const char *path)
{
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    char *text = descriptor >= 0 && fstat(descriptor, &about) == 0 ? sim_arena_take((size_t)about.st_size + 1) : NULL;
    if (text && read(descriptor, text, (size_t)about.st_size) != about.st_size)
        text = NULL;
    if (descriptor >= 0)
        close(descriptor);
    return text;
}

// Wrong lines suppress nothing; those who read reports say what is wrong with them.
bool sim_suppressed(const sim_record *record)
{
    const char *path = getenv("SIM_SUPPRESS");
    char *rest = path && path[0] ? read_file(path) : NULL;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        sim_rule rule;
        if (sim_rule_parse(line, &rule) == SIM_RULE_READ && rule_matches(&rule, record))
            return true;
    }
    return false;
}
