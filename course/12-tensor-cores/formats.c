// Rounds a number to the formats of tensor cores by hand, and shows what is left of it: ./formats 0.1
// A format with fewer mantissa bits is the float's bits, rounded to nearest, ties to even, and cut.

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float rounded(float value, int mantissa_bits)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    int cut = 23 - mantissa_bits;
    if (cut == 0)
        return value;
    uint32_t half = 1u << (cut - 1), odd = bits >> cut & 1;
    bits += half - 1 + odd; // a tie goes to the even neighbour
    bits &= ~((1u << cut) - 1);
    memcpy(&value, &bits, sizeof value);
    return value;
}

// An exponent of 5 bits ends at 65504 above and at 2^-14 below. Smaller numbers are multiples of 2^-24 (subnormal).
static float rounded_to_fp16(float value)
{
    if (fabsf(value) < 0x1p-14f)
        return rintf(value * 0x1p24f) * 0x1p-24f;
    float kept = rounded(value, 10);
    return fabsf(kept) > 65504 ? copysignf(INFINITY, kept) : kept;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int exponent, mantissa;
    } formats[] = {{"float32", 8, 23}, {"tf32", 8, 10}, {"fp16", 5, 10}, {"bf16", 8, 7}};
    float value = argc > 1 ? (float)atof(argv[1]) : 0.1f;
    if (!(fabsf(value) <= FLT_MAX)) {
        fprintf(stderr, "%s is not a number that float32 can hold\n", argv[1]);
        return 2;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        float kept = formats[i].exponent == 5 ? rounded_to_fp16(value) : rounded(value, formats[i].mantissa);
        double error = value == 0 ? 0 : fabs((double)kept - value) / fabs(value);
        printf("%-8s 1 + %d + %2d bits  %-14.9g  off by %.1e\n", formats[i].name, formats[i].exponent,
               formats[i].mantissa, kept, error);
    }
    return 0;
}
