// Sobol's quasirandom numbers, as cuRAND gives them: direction vectors by the recurrence of Sobol, from the primitive
// polynomials over bits in ascending order and the initial numbers that Joe and Kuo chose for them
// (new-joe-kuo-6.21201; S. Joe, F. Y. Kuo: Constructing Sobol sequences with better two-dimensional projections, SIAM
// J. Sci. Comput. 30, 2008). Polynomials to degree 10 give the first 161 of cuRAND's 20,000 dimensions.
#include <pthread.h>

#include "api/blas/blas.h"
#include "api/random/installed.h"
#include "api/random/sobol.h"

enum { MOST_DEGREE = 10 };

// As many for each polynomial as its degree.
static const uint16_t initial[] = {
    1,   1,   3,   1,   3,   1,   1,    1,   1,   1,   1,   3,   3,   1,    3,   5,   13,  1,   1,   5,   5,   17,  1,
    1,   5,   5,   5,   1,   1,   7,    11,  19,  1,   1,   5,   1,   1,    1,   1,   1,   3,   11,  1,   3,   5,   5,
    31,  1,   3,   3,   9,   7,   49,   1,   1,   1,   15,  21,  21,  1,    3,   1,   13,  27,  49,  1,   1,   1,   15,
    7,   5,   1,   3,   1,   15,  13,   25,  1,   1,   5,   5,   19,  61,   1,   3,   7,   11,  23,  15,  103, 1,   3,
    7,   13,  13,  15,  69,  1,   1,    3,   13,  7,   35,  63,  1,   3,    5,   9,   1,   25,  53,  1,   3,   1,   13,
    9,   35,  107, 1,   3,   1,   5,    27,  61,  31,  1,   1,   5,   11,   19,  41,  61,  1,   3,   5,   3,   3,   13,
    69,  1,   1,   7,   13,  1,   19,   1,   1,   3,   7,   5,   13,  19,   59,  1,   1,   3,   9,   25,  29,  41,  1,
    3,   5,   13,  23,  1,   55,  1,    3,   7,   3,   13,  59,  17,  1,    3,   1,   3,   5,   53,  69,  1,   1,   5,
    5,   23,  33,  13,  1,   1,   7,    7,   1,   61,  123, 1,   1,   7,    9,   13,  61,  49,  1,   3,   3,   5,   3,
    55,  33,  1,   3,   1,   15,  31,   13,  49,  245, 1,   3,   5,   15,   31,  59,  63,  97,  1,   3,   1,   11,  11,
    11,  77,  249, 1,   3,   1,   11,   27,  43,  71,  9,   1,   1,   7,    15,  21,  11,  81,  45,  1,   3,   7,   3,
    25,  31,  65,  79,  1,   3,   1,    1,   19,  11,  3,   205, 1,   1,    5,   9,   19,  21,  29,  157, 1,   3,   7,
    11,  1,   33,  89,  185, 1,   3,    3,   3,   15,  9,   79,  71,  1,    3,   7,   11,  15,  39,  119, 27,  1,   1,
    3,   1,   11,  31,  97,  225, 1,    1,   1,   3,   23,  43,  57,  177,  1,   3,   7,   7,   17,  17,  37,  71,  1,
    3,   1,   5,   27,  63,  123, 213,  1,   1,   3,   5,   11,  43,  53,   133, 1,   3,   5,   5,   29,  17,  47,  173,
    479, 1,   3,   3,   11,  3,   1,    109, 9,   69,  1,   1,   1,   5,    17,  39,  23,  5,   343, 1,   3,   1,   5,
    25,  15,  31,  103, 499, 1,   1,    1,   11,  11,  17,  63,  105, 183,  1,   1,   5,   11,  9,   29,  97,  231, 363,
    1,   1,   5,   15,  19,  45,  41,   7,   383, 1,   3,   7,   7,   31,   19,  83,  137, 221, 1,   1,   1,   3,   23,
    15,  111, 223, 83,  1,   1,   5,    13,  31,  15,  55,  25,  161, 1,    1,   3,   13,  25,  47,  39,  87,  257, 1,
    1,   1,   11,  21,  53,  125, 249,  293, 1,   1,   7,   11,  11,  7,    57,  79,  323, 1,   1,   5,   5,   17,  13,
    81,  3,   131, 1,   1,   7,   13,   23,  7,   65,  251, 475, 1,   3,    5,   1,   9,   43,  3,   149, 11,  1,   1,
    3,   13,  31,  13,  13,  255, 487,  1,   3,   3,   1,   5,   63,  89,   91,  127, 1,   1,   3,   3,   1,   19,  123,
    127, 237, 1,   1,   5,   7,   23,   31,  37,  243, 289, 1,   1,   5,    11,  17,  53,  117, 183, 491, 1,   1,   1,
    5,   1,   13,  13,  209, 345, 1,    1,   3,   15,  1,   57,  115, 7,    33,  1,   3,   1,   11,  7,   43,  81,  207,
    175, 1,   3,   1,   1,   15,  27,   63,  255, 49,  1,   3,   5,   3,    27,  61,  105, 171, 305, 1,   1,   5,   3,
    1,   3,   57,  249, 149, 1,   1,    3,   5,   5,   57,  15,  13,  159,  1,   1,   1,   11,  7,   11,  105, 141, 225,
    1,   3,   3,   5,   27,  59,  121,  101, 271, 1,   3,   5,   9,   11,   49,  51,  59,  115, 1,   1,   7,   1,   23,
    45,  125, 71,  419, 1,   1,   3,    5,   23,  5,   105, 109, 75,  1,    1,   7,   15,  7,   11,  67,  121, 453, 1,
    3,   7,   3,   9,   13,  31,  27,   449, 1,   3,   1,   15,  19,  39,   39,  89,  15,  1,   1,   1,   1,   1,   33,
    73,  145, 379, 1,   3,   1,   15,   15,  43,  29,  13,  483, 1,   1,    7,   3,   19,  27,  85,  131, 431, 1,   3,
    3,   3,   5,   35,  23,  195, 349,  1,   3,   3,   7,   9,   27,  39,   59,  297, 1,   1,   3,   9,   11,  17,  13,
    241, 157, 1,   3,   7,   15,  25,   57,  33,  189, 213, 1,   1,   7,    1,   9,   55,  73,  83,  217, 1,   3,   3,
    13,  19,  27,  23,  113, 249, 1,    3,   5,   3,   23,  43,  3,   253,  479, 1,   1,   5,   5,   11,  5,   45,  117,
    217, 1,   3,   3,   7,   29,  37,   33,  123, 147, 1,   3,   1,   15,   5,   5,   37,  227, 223, 459, 1,   1,   7,
    5,   5,   39,  63,  255, 135, 487,  1,   3,   1,   7,   9,   7,   87,   249, 217, 599, 1,   1,   3,   13,  9,   47,
    7,   225, 363, 247, 1,   3,   7,    13,  19,  13,  9,   67,  9,   737,  1,   3,   5,   5,   19,  59,  7,   41,  319,
    677, 1,   1,   5,   3,   31,  63,   15,  43,  207, 789, 1,   1,   7,    9,   13,  39,  3,   47,  497, 169, 1,   3,
    1,   7,   21,  17,  97,  19,  415,  905, 1,   3,   7,   1,   3,   31,   71,  111, 165, 127, 1,   1,   5,   11,  1,
    61,  83,  119, 203, 847, 1,   3,    3,   13,  9,   61,  19,  97,  47,   35,  1,   1,   7,   7,   15,  29,  63,  95,
    417, 469, 1,   3,   1,   9,   25,   9,   71,  57,  213, 385, 1,   3,    5,   13,  31,  47,  101, 57,  39,  341, 1,
    1,   3,   3,   31,  57,  125, 173,  365, 551, 1,   3,   7,   1,   13,   57,  67,  157, 451, 707, 1,   1,   1,   7,
    21,  13,  105, 89,  429, 965, 1,    1,   5,   9,   17,  51,  45,  119,  157, 141, 1,   3,   7,   7,   13,  45,  91,
    9,   129, 741, 1,   3,   7,   1,    23,  57,  67,  141, 151, 571, 1,    1,   3,   11,  17,  47,  93,  107, 375, 157,
    1,   3,   3,   5,   11,  21,  43,   51,  169, 915, 1,   1,   5,   3,    15,  55,  101, 67,  455, 625, 1,   3,   5,
    9,   1,   23,  29,  47,  345, 595,  1,   3,   7,   7,   5,   49,  29,   155, 323, 589, 1,   3,   3,   7,   5,   41,
    127, 61,  261, 717, 1,   3,   7,    7,   17,  23,  117, 67,  129, 1009, 1,   1,   3,   13,  11,  39,  21,  207, 123,
    305, 1,   1,   3,   9,   29,  3,    95,  47,  231, 73,  1,   3,   1,    9,   1,   29,  117, 21,  441, 259, 1,   3,
    1,   13,  21,  39,  125, 211, 439,  723, 1,   1,   7,   3,   17,  63,   115, 89,  49,  773, 1,   3,   7,   13,  11,
    33,  101, 107, 63,  73,  1,   1,    5,   5,   13,  57,  63,  135, 437,  177, 1,   1,   3,   7,   27,  63,  93,  47,
    417, 483, 1,   1,   3,   1,   23,   29,  1,   191, 49,  23,  1,   1,    3,   15,  25,  55,  9,   101, 219, 607, 1,
    3,   1,   7,   7,   19,  51,  251,  393, 307, 1,   3,   3,   3,   25,   55,  17,  75,  337, 3,   1,   1,   1,   13,
    25,  17,  65,  45,  479, 413, 1,    1,   7,   7,   27,  49,  99,  161,  213, 727, 1,   3,   5,   1,   23,  5,   43,
    41,  251, 857, 1,   3,   3,   7,    11,  61,  39,  87,  383, 835, 1,    1,   3,   15,  13,  7,   29,  7,   505, 923,
    1,   3,   7,   1,   5,   31,  47,   157, 445, 501, 1,   1,   3,   7,    1,   43,  9,   147, 115, 605, 1,   3,   3,
    13,  5,   1,   119, 211, 455, 1001, 1,   1,   3,   5,   13,  19,  3,    243, 75,  843, 1,   3,   7,   7,   1,   19,
    91,  249, 357, 589, 1,   1,   1,    9,   1,   25,  109, 197, 279, 411,  1,   3,   1,   15,  23,  57,  59,  135, 191,
    75,  1,   1,   5,   15,  29,  21,   39,  253, 383, 349, 1,   3,   3,    5,   19,  45,  61,  151, 199, 981, 1,   3,
    5,   13,  9,   61,  107, 141, 141,  1,   1,   3,   1,   11,  27,  25,   85,  105, 309, 979, 1,   3,   3,   11,  19,
    7,   115, 223, 349, 43,  1,   1,    7,   9,   21,  39,  123, 21,  275,  927, 1,   1,   7,   13,  15,  41,  47,  243,
    303, 437, 1,   1,   1,   7,   7,    3,   15,  99,  409, 719,
};

static curandDirectionVectors32_t vectors_32[SIM_SOBOL_DIMENSIONS];
static curandDirectionVectors64_t vectors_64[SIM_SOBOL_DIMENSIONS];

// Whether x generates all numbers but 0 modulo the polynomial.
static bool is_primitive(unsigned polynomial, int degree)
{
    unsigned power = 1, order = 0;
    do {
        power <<= 1;
        if (power >> degree)
            power ^= polynomial;
        order++;
    } while (power != 1 && order < 1u << degree);
    return order == (1u << degree) - 1;
}

// `bits` direction vectors of 64 bits; those of 32 bits are their upper halves.
static void fill(unsigned polynomial, int degree, const uint16_t *numbers, unsigned long long *vectors)
{
    for (int i = 0; i < 64; i++) {
        if (i < degree) {
            vectors[i] = (unsigned long long)numbers[i] << (63 - i);
            continue;
        }
        vectors[i] = vectors[i - degree] ^ vectors[i - degree] >> degree;
        for (int k = 1; k < degree; k++)
            if (polynomial >> (degree - k) & 1)
                vectors[i] ^= vectors[i - k];
    }
}

static void make_vectors(void)
{
    const uint16_t *numbers = initial;
    int dimension = 1;
    for (int i = 0; i < 64; i++)
        vectors_64[0][i] = 1ull << (63 - i); // the first has no polynomial
    for (int degree = 1; degree <= MOST_DEGREE; degree++)
        for (unsigned polynomial = 1u << degree | 1; polynomial < 2u << degree; polynomial += 2)
            if (is_primitive(polynomial, degree)) {
                fill(polynomial, degree, numbers, vectors_64[dimension++]);
                numbers += degree;
            }
    for (int d = 0; d < SIM_SOBOL_DIMENSIONS; d++)
        for (int i = 0; i < 32; i++)
            vectors_32[d][i] = (unsigned)(vectors_64[d][i] >> 32);
}

static void make_vectors_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_vectors);
}

uint64_t sim_sobol(unsigned dimension, uint64_t index)
{
    uint64_t gray = index ^ index >> 1, x = 0;
    make_vectors_once();
    for (int i = 0; gray != 0; gray >>= 1, i++)
        if (gray & 1)
            x ^= vectors_64[dimension][i];
    return x;
}

// Scrambled vectors are those of cuRAND's own library.
static const sim_curand_library *scrambled(sim_blas_call call)
{
    const sim_curand_library *library = sim_curand_installed();
    if (!library)
        sim_library_wrong(call, "CURAND_STATUS_INITIALIZATION_FAILED",
                          "scrambled Sobol needs the tables of cuRAND's own library, and no CUDA toolkit is installed");
    return library;
}

#define GET_VECTORS(BITS)                                                                                              \
    curandStatus_t curandGetDirectionVectors##BITS(curandDirectionVectors##BITS##_t *vectors[],                        \
                                                   curandDirectionVectorSet_t set)                                     \
    {                                                                                                                  \
        const sim_curand_library *library;                                                                             \
        switch (set) {                                                                                                 \
        case CURAND_DIRECTION_VECTORS_##BITS##_JOEKUO6:                                                                \
            make_vectors_once();                                                                                       \
            *vectors = vectors_##BITS;                                                                                 \
            return CURAND_STATUS_SUCCESS;                                                                              \
        case CURAND_SCRAMBLED_DIRECTION_VECTORS_##BITS##_JOEKUO6:                                                      \
            library = scrambled(SIM_BLAS_CALL("curandGetDirectionVectors" #BITS));                                     \
            return library ? library->GetDirectionVectors##BITS(vectors, set) : CURAND_STATUS_INITIALIZATION_FAILED;   \
        default: return CURAND_STATUS_OUT_OF_RANGE;                                                                    \
        }                                                                                                              \
    }
GET_VECTORS(32)
GET_VECTORS(64)

curandStatus_t curandGetScrambleConstants32(unsigned int **constants)
{
    const sim_curand_library *library = scrambled(SIM_BLAS_CALL("curandGetScrambleConstants32"));
    return library ? library->GetScrambleConstants32(constants) : CURAND_STATUS_INITIALIZATION_FAILED;
}

curandStatus_t curandGetScrambleConstants64(unsigned long long **constants)
{
    const sim_curand_library *library = scrambled(SIM_BLAS_CALL("curandGetScrambleConstants64"));
    return library ? library->GetScrambleConstants64(constants) : CURAND_STATUS_INITIALIZATION_FAILED;
}
