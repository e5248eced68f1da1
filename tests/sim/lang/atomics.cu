// Every atomic, for every type and scope, by many threads at once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.h"

static const int blocks = 4, threads = 64, total = blocks * threads;

template <class T> __device__ T cell[8];
template <class T> __device__ T own[blocks][8]; // block scope orders the threads of one block only

#define EACH_SCOPE(call, at, operand)                                                                                  \
    call(&cell<T>[at], operand);                                                                                       \
    call##_system(&cell<T>[at], operand);                                                                              \
    call##_block(&own<T>[blockIdx.x][at], operand)

template <class T> __global__ void add()
{
    EACH_SCOPE(atomicAdd, 0, T(1));
}
template <class T> __global__ void check_add()
{
    CHECK(cell<T>[0] == T(2 * total) && own<T>[blocks - 1][0] == T(threads));
}

template <class T> __global__ void order(bool last)
{
    T mine = (T)(blockIdx.x * blockDim.x + threadIdx.x + 1);
    if (!last) {
        EACH_SCOPE(atomicMax, 1, mine);
        EACH_SCOPE(atomicMin, 2, (T)0 - mine);
        EACH_SCOPE(atomicOr, 3, (T)1 << mine % 8);
        EACH_SCOPE(atomicAnd, 4, ~((T)1 << mine % 8));
        atomicXor(&cell<T>[5], (T)1 << mine % 8);
    } else {
        CHECK(cell<T>[1] == (T)total && cell<T>[3] == (T)0xff && cell<T>[4] == (T)0);
        CHECK(cell<T>[2] == ((T)-1 < (T)0 ? (T)-total : (T)0));
        CHECK(cell<T>[5] == (T)0); // 256 threads flip each of 8 bits 32 times
        CHECK(own<T>[0][1] == (T)threads && own<T>[1][3] == (T)0xff && own<T>[2][4] == (T)0);
    }
}

__device__ unsigned int wrapped, falling, swapped;
__device__ int lock, guarded, taken[total];
__device__ unsigned short shorts[2];
__device__ unsigned long long longest;
__device__ float exchanged = 1.5f;
__device__ double accumulated;

__device__ double add_by_hand(double *address, double value)
{
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void rest()
{
    atomicInc(&wrapped, 9);
    atomicDec(&falling, 6);
    atomicSub(&swapped, 1u);
    atomicSub_system(&swapped, 1u);
    taken[atomicAdd(&guarded, 1)] += 1;
    unsigned short expected = shorts[1], seen;
    do {
        seen = expected;
        expected = atomicCAS(&shorts[1], seen, (unsigned short)(seen + 1));
    } while (expected != seen);
    atomicExch(&exchanged, 2.5f);
    atomicExch(&longest, 1ull << 40);
    add_by_hand(&accumulated, 0.5);
}

__global__ void one_at_a_time(int *count)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence();
        *count = *count + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

__global__ void check_rest(const int *count)
{
    CHECK(wrapped == total % 10 && falling == (7 - total % 7) % 7);
    CHECK(swapped == 0u - 2 * total && guarded == total && shorts[1] == total && shorts[0] == 0);
    for (int i = 0; i < total; i++)
        CHECK(taken[i] == 1);
    CHECK(exchanged == 2.5f && longest == 1ull << 40 && accumulated == total / 2.0);
    CHECK(*count == blocks);
}

__device__ __half2 pair;
__device__ __half single;
__device__ __nv_bfloat162 wide_pair;
__device__ float2 two;
__device__ float4 four;

__global__ void vectors()
{
    atomicAdd(&pair, __floats2half2_rn(1, 2));
    atomicAdd(&single, __float2half(1));
    atomicAdd(&wide_pair, __floats2bfloat162_rn(1, -1));
    atomicAdd(&two, make_float2(1, 2));
    atomicAdd(&four, make_float4(1, 2, 3, 4));
}

__global__ void check_vectors()
{
    CHECK(__low2float(pair) == total && __high2float(pair) == 2 * total && __half2float(single) == total);
    CHECK(__low2float(wide_pair) == total && __high2float(wide_pair) == -total);
    CHECK(two.x == total && two.y == 2 * total && four.x == total && four.w == 4 * total);
}

template <class T> void run_order()
{
    order<T><<<blocks, threads>>>(false);
    order<T><<<1, 1>>>(true);
}

template <class T> void run_add()
{
    add<T><<<blocks, threads>>>();
    check_add<T><<<1, 1>>>();
}

__global__ void prepare()
{
    cell<int>[4] = cell<long long>[4] = own<int>[2][4] = own<long long>[2][4] = 0xff;
    cell<unsigned int>[4] = cell<unsigned long long>[4] = own<unsigned int>[2][4] = own<unsigned long long>[2][4] =
        0xff;
}

int main()
{
    prepare<<<1, 1>>>();
    run_add<int>();
    run_add<unsigned int>();
    run_add<unsigned long long>();
    run_add<float>();
    run_add<double>();
    run_order<int>();
    run_order<unsigned int>();
    run_order<long long>();
    run_order<unsigned long long>();
    rest<<<blocks, threads>>>();
    int *count = NULL;
    cudaMalloc(&count, sizeof *count);
    cudaMemset(count, 0, sizeof *count);
    one_at_a_time<<<blocks, threads>>>(count);
    check_rest<<<1, 1>>>(count);
    cudaFree(count);
    vectors<<<blocks, threads>>>();
    check_vectors<<<1, 1>>>();
    return check_result();
}
