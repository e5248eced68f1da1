// Rules that suppress findings. Allocates nothing: a crash may be under way.
#define _GNU_SOURCE 1
#include "report/rules.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const char spaces[] = " \t\r\n", kernel_mark[] = "kernel:";
enum { KERNEL_MARK = sizeof kernel_mark - 1 };

sim_rule_line sim_rule_parse(char *line, sim_rule *rule)
{
    char *rest = NULL;
    line[strcspn(line, "#")] = '\0';
    const char *kind = strtok_r(line, spaces, &rest);
    if (!kind)
        return SIM_RULE_NONE;
    const char *where = strtok_r(NULL, spaces, &rest);
    if (where && strtok_r(NULL, spaces, &rest))
        return SIM_RULE_WRONG;
    *rule = (sim_rule){strcmp(kind, "all") == 0 ? "*" : kind, where ? where : "*"};
    return SIM_RULE_READ;
}

bool sim_rule_is_for(const sim_rule *rule, const char *kind)
{
    return fnmatch(rule->kind, kind, 0) == 0;
}

bool sim_rule_is_everywhere(const sim_rule *rule)
{
    return strcmp(rule->where, "*") == 0;
}

bool sim_rule_has_kernel(const sim_rule *rule, const char *kernel)
{
    return kernel && strncmp(rule->where, kernel_mark, KERNEL_MARK) == 0 &&
           fnmatch(rule->where + KERNEL_MARK, kernel, 0) == 0;
}

static bool path_matches(const char *pattern, const char *path)
{
    while (path) {
        if (fnmatch(pattern, path, 0) == 0)
            return true;
        path = strchr(path, '/');
        path += path != NULL;
    }
    return false;
}

bool sim_rule_has_line(const sim_rule *rule, const char *file, unsigned line)
{
    char with_line[4096]; // as long as a path can be
    if (!file[0] || strncmp(rule->where, kernel_mark, KERNEL_MARK) == 0)
        return false;
    snprintf(with_line, sizeof with_line, "%s:%u", file, line);
    return path_matches(rule->where, file) || path_matches(rule->where, with_line);
}
