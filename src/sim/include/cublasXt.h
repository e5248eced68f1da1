// cuBLAS over several GPUs is not simulated: said where it is included.
#error "the simulated GPU has no cublasXt: use cublas_v2.h on one device"
#include "stopped/by/the/error/above" // which alone would be followed by many
