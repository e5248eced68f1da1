// Forms of cuBLAS and Thrust that few programs use: a dot product of halves, scans by key with an operation, removal by
// a stencil, extremes by a comparison, shuffling, untyped memory.
#include "../corpus.h"

#include <cublas_v2.h>
#include <cuda/std/functional>
#include <cuda_fp16.h>
#include <thrust/detail/type_traits.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/random.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/shuffle.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

static void dot()
{
    const int n = 32;
    thrust::device_vector<__half> x(n, __float2half(0.5f)), y(n, __float2half(2.0f));
    __half result;
    cublasHandle_t handle;
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    const void *left = thrust::raw_pointer_cast(x.data()), *right = thrust::raw_pointer_cast(y.data());
    REQUIRE(cublasDotEx(handle, n, left, CUDA_R_16F, 1, right, CUDA_R_16F, 1, &result, CUDA_R_16F, CUDA_R_32F) ==
            CUBLAS_STATUS_SUCCESS);
    REQUIRE(__half2float(result) == 32.0f);
    REQUIRE(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
}

static void scans()
{
    const int keys[] = {1, 1, 2, 2, 2}, values[] = {5, 3, 4, 9, 1}, smallest[] = {5, 3, 4, 4, 1};
    thrust::device_vector<int> k(keys, keys + 5), v(values, values + 5), out(5), out_keys(5);
    thrust::inclusive_scan_by_key(k.begin(), k.end(), v.begin(), out.begin(), thrust::equal_to<int>(),
                                  thrust::minimum<int>());
    for (int i = 0; i < 5; i++)
        REQUIRE(out[i] == smallest[i]);
    thrust::exclusive_scan_by_key(k.begin(), k.end(), v.begin(), out.begin(), 10);
    REQUIRE(out[0] == 10 && out[1] == 15 && out[2] == 10 && out[4] == 23);
    auto ends = thrust::unique_by_key_copy(k.begin(), k.end(), v.begin(), out_keys.begin(), out.begin());
    REQUIRE(ends.first - out_keys.begin() == 2 && out_keys[1] == 2 && out[0] == 5 && out[1] == 4);
}

struct Odd {
    __host__ __device__ bool operator()(int x) const
    {
        return x % 2 != 0;
    }
};

static void selections()
{
    const int values[] = {5, 3, 4, 9, 1}, stencil[] = {0, 1, 0, 1, 0};
    thrust::device_vector<int> v(values, values + 5), s(stencil, stencil + 5), even(5);
    auto extremes = thrust::minmax_element(v.begin(), v.end(), thrust::greater<int>());
    REQUIRE(*extremes.first == 9 && *extremes.second == 1);
    auto end = thrust::remove_copy_if(v.begin(), v.end(), even.begin(), Odd());
    REQUIRE(end - even.begin() == 1 && even[0] == 4);
    end = thrust::remove_if(v.begin(), v.end(), s.begin(), Odd());
    REQUIRE(end - v.begin() == 3 && v[0] == 5 && v[1] == 4 && v[2] == 1);
    thrust::device_vector<int> order(100);
    thrust::sequence(order.begin(), order.end());
    thrust::shuffle(order.begin(), order.end(), thrust::default_random_engine(7));
    int moved = 0;
    for (int i = 0; i < 100; i++)
        moved += order[i] != i;
    REQUIRE(moved > 50);
    thrust::sort(order.begin(), order.end());
    for (int i = 0; i < 100; i++)
        REQUIRE(order[i] == i);
}

int main()
{
    dot();
    scans();
    selections();
    thrust::device_ptr<void> memory = thrust::device_malloc(128);
    CHECK(cudaMemset(memory.get(), cuda::std::identity()(0), 128));
    thrust::device_free(memory);
}
