// The language: where variables live, what device code may call, which keywords stand where.
#include <cassert>
#include <cmath>
#include <cstring>

#include "check.h"

using namespace std;

// --- shared memory in all its forms
// --------------------------------------------------------------------------------------

__shared__ int file_scope[4];

template <class T, int N> __global__ void in_a_template(T value)
{
    __shared__ T tile[N][N + 1];
    tile[threadIdx.y][threadIdx.x] = value * threadIdx.x + threadIdx.y;
    __syncthreads();
    CHECK(tile[threadIdx.x][threadIdx.y] == value * threadIdx.y + threadIdx.x);
}

struct Particle {
    float3 position;
    int kind;
};

__global__ void forms()
{
    extern __shared__ float dynamic[];
    __shared__ alignas(16) float aligned[4];
    __shared__ __align__(8) unsigned char bytes[24];
    static __shared__ double fixed[2];
    volatile __shared__ int looked_at;
    __shared__ Particle particles[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 4; i++)
            dynamic[i] = aligned[i] = file_scope[i] = i;
        bytes[23] = 200;
        fixed[1] = 0.5;
        looked_at = 7;
        particles[1].position = make_float3(1, 2, 3);
    }
    __syncthreads();
    CHECK(dynamic[3] == 3 && aligned[2] == 2 && file_scope[1] == 1 && bytes[23] == 200);
    CHECK(fixed[1] == 0.5 && looked_at == 7 && particles[1].position.y == 2);
    CHECK((size_t)aligned % 16 == 0);
}

// --- variables on the device
// ---------------------------------------------------------------------------------------------

__constant__ float coefficients[4] = {1, 2, 3, 4};
__constant__ int from_host;
__device__ int counter = 5;
__device__ float table[2][3];
__managed__ int both_sides;
__device__ const int fixed_number = 11;

__global__ void variables()
{
    CHECK(coefficients[2] == 3 && from_host == 42 && fixed_number == 11);
    counter += 1;
    table[1][2] = 2.5f;
    both_sides = both_sides * 2;
}

// --- functions
// -----------------------------------------------------------------------------------------------------------

__device__ __noinline__ int not_inlined(int x)
{
    return x + 1;
}
static __device__ __forceinline__ int inlined(int x)
{
    return x * 2;
}
__host__ __device__ int where()
{
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2;
#endif
}
__device__ int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}
#if defined(__CUDACC__) && __CUDACC_VER_MAJOR__ >= 11
__device__ bool compiled_by_nvcc()
{
    return true;
}
#endif

class Shape
{
  public:
    __device__ virtual ~Shape()
    {
    }
    __device__ virtual int corners() const = 0;
};
class Triangle : public Shape
{
  public:
    __device__ int corners() const override
    {
        return 3;
    }
};

struct Counted {
    int *count;
    __device__ explicit Counted(int *where) : count(where)
    {
        ++*count;
    }
    __device__ ~Counted()
    {
        --*count;
    }
};

template <class F> __device__ int twice(F f, int x)
{
    return f(f(x));
}

__global__ void functions()
{
    CHECK(not_inlined(inlined(4)) == 9);
    CHECK(where() == 1);
    CHECK(factorial(6) == 720);
    CHECK(compiled_by_nvcc());
#if __CUDA_ARCH__ >= 700
    CHECK(__CUDA_ARCH__ >= 700);
#else
    CHECK(false);
#endif
    int offset = 3;
    auto add = [=](int x) { return x + offset; };
    CHECK(twice(add, 1) == 7);
    Triangle triangle;
    const Shape &shape = triangle;
    CHECK(shape.corners() == 3);
    assert(offset == 3);
}

__global__ void library_calls()
{
    int *numbers = (int *)malloc(4 * sizeof(int));
    CHECK(numbers != NULL);
    memset(numbers, 0, 4 * sizeof(int));
    numbers[2] = 6;
    int copy[4];
    memcpy(copy, numbers, sizeof copy);
    CHECK(copy[2] == 6 && copy[3] == 0);
    free(numbers);
    int alive = 0;
    Counted *counted = new Counted(&alive);
    CHECK(alive == 1);
    delete counted;
    CHECK(alive == 0);
    float *array = new float[8];
    array[7] = 1.5f;
    CHECK(array[7] == 1.5f);
    delete[] array;
    long long before = clock64();
    CHECK(clock64() >= before);
    printf("printed by thread %d: %s, %5.2f\n", threadIdx.x, "text", 1.25);
}

__global__ void mathematics()
{
    unsigned int small = 3;
    int negative = -1;
    size_t large = 1000;
    CHECK(min(small, 5u) == 3 && max(negative, 2) == 2 && min(1.5f, 2.5f) == 1.5f && max(1.0, 2.0f) == 2.0);
    CHECK(min(negative, small) == 3); // compared as unsigned
    CHECK(min(large, (size_t)7) == 7 && max(1ll, 2ll) == 2 && umin(4u, 3u) == 3 && llmax(-1, 1) == 1);
    CHECK(isnan(NAN) && isinf(INFINITY) && isfinite(1.0f) && signbit(-0.0f));
    CHECK(abs(-2.5f) == 2.5f && fabsf(-1.0f) == 1.0f && abs(-3) == 3);
    CHECK(fmaxf(1.0f, NAN) == 1.0f && rsqrtf(4.0f) == 0.5f && sqrtf(9.0f) == 3.0f && powf(2.0f, 3.0f) == 8.0f);
    CHECK(floor(2.7) == 2.0 && ceilf(2.1f) == 3.0f && __float_as_int(1.0f) == 0x3f800000);
}

__global__ void places()
{
    CHECK(blockDim.x == 8 && gridDim.x == 2 && blockIdx.x < gridDim.x && threadIdx.x < blockDim.x && warpSize == 32);
    dim3 size = blockDim;
    uint3 place = threadIdx;
    CHECK(size.x == 8 && size.z == 1 && place.y == 0);
}

int main()
{
    static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && alignof(float4) == 16 && alignof(double2) == 16, "");
    static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4 && alignof(short2) == 4 && sizeof(longlong3) == 24, "");
    in_a_template<float, 8><<<2, dim3(8, 8)>>>(1.5f);
    in_a_template<int, 4><<<1, dim3(4, 4)>>>(3);
    forms<<<3, 32, 4 * sizeof(float)>>>();
    int value = 42;
    cudaMemcpyToSymbol(from_host, &value, sizeof value);
    both_sides = 21;
    variables<<<1, 1>>>();
    cudaMemcpyFromSymbol(&value, counter, sizeof value);
    CHECK(value == 6 && both_sides == 42);
    float entry = 0;
    cudaMemcpyFromSymbol(&entry, table, sizeof entry, 5 * sizeof(float));
    CHECK(entry == 2.5f);
    functions<<<1, 1>>>();
    CHECK(where() == 2);
    library_calls<<<1, 1>>>();
    mathematics<<<1, 1>>>();
    places<<<2, 8>>>();
    return check_result();
}
