// Which local variables look as if they were read before they are set.
#pragma once

#include "check/own.h"

// Whether device code of these files has a local number, or array of numbers, that is declared without a value and
// whose next use reads it. That use may be in another order when the code runs, so this is only a suspicion.
bool heddle_check_first_use_reads(const heddle_check_own_files *files);
