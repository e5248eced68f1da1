// Numbers of several words added, subtracted and multiplied in inline PTX, where the carry goes from one to the next.
#include "../corpus.h"

typedef unsigned long long word;

__global__ void calculate(const word *a, const word *b, word *out)
{
    word sum[2], difference[2];
    asm("add.cc.u64 %0, %2, %4;\n\taddc.u64 %1, %3, %5;"
        : "=l"(sum[0]), "=l"(sum[1])
        : "l"(a[0]), "l"(a[1]), "l"(b[0]), "l"(b[1]));
    asm("{ sub.cc.u64 %0, %2, %4; subc.u64 %1, %3, %5; }"
        : "=l"(difference[0]), "=l"(difference[1])
        : "l"(a[0]), "l"(a[1]), "l"(b[0]), "l"(b[1]));
    out[0] = sum[0];
    out[1] = sum[1];
    out[2] = difference[0];
    out[3] = difference[1];
}

// The square of a number of 64 bits, by words of 32: four words.
__global__ void square(unsigned low, unsigned high, unsigned *out)
{
    unsigned r0, r1, r2, r3;
    asm("{\n\t"
        "mul.lo.u32 %0, %4, %4;\n\t"
        "mul.hi.u32 %1, %4, %4;\n\t"
        "mad.lo.cc.u32 %1, %4, %5, %1;\n\t"
        "madc.hi.u32 %2, %4, %5, 0;\n\t"
        "mad.lo.cc.u32 %1, %5, %4, %1;\n\t"
        "madc.hi.cc.u32 %2, %5, %4, %2;\n\t"
        "addc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %5, %2;\n\t"
        "madc.hi.u32 %3, %5, %5, %3;\n\t"
        "}"
        : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3)
        : "r"(low), "r"(high));
    out[0] = r0;
    out[1] = r1;
    out[2] = r2;
    out[3] = r3;
}

int main()
{
    word left[2] = {~0ull - 3, 7}, right[2] = {10, 2}, result[4];
    word *a = device_copy(left), *b = device_copy(right), *out = device_zeros<word>(4);
    unsigned *words = device_zeros<unsigned>(4), squared[4];
    calculate<<<1, 1>>>(a, b, out);
    fetch(result, out);
    REQUIRE(result[0] == 6 && result[1] == 10);
    REQUIRE(result[2] == ~0ull - 13 && result[3] == 5);
    calculate<<<1, 1>>>(b, a, out);
    fetch(result, out);
    REQUIRE(result[2] == 14 && result[3] == ~0ull - 5);

    const word number = 0xfedcba9876543210ull;
    const unsigned __int128 expected = (unsigned __int128)number * number;
    square<<<1, 1>>>((unsigned)number, (unsigned)(number >> 32), words);
    fetch(squared, words);
    for (int i = 0; i < 4; i++)
        REQUIRE(squared[i] == (unsigned)(expected >> (32 * i)));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(out));
    CHECK(cudaFree(words));
    return 0;
}
