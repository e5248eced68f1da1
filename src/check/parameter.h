// What a kernel calls the memory that host code has allocated by another name.
#ifndef HEDDLE_CHECK_PARAMETER_H
#define HEDDLE_CHECK_PARAMETER_H

#include "check/result.h"

// Sets the parameter of each finding in a kernel whose memory host code has allocated, as far as the source shows it
// without doubt; where it leaves any, to "".
void heddle_check_parameters_settle(heddle_check_result *result);
// Whether the place is in the code of the finding's kernel itself, where the parameter has its name: a function that
// the kernel calls, and another kernel that uses the same memory, have names of their own.
bool heddle_check_is_in_kernel(const heddle_check_finding *finding, const heddle_check_place *place);

#endif
