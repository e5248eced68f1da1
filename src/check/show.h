// The forms a result is shown in. Each writes to the file it is given and prints nothing else.
#pragma once

#include <stdio.h>

#include "check/result.h"

typedef struct heddle_check_style {
    bool colour;
    bool utf8;
    bool counters;
    const char *command; // how this command is called, for hints that name it; NULL: without these
} heddle_check_style;

// For a person: findings with their source, counters, the worst access as a picture, the verdict on the last line.
heddle_status heddle_check_show_text(const heddle_check_result *result, const heddle_check_style *style, FILE *file);
// Its parts: the table of counters with the picture of the worst access, and the picture alone.
heddle_status heddle_check_show_counters(const heddle_check_result *result, const heddle_check_style *style,
                                         FILE *file);
// Where lanes of one warp went different ways; nothing where branches were not counted.
heddle_status heddle_check_show_branches(const heddle_check_result *result, FILE *file);
void heddle_check_show_request(const heddle_check_line *line, const heddle_check_style *style, FILE *file);

// For programs: one JSON document, which the caller frees; SARIF 2.1.0.
struct cJSON *heddle_check_json(const heddle_check_result *result);
heddle_status heddle_check_show_sarif(const heddle_check_result *result, FILE *file);
// The trace of the first run, and its findings (trace.h).
heddle_status heddle_check_show_trace(const heddle_check_result *result, FILE *file);
// A page that needs nothing else: the source line by line with findings and counters.
heddle_status heddle_check_show_html(const heddle_check_result *result, FILE *file);
// Its parts for other pages: the style that goes into the head, and findings, notes, pictures and source with their
// scripts. `path`: a file that is shown even if nothing was found or counted there; "": none.
const char *heddle_check_html_style(const heddle_check_result *result);
heddle_status heddle_check_html_body(const heddle_check_result *result, const char *path, FILE *file);
