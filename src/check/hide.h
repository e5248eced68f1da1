// A report about a file with heddle's main around it, as if that main were not there.
#pragma once

#include "check/operator.h"

void heddle_check_job_hide(const heddle_check_folder *folder, heddle_check_report *report);
