// Blocks pass numbers on without flags: memory begins as a NaN that no result is, and who reads it looks again, at four
// numbers at a time, until they are something else.
#include "../corpus.h"

enum { BLOCKS = 8, VECTORS = 64, ROUNDS = 3 };
static const unsigned MISSING = 0xffffffff;

__device__ static float4 peek(const float4 *from)
{
    float4 value;
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
    return value;
}

__device__ static bool is_missing(const float4 &value)
{
    return __float_as_uint(value.x) == MISSING || __float_as_uint(value.y) == MISSING ||
           __float_as_uint(value.z) == MISSING || __float_as_uint(value.w) == MISSING;
}

__device__ static void leave(float4 *to, const float4 &value)
{
    asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)
                 : "memory");
}

// Each block adds the two vectors that it reads in the round before, which any blocks may have stored.
__global__ void pass_on(float4 *rounds)
{
    const int mine = blockIdx.x * blockDim.x + threadIdx.x;
    leave(rounds + mine, make_float4(mine, 1, 2, 3));
    for (int round = 1; round <= ROUNDS; round++) {
        const float4 *from = rounds + (round - 1) * VECTORS;
        const int other[2] = {(mine + 17) % VECTORS, (mine * 5 + 3) % VECTORS};
        float4 read[2] = {peek(from + other[0]), peek(from + other[1])};
        for (bool missing = true; missing;) {
            missing = false;
            for (int i = 0; i < 2; i++)
                if (is_missing(read[i])) {
                    read[i] = peek(from + other[i]);
                    missing = true;
                }
        }
        leave(rounds + round * VECTORS + mine,
              make_float4(read[0].x + read[1].x, read[0].y + read[1].y, read[0].z + read[1].z, read[0].w + read[1].w));
    }
}

int main()
{
    float4 *rounds = device_zeros<float4>((ROUNDS + 1) * VECTORS), result[(ROUNDS + 1) * VECTORS];
    CHECK(cudaMemset(rounds, 0xff, sizeof result));
    void *arguments[] = {&rounds};
    CHECK(cudaLaunchCooperativeKernel((const void *)pass_on, dim3(BLOCKS), dim3(VECTORS / BLOCKS), arguments, 0, 0));
    CHECK(cudaDeviceSynchronize());
    fetch(result, rounds);
    for (int round = 1; round <= ROUNDS; round++)
        for (int i = 0; i < VECTORS; i++)
            REQUIRE(result[round * VECTORS + i].w == 3 << round);
    CHECK(cudaFree(rounds));
    return 0;
}
