// predict_one, rung 1: all layers of a network in one kernel, in float32.
//
// kernel.h has the way from the image to the probabilities. A lane multiplies two pixels by eight channels, in the four
// columns of 16 that it has loaded; the other lanes' weights come through shared memory. At the end the four lanes of a
// pixel add their sums.
//
// Limited by: latency: for each layer one trip to memory, and one more to wait for the other blocks.

#include "ops/predict_one/kernel.h"

struct predict_cores {
    typedef float sums[2][8]; // two pixels of eight channels

    struct rows {
        float4 low, high;

        __device__ rows(const float4 &first, const float4 &second) : low(first), high(second)
        {
        }
    };

    static __device__ __forceinline__ float product(const float4 &a, const float4 &b)
    {
        return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
    }

    static __device__ __forceinline__ void multiply(sums &sums, const rows &a, const float4 &b, float4 *shared)
    {
        __syncwarp();
        shared[threadIdx.x % 32] = b;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const float4 other = shared[i * 4 + threadIdx.x % 4];
            sums[0][i] += product(a.low, other);
            sums[1][i] += product(a.high, other);
        }
    }

    static __device__ __forceinline__ void clear(sums &sums)
    {
#pragma unroll
        for (int i = 0; i < 16; i++)
            sums[i / 8][i % 8] = 0;
    }

    // Whether something that was multiplied was NaN, in one of the two pixels.
    static __device__ __forceinline__ bool is_missing(const sums &sums)
    {
        return isnan(sums[0][0] + sums[1][0]);
    }

    // As tensor cores leave them: channels 2 * j and 2 * j + 1 of both pixels in lane j of a pixel's four.
    static __device__ __forceinline__ void leave(const sums &sums, float (&four)[4])
    {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float sum = sums[i / 8][i % 8];
            sum += __shfl_xor_sync(~0u, sum, 1);
            sum += __shfl_xor_sync(~0u, sum, 2);
            if (i % 8 / 2 == (int)threadIdx.x % 4)
                four[i / 8 * 2 + i % 2] = sum;
        }
    }
};

static heddle_status launch(const heddle_call *call)
{
    return predict_launch(predict_one<predict_cores>, "01_cuda_cores", call);
}

HEDDLE_CUDA_RUNG("predict_one", "01_cuda_cores", launch)
