// Sobol's sequence for cuRAND's host API.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "curand.h"

enum { SIM_SOBOL_DIMENSIONS = 161 };

// 64 bits of the number at `index` of a dimension from 0; a generator of 32 bits has the upper half of them.
uint64_t sim_sobol(unsigned dimension, uint64_t index);
