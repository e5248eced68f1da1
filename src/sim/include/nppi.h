// NPP is not simulated: said where it is included, rather than in a hundred errors.
#error "the simulated GPU has no NPP: use kernels of your own, or run on a GPU"
#include "stopped/by/the/error/above" // which alone would be followed by many
