// Functions of cuda::std for the bits of numbers, which CUDA has from C++17 on.
#include "../corpus.h"
#include <cuda/std/bit>

__global__ void look(const unsigned *numbers, int *widths, unsigned *powers, int count)
{
    int i = threadIdx.x;
    if (i >= count)
        return;
    const unsigned x = numbers[i];
    widths[i] = cuda::std::popcount(x) + 100 * cuda::std::bit_width(x) + 10000 * cuda::std::countr_zero(x);
    powers[i] = cuda::std::bit_ceil(x) - cuda::std::bit_floor(x) + cuda::std::rotl(x, 28) % 16;
}

static_assert(cuda::std::countl_zero((unsigned char)1) == 7, "of the number's own width");
static_assert(cuda::std::rotr((unsigned short)1, 1) == 0x8000, "of the number's own width");
static_assert(cuda::std::has_single_bit(64ull) && !cuda::std::has_single_bit(0u), "a power of two");

int main()
{
    const unsigned numbers[] = {1, 6, 40, 0xffff0000};
    unsigned *from = device_copy(numbers), *powers = device_zeros<unsigned>(4), power[4];
    int *widths = device_zeros<int>(4), width[4];
    look<<<1, 32>>>(from, widths, powers, 3);
    fetch(width, widths);
    fetch(power, powers);
    REQUIRE(width[0] == 101 && width[1] == 10302 && width[2] == 30602);
    REQUIRE(power[0] == 0 && power[1] == 4 && power[2] == 34);
    REQUIRE(cuda::std::bit_cast<unsigned>(1.0f) == 0x3f800000);
    CHECK(cudaFree(from));
    CHECK(cudaFree(powers));
    CHECK(cudaFree(widths));
    return 0;
}
