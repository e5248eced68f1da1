// The three ways a judge is run: on the simulated GPU, as plain C under sanitizers, on a real GPU.
#pragma once

#include "learn/judging.h"

heddle_status heddle_learn_run_simulated(heddle_learn_judging *judging);
heddle_status heddle_learn_run_plain(heddle_learn_judging *judging);
// HEDDLE_MISSING where there is no nvcc or no GPU.
heddle_status heddle_learn_run_hardware(heddle_learn_judging *judging);
