// The check of a whole project: its own command builds it, with an nvcc that builds for the simulated GPU, and runs its
// programs, which are watched.
#pragma once

#include "check/runs.h"

// Runs options->command, or builds the CMake project in options->cmake and runs every program of it. One result for all
// programs; each is run again, by itself, in other orders.
heddle_status heddle_check_project(heddle_check_state *state);
