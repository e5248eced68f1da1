// The Mersenne twister of cuRAND is not simulated.
#error "the simulated GPU has no MTGP32: use curandStatePhilox4_32_10_t or curandStateXORWOW_t from curand_kernel.h"
#include "stopped/by/the/error/above" // which alone would be followed by many
