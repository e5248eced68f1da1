// What lanes do together: every shuffle for every type, votes, match, reduce, barriers that count.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

static const unsigned int everyone = 0xffffffffu;

template <class T> __device__ void shuffles()
{
    const int lane = threadIdx.x % 32;
    const T mine = T(lane + 1);
    CHECK((float)__shfl_sync(everyone, mine, 5) == 6);
    CHECK((float)__shfl_sync(everyone, mine, lane + 3) == (lane + 3) % 32 + 1);
    CHECK((float)__shfl_sync(everyone, mine, 2, 8) == lane / 8 * 8 + 3);
    CHECK((float)__shfl_up_sync(everyone, mine, 2) == (lane < 2 ? lane : lane - 2) + 1);
    CHECK((float)__shfl_up_sync(everyone, mine, 1, 16) == (lane % 16 < 1 ? lane : lane - 1) + 1);
    CHECK((float)__shfl_down_sync(everyone, mine, 4) == (lane + 4 > 31 ? lane : lane + 4) + 1);
    CHECK((float)__shfl_down_sync(everyone, mine, 3, 4) == (lane % 4 + 3 > 3 ? lane : lane + 3) + 1);
    CHECK((float)__shfl_xor_sync(everyone, mine, 1) == (lane ^ 1) + 1);
    CHECK((float)__shfl_xor_sync(everyone, mine, 16) == (lane ^ 16) + 1);
}

__global__ void all_types()
{
    shuffles<int>();
    shuffles<unsigned int>();
    shuffles<long>();
    shuffles<unsigned long>();
    shuffles<long long>();
    shuffles<unsigned long long>();
    shuffles<float>();
    shuffles<double>();
    shuffles<__half>();
    shuffles<__nv_bfloat16>();
    const int lane = threadIdx.x;
    __half2 pair = __floats2half2_rn(lane, -lane);
    CHECK(__high2float(__shfl_down_sync(everyone, pair, 1)) == -(lane == 31 ? 31 : lane + 1));
    long long wide = ((long long)lane << 40) + 1;
    CHECK(__shfl_xor_sync(everyone, wide, 3) == ((long long)(lane ^ 3) << 40) + 1);
}

__global__ void votes()
{
    const int lane = threadIdx.x % 32;
    CHECK(__ballot_sync(everyone, lane < 4) == 0xfu);
    CHECK(__all_sync(everyone, lane >= 0) && !__all_sync(everyone, lane != 9));
    CHECK(__any_sync(everyone, lane == 9) && !__any_sync(everyone, lane == 77));
    CHECK(__match_any_sync(everyone, lane / 8) == 0xffu << lane / 8 * 8);
    CHECK(__match_any_sync(everyone, (double)(lane % 2)) == (lane % 2 ? 0xaaaaaaaau : 0x55555555u));
    int agreed = -1;
    CHECK(__match_all_sync(everyone, 3.5f, &agreed) == everyone && agreed == 1);
    CHECK(__match_all_sync(everyone, lane / 31, &agreed) == 0 && agreed == 0);
    CHECK(__reduce_add_sync(everyone, (unsigned)lane) == 496 && __reduce_add_sync(everyone, -lane) == -496);
    CHECK(__reduce_min_sync(everyone, lane - 16) == -16 && __reduce_max_sync(everyone, lane - 16) == 15);
    CHECK(__reduce_max_sync(everyone, (unsigned)lane) == 31 && __reduce_or_sync(everyone, 1u << lane) == everyone);
    CHECK(__reduce_and_sync(everyone, lane | 64u) == 64 && __reduce_xor_sync(everyone, 1u << lane / 2) == 0);
    if (lane % 2 == 0) {
        CHECK(__ballot_sync(0x55555555u, lane > 15) == 0x55550000u);
        CHECK(__shfl_sync(0x55555555u, lane, 6) == 6);
        __syncwarp(0x55555555u);
    }
    __syncwarp();
}

__global__ void block_votes()
{
    CHECK(__syncthreads_count(threadIdx.x < 70) == 70);
    CHECK(__syncthreads_and(threadIdx.x < 96) != 0 && __syncthreads_and(threadIdx.x != 40) == 0);
    CHECK(__syncthreads_or(threadIdx.x == 95) != 0 && __syncthreads_or(threadIdx.x > 95) == 0);
}

__global__ void sum(const float *input, float *output)
{
    __shared__ float partial[4];
    float value = input[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(everyone, value, offset);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        *output = partial[0] + partial[1] + partial[2] + partial[3];
}

int main()
{
    all_types<<<1, 32>>>();
    votes<<<2, 64>>>();
    block_votes<<<1, 96>>>();
    float host[128], total = 0, *input = NULL, *output = NULL;
    for (int i = 0; i < 128; i++)
        host[i] = i;
    cudaMalloc(&input, sizeof host);
    cudaMalloc(&output, sizeof total);
    cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<1, 128>>>(input, output);
    cudaMemcpy(&total, output, sizeof total, cudaMemcpyDeviceToHost);
    CHECK(total == 8128);
    cudaFree(input);
    cudaFree(output);
    return check_result();
}
