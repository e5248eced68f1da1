// The pictures of the page (web/pictures), drawn in the reader's browser from the trace that the page holds.
#pragma once

#include <stdio.h>

#include "check/result.h"

const char *heddle_check_pictures_style(void);
// Where the pictures of a finding go: an element that stays empty where there is no trace.
void heddle_check_pictures_place(const heddle_check_result *result, FILE *file, int finding);
// Where those of launches and streams go.
void heddle_check_pictures_section(const heddle_check_result *result, FILE *file);
// The trace and the script that draws it; behind all places.
heddle_status heddle_check_pictures_script(const heddle_check_result *result, FILE *file);
