// The output that a program should have, line by line.
#pragma once

#include "check/output.h"
#include "check/result.h"

// Reads the file; the caller frees *text.
heddle_status heddle_check_expect_read(const char *path, char **text);
// Adds a finding where the output differs first. Blanks at the ends of lines and empty lines at the end do not count.
heddle_status heddle_check_expect_compare(const char *expected, const heddle_check_output *output,
                                          heddle_check_result *result);
