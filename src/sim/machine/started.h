// Programs that a command starts, each with a report of its own: SIM_REPORT names a folder. A program that starts there
// writes NUMBER.run, strings that end with a 0 byte: its file, its working folder, what its standard input is, the
// number of its arguments, these, and its environment. Its report will be NUMBER.json.
#pragma once

#include <stdbool.h>

// Whether SIM_REPORT names a folder: it ends with a slash. NULL: no.
bool sim_started_in(const char *report);
// Writes that this process has started; returns where its report goes, or NULL, where nothing can be written.
const char *sim_started_report(const char *folder);
