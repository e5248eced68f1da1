// cuRAND's host API: numbers written to device memory by work in a stream, from Philox at a position that moves on,
// from Sobol's sequences, one dimension after the other, or from cuRAND's own library (installed.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/blas/blas.h"
#include "api/random/installed.h"
#include "api/random/sobol.h"
#include "curand.h"
#include "sim/philox.h"

enum { MOST_DIMENSIONS = 20000 }; // of cuRAND's sequences of Sobol

struct curandGenerator_st {
    unsigned long long seed, position;
    cudaStream_t stream;
    bool on_host;
    curandRngType_t type;
    int quasi; // bits of Sobol's numbers; 0: pseudorandom
    unsigned dimensions;
    curandGenerator_t inner; // of cuRAND's own library; NULL: numbers are made here
};

typedef enum distribution {
    BITS,
    LONG_BITS,
    UNIFORM,
    UNIFORM_DOUBLE,
    NORMAL,
    NORMAL_DOUBLE,
    LOG_NORMAL,
    LOG_NORMAL_DOUBLE,
    POISSON
} distribution;

typedef struct random_work {
    sim_blas_call call;
    distribution shape;
    unsigned long long seed, position;
    void *output;
    size_t n;
    double mean, deviation; // or lambda
    int quasi;
    unsigned dimensions;
    bool made; // the numbers are these
    char numbers[];
} random_work;

// The four 32-bit numbers that belong to element `index`: two uniforms of full precision.
static void draw(const random_work *w, size_t index, double *u, double *v, uint32_t bits[4])
{
    unsigned long long counter = w->position + index;
    uint32_t words[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
    sim_philox(words, (uint32_t)w->seed, (uint32_t)(w->seed >> 32));
    for (int i = 0; i < 4; i++)
        bits[i] = words[i];
    *u = (double)(((uint64_t)words[1] << 21 ^ words[0]) & ((1ull << 53) - 1)) * 0x1p-53 + 0x1p-54;
    *v = (double)(((uint64_t)words[3] << 21 ^ words[2]) & ((1ull << 53) - 1)) * 0x1p-53 + 0x1p-54;
}

static unsigned poisson(const random_work *w, size_t index)
{
    double sum = 0, u, v;
    uint32_t bits[4];
    random_work inner = *w;
    unsigned count = 0;
    for (inner.position = (w->position + index) << 20;; count++, inner.position++) {
        draw(&inner, 0, &u, &v, bits);
        sum -= log(u); // gaps between events are exponential
        if (sum > w->mean)
            return count;
    }
}

static void fill_one(const random_work *w, size_t i)
{
    double u, v;
    uint32_t bits[4];
    draw(w, i, &u, &v, bits);
    double normal = w->mean + w->deviation * sqrt(-2 * log(u)) * sin(6.283185307179586 * v);
    switch (w->shape) {
    case BITS: ((uint32_t *)w->output)[i] = bits[0]; break;
    case LONG_BITS: ((uint64_t *)w->output)[i] = (uint64_t)bits[1] << 32 | bits[0]; break;
    case UNIFORM: ((float *)w->output)[i] = (float)bits[0] * 0x1p-32f + 0x1p-33f; break;
    case UNIFORM_DOUBLE: ((double *)w->output)[i] = u; break;
    case NORMAL: ((float *)w->output)[i] = (float)normal; break;
    case NORMAL_DOUBLE: ((double *)w->output)[i] = normal; break;
    case LOG_NORMAL: ((float *)w->output)[i] = (float)exp(normal); break;
    case LOG_NORMAL_DOUBLE: ((double *)w->output)[i] = exp(normal); break;
    default: ((uint32_t *)w->output)[i] = poisson(w, i);
    }
}

// The value below which a share p of all normal values lies: the approximation 26.2.23 of Abramowitz and Stegun, made
// exact by Newton's steps.
static double normal_of(double p)
{
    bool upper = p > 0.5;
    double q = upper ? 1 - p : p, t = sqrt(-2 * log(q));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; i++) // x: above which a share q lies
        x += (0.5 * erfc(x * 0.7071067811865476) - q) / (exp(-x * x / 2) * 0.3989422804014327);
    return upper ? x : -x;
}

static void fill_quasi(const random_work *w, size_t i)
{
    size_t each = w->n / w->dimensions;
    uint64_t bits = sim_sobol((unsigned)(i / each), w->position + i % each);
    uint32_t high = (uint32_t)(bits >> 32);
    double u = (double)high * 0x1p-32 + 0x1p-33;
    double fine = w->quasi == 64 ? (double)(bits >> 11) * 0x1p-53 + 0x1p-54 : u;
    switch (w->shape) {
    case BITS: ((uint32_t *)w->output)[i] = high; break;
    case LONG_BITS: ((uint64_t *)w->output)[i] = bits; break;
    case UNIFORM: ((float *)w->output)[i] = (float)u; break;
    case UNIFORM_DOUBLE: ((double *)w->output)[i] = w->quasi == 64 ? fine : u + 0x1p-33; break;
    case NORMAL: ((float *)w->output)[i] = (float)(w->mean + w->deviation * normal_of(u)); break;
    case NORMAL_DOUBLE: ((double *)w->output)[i] = w->mean + w->deviation * normal_of(fine); break;
    case LOG_NORMAL: ((float *)w->output)[i] = (float)exp(w->mean + w->deviation * normal_of(u)); break;
    case LOG_NORMAL_DOUBLE: ((double *)w->output)[i] = exp(w->mean + w->deviation * normal_of(fine)); break;
    default: ((uint32_t *)w->output)[i] = poisson(w, i);
    }
}

static void fill_all(const random_work *w)
{
    for (size_t i = 0; i < w->n; i++)
        (w->quasi ? fill_quasi : fill_one)(w, i);
}

static bool wide(distribution shape)
{
    return shape == LONG_BITS || shape == UNIFORM_DOUBLE || shape == NORMAL_DOUBLE || shape == LOG_NORMAL_DOUBLE;
}

static void random_run(const void *work)
{
    const random_work *w = work;
    sim_blas_span span = {"the output", w->output, wide(w->shape) ? CUDA_R_64F : CUDA_R_32F, w->n, 1, w->n};
    sim_blas_writes(w->call, &span);
    if (w->made)
        memcpy(w->output, w->numbers, w->n * sim_blas_size(span.type));
    else
        fill_all(w);
    sim_blas_written(&span);
}

// --- cuRAND's own library --------------------------------------------------------------------------------------------

static bool needs_library(curandRngType_t type)
{
    return type == CURAND_RNG_PSEUDO_MTGP32 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 ||
           type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}

// A generator of the library's in place of the one before.
static curandStatus_t renew(curandGenerator_t generator, sim_blas_call call)
{
    const sim_curand_library *library = sim_curand_installed();
    if (!library) {
        sim_library_wrong(
            call, "CURAND_STATUS_INITIALIZATION_FAILED",
            "MTGP32, scrambled Sobol and more than %d dimensions need the tables of cuRAND's own library, "
            "and no CUDA toolkit is installed",
            SIM_SOBOL_DIMENSIONS);
        return CURAND_STATUS_INITIALIZATION_FAILED;
    }
    if (generator->inner)
        library->DestroyGenerator(generator->inner);
    generator->inner = NULL;
    curandStatus_t status = library->CreateGeneratorHost(&generator->inner, generator->type);
    if (status == CURAND_STATUS_SUCCESS && generator->quasi)
        status = library->SetQuasiRandomGeneratorDimensions(generator->inner, generator->dimensions);
    else if (status == CURAND_STATUS_SUCCESS)
        status = library->SetPseudoRandomGeneratorSeed(generator->inner, generator->seed);
    if (status == CURAND_STATUS_SUCCESS && generator->quasi)
        status = library->SetGeneratorOffset(generator->inner, generator->position);
    return status;
}

static curandStatus_t draw_inner(curandGenerator_t inner, const random_work *w, void *to)
{
    const sim_curand_library *library = sim_curand_installed();
    float mean = (float)w->mean, deviation = (float)w->deviation;
    switch (w->shape) {
    case BITS: return library->Generate(inner, to, w->n);
    case LONG_BITS: return library->GenerateLongLong(inner, to, w->n);
    case UNIFORM: return library->GenerateUniform(inner, to, w->n);
    case UNIFORM_DOUBLE: return library->GenerateUniformDouble(inner, to, w->n);
    case NORMAL: return library->GenerateNormal(inner, to, w->n, mean, deviation);
    case NORMAL_DOUBLE: return library->GenerateNormalDouble(inner, to, w->n, w->mean, w->deviation);
    case LOG_NORMAL: return library->GenerateLogNormal(inner, to, w->n, mean, deviation);
    case LOG_NORMAL_DOUBLE: return library->GenerateLogNormalDouble(inner, to, w->n, w->mean, w->deviation);
    default: return library->GeneratePoisson(inner, to, w->n, w->mean);
    }
}

// The numbers are made at the call, for the library counts them, and written when the stream comes to it.
static curandStatus_t generate_inner(curandGenerator_t generator, const random_work *w)
{
    if (generator->on_host)
        return draw_inner(generator->inner, w, w->output);
    size_t bytes = sizeof *w + w->n * (wide(w->shape) ? sizeof(double) : sizeof(float));
    random_work *whole = malloc(bytes);
    if (!whole)
        return CURAND_STATUS_ALLOCATION_FAILED;
    *whole = *w;
    whole->made = true;
    curandStatus_t status = draw_inner(generator->inner, w, whole->numbers);
    if (status == CURAND_STATUS_SUCCESS && w->n &&
        !sim_library_queue(generator->stream, w->call, random_run, whole, bytes, false))
        status = CURAND_STATUS_LAUNCH_FAILURE;
    free(whole);
    return status;
}

// --- generators ------------------------------------------------------------------------------------------------------

static curandStatus_t wrong_length(const random_work *w, unsigned multiple, const char *why)
{
    sim_library_wrong(w->call, "CURAND_STATUS_LENGTH_NOT_MULTIPLE", "%zu numbers are no multiple of %u%s", w->n,
                      multiple, why);
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
}

static curandStatus_t generate(curandGenerator_t generator, random_work w)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if ((w.shape == LONG_BITS && generator->quasi == 32) || (w.shape == BITS && generator->quasi == 64))
        return CURAND_STATUS_TYPE_ERROR;
    if (generator->quasi && w.n % generator->dimensions)
        return wrong_length(&w, generator->dimensions, ", the number of dimensions");
    w.seed = generator->seed;
    w.position = generator->position;
    w.quasi = generator->quasi;
    w.dimensions = generator->dimensions;
    generator->position += w.n / generator->dimensions;
    if (generator->inner)
        return generate_inner(generator, &w);
    if (generator->on_host) {
        fill_all(&w);
        return CURAND_STATUS_SUCCESS;
    }
    return w.n == 0 || sim_library_queue(generator->stream, w.call, random_run, &w, sizeof w, false)
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_LAUNCH_FAILURE;
}

// Normal values of pseudorandom generators come in pairs there, so an odd number is refused.
static curandStatus_t generate_pairs(curandGenerator_t generator, random_work w)
{
    bool pairs = generator && !generator->quasi && !generator->inner;
    return pairs && w.n % 2 ? wrong_length(&w, 2, ": pseudorandom normal values are made in pairs")
                            : generate(generator, w);
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool on_host, sim_blas_call call)
{
    bool wide_quasi = type == CURAND_RNG_QUASI_SOBOL64 || type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
    struct curandGenerator_st *made = calloc(1, sizeof *made);
    if (!made)
        return CURAND_STATUS_ALLOCATION_FAILED;
    made->type = type;
    made->on_host = on_host;
    made->quasi = wide_quasi ? 64 : type >= CURAND_RNG_QUASI_DEFAULT ? 32 : 0;
    made->dimensions = 1;
    curandStatus_t status = needs_library(type) ? renew(made, call) : CURAND_STATUS_SUCCESS;
    if (status == CURAND_STATUS_SUCCESS)
        *generator = made;
    else
        free(made);
    return status;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false, SIM_BLAS_CALL("curandCreateGenerator"));
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, true, SIM_BLAS_CALL("curandCreateGeneratorHost"));
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    if (!generator)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (generator->inner)
        sim_curand_installed()->DestroyGenerator(generator->inner);
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
    *value = type == MAJOR_VERSION ? CURAND_VER_MAJOR : type == MINOR_VERSION ? CURAND_VER_MINOR : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    if (generator->quasi)
        return CURAND_STATUS_TYPE_ERROR;
    generator->seed = seed;
    generator->position = 0;
    return generator->inner ? renew(generator, SIM_BLAS_CALL("curandSetPseudoRandomGeneratorSeed"))
                            : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    if (generator->type == CURAND_RNG_PSEUDO_MTGP32)
        return CURAND_STATUS_TYPE_ERROR; // so in cuRAND
    generator->position = offset;
    return generator->inner ? renew(generator, SIM_BLAS_CALL("curandSetGeneratorOffset")) : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order)
{
    (void)order;
    return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned int dimensions)
{
    if (!generator || !generator->quasi)
        return generator ? CURAND_STATUS_TYPE_ERROR : CURAND_STATUS_NOT_INITIALIZED;
    if (dimensions < 1 || dimensions > MOST_DIMENSIONS)
        return CURAND_STATUS_OUT_OF_RANGE;
    generator->dimensions = dimensions;
    return generator->inner || dimensions > SIM_SOBOL_DIMENSIONS
               ? renew(generator, SIM_BLAS_CALL("curandSetQuasiRandomGeneratorDimensions"))
               : CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

#define GENERATE(Name, T, SHAPE)                                                                                       \
    curandStatus_t Name(curandGenerator_t generator, T *output, size_t n)                                              \
    {                                                                                                                  \
        return generate(generator,                                                                                     \
                        (random_work){.call = SIM_BLAS_CALL(#Name), .shape = SHAPE, .output = output, .n = n});        \
    }
GENERATE(curandGenerate, unsigned int, BITS)
GENERATE(curandGenerateLongLong, unsigned long long, LONG_BITS)
GENERATE(curandGenerateUniform, float, UNIFORM)
GENERATE(curandGenerateUniformDouble, double, UNIFORM_DOUBLE)

#define GENERATE_NORMAL(Name, T, SHAPE)                                                                                \
    curandStatus_t Name(curandGenerator_t generator, T *output, size_t n, T mean, T stddev)                            \
    {                                                                                                                  \
        return generate_pairs(generator, (random_work){.call = SIM_BLAS_CALL(#Name),                                   \
                                                       .shape = SHAPE,                                                 \
                                                       .output = output,                                               \
                                                       .n = n,                                                         \
                                                       .mean = (double)mean,                                           \
                                                       .deviation = (double)stddev});                                  \
    }
GENERATE_NORMAL(curandGenerateNormal, float, NORMAL)
GENERATE_NORMAL(curandGenerateNormalDouble, double, NORMAL_DOUBLE)
GENERATE_NORMAL(curandGenerateLogNormal, float, LOG_NORMAL)
GENERATE_NORMAL(curandGenerateLogNormalDouble, double, LOG_NORMAL_DOUBLE)

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *output, size_t n, double lambda)
{
    if (!(lambda > 0))
        return CURAND_STATUS_OUT_OF_RANGE;
    return generate(generator, (random_work){.call = SIM_BLAS_CALL("curandGeneratePoisson"),
                                             .shape = POISSON,
                                             .output = output,
                                             .n = n,
                                             .mean = lambda});
}
