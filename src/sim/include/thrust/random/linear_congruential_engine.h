// Thrust on the simulated GPU: see thrust/random.h.
#pragma once
#include <thrust/random.h>
