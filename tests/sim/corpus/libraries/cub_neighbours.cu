// CUB's adjacent differences of a block, in place and of a partial tile; the largest value of a block with its index;
// Thrust's traits of iterators; 8-bit floats from pairs of bfloat16.
#include <cub/cub.cuh>
#include <cuda_fp8.h>
#include <thrust/device_vector.h>
#include <thrust/iterator/iterator_traits.h>

#include "../corpus.h"

constexpr int THREADS = 64, ITEMS = 2, ALL = THREADS * ITEMS;
typedef cub::BlockAdjacentDifference<int, THREADS> Difference;
typedef cub::KeyValuePair<int, float> Pair;
typedef cub::BlockReduce<Pair, THREADS> Largest;

struct Minus {
    __device__ int operator()(int &a, int &b) const
    {
        return a - b;
    }
};

__global__ void neighbours(const int *from, int *left, int *right, int *part)
{
    __shared__ Difference::TempStorage storage;
    const int first = ITEMS * threadIdx.x;
    int items[ITEMS] = {from[first], from[first + 1]}, results[ITEMS];
    Difference(storage).SubtractRight(items, results, Minus(), 7);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        right[first + i] = results[i];
    Difference(storage).SubtractLeftPartialTile(items, results, Minus(), ALL - 3);
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        part[first + i] = results[i];
    Difference(storage).SubtractLeft(items, items, Minus());
    for (int i = 0; i < ITEMS; i++)
        left[first + i] = items[i];
}

__global__ void largest(int *where, float *what)
{
    __shared__ Largest::TempStorage storage;
    const int i = threadIdx.x;
    const Pair best = Largest(storage).Reduce(Pair(i, (float)(i % 40)), cub::ArgMax());
    if (i == 0) {
        *where = best.key;
        *what = best.value;
    }
}

__global__ void narrow(__nv_fp8x4_e4m3 *to)
{
    *to = __nv_fp8x4_e4m3(__floats2bfloat162_rn(1, 2), __floats2bfloat162_rn(3, 4));
}

static void differences()
{
    int *from = device_ramp(ALL, 5, 3), *left = device_ramp(ALL, 0, 0), *right = device_ramp(ALL, 0, 0);
    int *part = device_ramp(ALL, 0, 0);
    neighbours<<<1, THREADS>>>(from, left, right, part);
    SHOW(cudaDeviceSynchronize());
    int l[ALL], r[ALL], p[ALL];
    fetch(l, left);
    fetch(r, right);
    fetch(p, part);
    for (int i = 0; i < ALL; i++) {
        REQUIRE(l[i] == (i == 0 ? 5 : 3));
        REQUIRE(r[i] == (i == ALL - 1 ? 5 + 3 * i - 7 : -3));
        REQUIRE(p[i] == (i == 0 || i >= ALL - 3 ? 5 + 3 * i : 3));
    }
    for (int *memory : {from, left, right, part})
        CHECK(cudaFree(memory));
}

int main()
{
    const std::chrono::seconds second(1); // CUB's headers bring <chrono>
    REQUIRE(second.count() == 1);
    differences();
    thrust::device_vector<int> where(1);
    thrust::device_vector<float> what(1);
    largest<<<1, THREADS>>>(thrust::raw_pointer_cast(where.data()), thrust::raw_pointer_cast(what.data()));
    REQUIRE(where[0] == 39 && what[0] == 39.0f);
    typedef thrust::device_vector<float>::iterator Iterator;
    const thrust::iterator_difference<Iterator>::type length = what.end() - what.begin();
    REQUIRE(length == 1 && sizeof(thrust::iterator_value<Iterator>::type) == 4);
    thrust::device_vector<__nv_fp8x4_e4m3> narrowed(1);
    narrow<<<1, 1>>>(thrust::raw_pointer_cast(narrowed.data()));
    const float4 wide = (float4)(__nv_fp8x4_e4m3)narrowed[0];
    REQUIRE(wide.x == 1 && wide.y == 2 && wide.z == 3 && wide.w == 4);
    return 0;
}
