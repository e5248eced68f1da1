// Elements of matrices: every type that cuBLAS takes here, read as a double and rounded to nearest even when stored.
#include <math.h>
#include <string.h>

#include "api/blas/blas.h"

enum {
    HALF_FRACTION = 10,
    HALF_BIAS = 15,
    HALF_INFINITY = 0x7c00,
    FLOAT_FRACTION = 23,
    FLOAT_BIAS = 127,
    BFLOAT_DROPPED = 16,
};

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float from_half(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= HALF_INFINITY)
        return bits_float(sign | 0x7f800000 | (magnitude & 0x3ff) << (FLOAT_FRACTION - HALF_FRACTION));
    if (magnitude < 1u << HALF_FRACTION) { // subnormal: a multiple of 2^-24
        float value = (float)magnitude * 0x1p-24f;
        return sign ? -value : value;
    }
    uint32_t rebias = (uint32_t)(FLOAT_BIAS - HALF_BIAS) << FLOAT_FRACTION;
    return bits_float(sign | ((magnitude << (FLOAT_FRACTION - HALF_FRACTION)) + rebias));
}

// Drops the low bits of an unsigned number, to nearest even.
static uint32_t drop_bits(uint32_t number, int count)
{
    uint32_t half = 1u << (count - 1), low = number & ((half << 1) - 1), kept = number >> count;
    return kept + (low > half || (low == half && (kept & 1)));
}

static uint16_t to_half(float value)
{
    uint32_t bits = float_bits(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fff;           // what the hardware makes of every NaN
    if (magnitude >= 0x477ff000) // 65520: rounds to infinity
        return (uint16_t)(sign | HALF_INFINITY);
    if (magnitude < 0x38800000) // below 2^-14: a multiple of 2^-24, rounded by the addition
        return (uint16_t)(sign | (float_bits(bits_float(magnitude) + 0.5f) - float_bits(0.5f)));
    uint32_t rebias = (uint32_t)(FLOAT_BIAS - HALF_BIAS) << FLOAT_FRACTION;
    return (uint16_t)(sign | drop_bits(magnitude - rebias, FLOAT_FRACTION - HALF_FRACTION));
}

static float from_bfloat(uint16_t bits)
{
    return bits_float((uint32_t)bits << BFLOAT_DROPPED);
}

static uint16_t to_bfloat(float value)
{
    uint32_t bits = float_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (uint16_t)drop_bits(bits, BFLOAT_DROPPED);
}

size_t sim_blas_size(cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_8I:
    case CUDA_R_8U: return 1;
    default: return 0;
    }
}

double sim_blas_load(cudaDataType type, const void *array, size_t index)
{
    switch (type) {
    case CUDA_R_64F: return ((const double *)array)[index];
    case CUDA_R_32F: return (double)((const float *)array)[index];
    case CUDA_R_16F: return (double)from_half(((const uint16_t *)array)[index]);
    case CUDA_R_16BF: return (double)from_bfloat(((const uint16_t *)array)[index]);
    case CUDA_R_32I: return ((const int32_t *)array)[index];
    case CUDA_R_8I: return ((const int8_t *)array)[index];
    case CUDA_R_8U: return ((const uint8_t *)array)[index];
    default: return NAN;
    }
}

void sim_blas_store(cudaDataType type, void *array, size_t index, double value)
{
    switch (type) {
    case CUDA_R_64F: ((double *)array)[index] = value; break;
    case CUDA_R_32F: ((float *)array)[index] = (float)value; break;
    case CUDA_R_16F: ((uint16_t *)array)[index] = to_half((float)value); break;
    case CUDA_R_16BF: ((uint16_t *)array)[index] = to_bfloat((float)value); break;
    case CUDA_R_32I: ((int32_t *)array)[index] = (int32_t)(int64_t)value; break;
    case CUDA_R_8I: ((int8_t *)array)[index] = (int8_t)fmax(-128, fmin(127, nearbyint(value))); break;
    default: break;
    }
}

size_t sim_blas_element(int i, int n, int increment)
{
    return (size_t)(increment >= 0 ? (long)i * increment : (long)(i - n + 1) * increment);
}
