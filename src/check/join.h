// One result of several programs.
#pragma once

#include "check/result.h"

// Adds what was found in a program, under its name, to the result of all; takes `program` over, after failures too.
// `several`: findings and notes say which program they are about.
heddle_status heddle_check_result_join(heddle_check_result *result, heddle_check_result *program, const char *name,
                                       bool several);
