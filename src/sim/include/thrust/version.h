// Thrust on the simulated GPU: all of it comes together (thrust/sim/).
#pragma once
#include <thrust/sim/policies.h>

#define THRUST_VERSION          300000
#define THRUST_MAJOR_VERSION    3
#define THRUST_MINOR_VERSION    0
#define THRUST_SUBMINOR_VERSION 0
