// What a kernel calls the memory that host code has allocated by another name.
#ifndef HEDDLE_CHECK_PARAMETER_H
#define HEDDLE_CHECK_PARAMETER_H

#include "check/result.h"

// Sets the parameter of each finding in a kernel whose memory host code calls otherwise, as far as the source shows it
// without doubt.
void heddle_check_parameters_settle(heddle_check_result *result);

#endif
