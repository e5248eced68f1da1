// Thrust on the simulated GPU: all of it comes together (thrust/sim/).
#pragma once
#include <thrust/sim/policies.h>
