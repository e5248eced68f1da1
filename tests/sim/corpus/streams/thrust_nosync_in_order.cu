// Thrust algorithms that do not wait, and whose results are waited for; functions that use memory of the device
// themselves; and the same with policies that wait.
#include "../corpus.h"
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

const int N = 256;

struct store_square {
    float *to;
    __host__ __device__ void operator()(int i) const
    {
        to[i] = (float)i * (float)i;
    }
};

struct look_up {
    const float *from;
    __host__ __device__ float operator()(int i) const
    {
        return from[i];
    }
};

__global__ void twice(float *data)
{
    data[threadIdx.x] *= 2;
}

int main()
{
    float *data = NULL, *shared = NULL;
    int *order = NULL;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&data, N * sizeof(float)));
    CHECK(cudaMalloc(&order, N * sizeof(int)));
    CHECK(cudaMallocManaged(&shared, N * sizeof(float)));
    auto nosync = thrust::cuda::par_nosync.on(stream);
    thrust::counting_iterator<int> begin(0);
    thrust::for_each(nosync, begin, begin + N, store_square{data});
    twice<<<1, N, 0, stream>>>(data);
    thrust::sequence(nosync, order, order + N, N - 1, -1);
    thrust::transform(nosync, order, order + N, shared, look_up{data});
    thrust::sort(nosync, shared, shared + N);
    float *end = thrust::inclusive_scan(nosync, shared, shared + N, shared);
    REQUIRE(end == shared + N);
    REQUIRE(thrust::reduce(nosync, order, order + N) == N * (N - 1) / 2);
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(shared[1] == 2 && shared[2] == 10);

    thrust::device_vector<float> values(N, 1.0f), picked(N);
    thrust::for_each(thrust::device, begin, begin + N, store_square{thrust::raw_pointer_cast(values.data())});
    thrust::transform(begin, begin + N, picked.begin(), look_up{thrust::raw_pointer_cast(values.data())});
    REQUIRE(picked[5] == 25);
    thrust::sort(thrust::device, order, order + N);
    float *fresh;
    CHECK(cudaMalloc(&fresh, N * sizeof(float)));
    thrust::scatter(thrust::device, data, data + N / 2, order, fresh);
    REQUIRE(thrust::device_ptr<float>(fresh)[3] == 18);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(fresh));
    CHECK(cudaFree(shared));
    CHECK(cudaFree(order));
    CHECK(cudaFree(data));
    return 0;
}
