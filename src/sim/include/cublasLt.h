// cublasLt is not simulated: said where it is included.
#error "the simulated GPU has no cublasLt: use cublasGemmEx from cublas_v2.h"
