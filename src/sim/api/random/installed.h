// cuRAND's own library, where a CUDA toolkit is installed. MTGP32's parameters and the scrambled vectors of Sobol are
// tables that only it has; its generators for the host need no GPU.
#pragma once

#include "curand.h"

// Its functions that are called here, under their names without "curand".
typedef struct sim_curand_library {
    curandStatus_t (*CreateGeneratorHost)(curandGenerator_t *generator, curandRngType_t type);
    curandStatus_t (*DestroyGenerator)(curandGenerator_t generator);
    curandStatus_t (*SetPseudoRandomGeneratorSeed)(curandGenerator_t generator, unsigned long long seed);
    curandStatus_t (*SetGeneratorOffset)(curandGenerator_t generator, unsigned long long offset);
    curandStatus_t (*SetQuasiRandomGeneratorDimensions)(curandGenerator_t generator, unsigned int dimensions);
    curandStatus_t (*Generate)(curandGenerator_t generator, unsigned int *output, size_t n);
    curandStatus_t (*GenerateLongLong)(curandGenerator_t generator, unsigned long long *output, size_t n);
    curandStatus_t (*GenerateUniform)(curandGenerator_t generator, float *output, size_t n);
    curandStatus_t (*GenerateUniformDouble)(curandGenerator_t generator, double *output, size_t n);
    curandStatus_t (*GenerateNormal)(curandGenerator_t generator, float *output, size_t n, float mean, float stddev);
    curandStatus_t (*GenerateNormalDouble)(curandGenerator_t generator, double *output, size_t n, double mean,
                                           double stddev);
    curandStatus_t (*GenerateLogNormal)(curandGenerator_t generator, float *output, size_t n, float mean, float stddev);
    curandStatus_t (*GenerateLogNormalDouble)(curandGenerator_t generator, double *output, size_t n, double mean,
                                              double stddev);
    curandStatus_t (*GeneratePoisson)(curandGenerator_t generator, unsigned int *output, size_t n, double lambda);
    curandStatus_t (*GetDirectionVectors32)(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t set);
    curandStatus_t (*GetDirectionVectors64)(curandDirectionVectors64_t *vectors[], curandDirectionVectorSet_t set);
    curandStatus_t (*GetScrambleConstants32)(unsigned int **constants);
    curandStatus_t (*GetScrambleConstants64)(unsigned long long **constants);
} sim_curand_library;

// NULL: no toolkit is installed, or its library is not.
const sim_curand_library *sim_curand_installed(void);
