// Stands for cuRAND's own library in a test: numbers that say where they come from.
#include <stdlib.h>

#include "curand.h"

struct curandGenerator_st {
    curandRngType_t type;
    unsigned long long seed, next;
    unsigned dimensions;
};

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    *generator = calloc(1, sizeof **generator);
    (*generator)->type = type;
    return *generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    generator->seed = seed;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    generator->next = offset * generator->dimensions;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions)
{
    generator->dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
}

static unsigned long long number(curandGenerator_t generator)
{
    return generator->type * 1000000ull + generator->seed * 1000 + generator->dimensions * 100 + generator->next++;
}

#define GENERATE(Name, T)                                                                                              \
    curandStatus_t Name(curandGenerator_t generator, T *output, size_t n)                                              \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            output[i] = (T)number(generator);                                                                          \
        return CURAND_STATUS_SUCCESS;                                                                                  \
    }
GENERATE(curandGenerate, unsigned int)
GENERATE(curandGenerateLongLong, unsigned long long)
GENERATE(curandGenerateUniform, float)
GENERATE(curandGenerateUniformDouble, double)

#define GENERATE_NORMAL(Name, T)                                                                                       \
    curandStatus_t Name(curandGenerator_t generator, T *output, size_t n, T mean, T stddev)                            \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i++)                                                                                 \
            output[i] = mean + stddev * (T)number(generator);                                                          \
        return CURAND_STATUS_SUCCESS;                                                                                  \
    }
GENERATE_NORMAL(curandGenerateNormal, float)
GENERATE_NORMAL(curandGenerateNormalDouble, double)
GENERATE_NORMAL(curandGenerateLogNormal, float)
GENERATE_NORMAL(curandGenerateLogNormalDouble, double)

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *output, size_t n, double lambda)
{
    (void)lambda;
    return curandGenerate(generator, output, n);
}

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t set)
{
    static curandDirectionVectors32_t table[1];
    table[0][0] = set;
    *vectors = table;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t *vectors[], curandDirectionVectorSet_t set)
{
    static curandDirectionVectors64_t table[1];
    table[0][0] = set;
    *vectors = table;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetScrambleConstants32(unsigned int **constants)
{
    static unsigned int table[] = {32};
    *constants = table;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetScrambleConstants64(unsigned long long **constants)
{
    static unsigned long long table[] = {64};
    *constants = table;
    return CURAND_STATUS_SUCCESS;
}
