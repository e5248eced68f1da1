// Rules of a file that suppress findings. Stands by itself, for the report and for readers of reports.
//
// A line of the file is a kind (a pattern; * or all for every one), then where it is allowed; everywhere if nothing
// follows:
//
//     race           reduce.cu            # in this file
//     race           reduce.cu:41         # at this line
//     uninitialised  third_party/*
//     *              kernel:histogram*    # in these kernels
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct sim_rule {
    const char *kind;  // pattern
    const char *where; // pattern of a file, of file:line, or of a kernel behind "kernel:"
} sim_rule;

typedef enum sim_rule_line { SIM_RULE_NONE, SIM_RULE_READ, SIM_RULE_WRONG } sim_rule_line;

// One line, which is cut into words in place: the rule points into it. WRONG: it has too many.
sim_rule_line sim_rule_parse(char *line, sim_rule *rule);

// What a rule is held against; a file pattern also matches what follows any slash of the path.
bool sim_rule_is_for(const sim_rule *rule, const char *kind);
bool sim_rule_is_everywhere(const sim_rule *rule);
bool sim_rule_has_kernel(const sim_rule *rule, const char *kernel); // which may be NULL
bool sim_rule_has_line(const sim_rule *rule, const char *file, unsigned line);
