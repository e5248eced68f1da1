// cuFFT for several GPUs is not simulated: said where it is included.
#error "the simulated GPU has no cufftXt: use cufft.h on one device"
#include "stopped/by/the/error/above" // which alone would be followed by many
