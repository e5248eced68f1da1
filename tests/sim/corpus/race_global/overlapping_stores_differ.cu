// Racing stores of different widths, and copies of structures that overlap: the same only if every byte that both store
// is.
#include "../corpus.h"

struct samples {
    int at[8];
};

__global__ void narrow_and_wide(unsigned char *bytes, int *words)
{
    if (threadIdx.x == 0) {
        *(unsigned short *)bytes = 0x0101;            // expect: race a
        *(int4 *)words = make_int4(1, 1, 1, 1);       // expect: race b
        *(int4 *)(words + 4) = make_int4(1, 1, 1, 1); // expect: race(warning) c
    }
    if (threadIdx.x == 40) {
        bytes[1] = 2;                           // expect: race a
        *(int2 *)(words + 2) = make_int2(2, 2); // expect: race b
        *(int2 *)(words + 6) = make_int2(1, 1); // expect: race(warning) c
    }
}

__global__ void copies(int *output, const int *input, int apart)
{
    if (threadIdx.x % 32 == 0)
        *(samples *)(output + threadIdx.x / 32 * apart) = *(const samples *)input; // expect: race
}

int main()
{
    unsigned char *bytes = device_zeros<unsigned char>(4);
    int *words = device_zeros<int>(8), *output = device_zeros<int>(16), *input = device_ramp(8, 1, 1);
    narrow_and_wide<<<1, 64>>>(bytes, words);
    SHOW(cudaGetLastError());
    copies<<<1, 64>>>(output, input, 4);
    SHOW(cudaGetLastError());
    int result[1];
    fetch(result, output);
    CHECK(cudaFree(bytes));
    CHECK(cudaFree(words));
    CHECK(cudaFree(output));
    CHECK(cudaFree(input));
    return 0;
}
