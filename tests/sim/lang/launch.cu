// Every way to name a kernel before <<< and to pass it arguments. Results come back in managed memory.
#include <cstdio>

struct Pair {
    int first;
    float second;
};

struct Tracked { // not trivially copyable
    int value;
    __host__ __device__ explicit Tracked(int initial) : value(initial)
    {
    }
    __host__ __device__ Tracked(const Tracked &other) : value(other.value)
    {
    }
};

__managed__ double result[64];

__global__ void numbers(int at, double a, float b, unsigned char c)
{
    result[at] = a + b + c;
}

__global__ void null_pointer(int at, const float *pointer, Pair pair)
{
    result[at] = (pointer == nullptr) + pair.first + pair.second;
}

__global__ void defaulted(int at, int a, int b = 20, float c = 0.5f)
{
    result[at] = a + b + c;
}

__global__ void overloaded(int at, int value)
{
    result[at] = value;
}

__global__ void overloaded(int at, float value)
{
    result[at] = -value;
}

template <class T> __global__ void deduced(int at, T value, const int *mask)
{
    result[at] = (double)value + (mask == nullptr ? 0 : mask[0]);
}

template <int Factor, class T> __global__ void partly(int at, T value)
{
    result[at] = Factor * (double)value;
}

template <class T, int Factor = 3> __global__ void fully(int at, T value)
{
    result[at] = Factor * (double)value;
}

template <class Function> __global__ void apply(int at, Function function, int x)
{
    result[at] = function(x);
}

template <class... Values> __global__ void sum_all(int at, Values... values)
{
    double terms[] = {(double)values...};
    double sum = 0;
    for (double term : terms)
        sum += term;
    result[at] = sum;
}

namespace inner
{
namespace deeper
{
__global__ void spaced(int at)
{
    result[at] = 77;
}
} // namespace deeper
template <int N> __global__ void spaced_template(int at)
{
    result[at] = N;
}
} // namespace inner

struct Squared {
    int offset;
    __host__ __device__ int operator()(int x) const
    {
        return x * x + offset;
    }
};

__global__ void takes_class(int at, Tracked tracked)
{
    result[at] = tracked.value;
}

__global__ void many(int at, int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int m,
                     int n, int o, int p, int q, int r)
{
    result[at] = a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p + q + r;
}

extern "C" __global__ void c_linkage(int at)
{
    result[at] = 5;
}

__global__ void __launch_bounds__(128, 2) bounded(int at)
{
    if (threadIdx.x == 0 && blockIdx.y == 0)
        result[at] = blockDim.x * gridDim.y;
}

static __global__ void indices(int at)
{
    if (threadIdx.x == 2 && threadIdx.y == 1 && blockIdx.x == 1 && blockIdx.z == 2)
        result[at] = blockDim.x * 1000 + blockDim.y * 100 + gridDim.x * 10 + gridDim.z;
}

template <class T> struct Runner {
    template <int N> static void run(int at, T value)
    {
        partly<N><<<1, 1>>>(at, value);
    }
    static void run_fully(int at, T value)
    {
        fully<T, 4><<<1, 1>>>(at, value);
    }
};

template <class Kernel, class... Arguments> void launch_any(Kernel kernel, Arguments... arguments)
{
    kernel<<<1, 1>>>(arguments...);
}

typedef void (*kernel_pointer)(int, double, float, unsigned char);

static int wrong;
static void expect(int at, double value, int line)
{
    cudaDeviceSynchronize();
    if (result[at] != value) {
        printf("line %d: slot %d is %g, should be %g\n", line, at, result[at], value);
        wrong++;
    }
    result[at] = -1;
}
#define EXPECT(at, value) expect(at, value, __LINE__)

int main()
{
    numbers<<<1, 1>>>(0, 1, 2, 3);
    EXPECT(0, 6);
    null_pointer<<<1, 1>>>(1, NULL, {2, 0.5f});
    EXPECT(1, 3.5);
    null_pointer<<<1, 1>>>(1, 0, Pair{1, 1});
    EXPECT(1, 3);
    defaulted<<<1, 1>>>(2, 1);
    EXPECT(2, 21.5);
    defaulted<<<1, 1>>>(2, 1, 2);
    EXPECT(2, 3.5);
    overloaded<<<1, 1>>>(3, 9);
    EXPECT(3, 9);
    overloaded<<<1, 1>>>(3, 9.0f);
    EXPECT(3, -9);
    deduced<<<1, 1>>>(4, 2.5f, (const int *)nullptr);
    EXPECT(4, 2.5);
    deduced<<<1, 1>>>(4, 2.5f, NULL);
    EXPECT(4, 2.5);
    deduced<double><<<1, 1>>>(4, 2, NULL);
    EXPECT(4, 2);
    partly<6><<<1, 1>>>(5, 1.5f);
    EXPECT(5, 9);
    fully<float><<<1, 1>>>(6, 2);
    EXPECT(6, 6);
    fully<int, 5><<<1, 1>>>(6, 2);
    EXPECT(6, 10);
    apply<<<1, 1>>>(7, Squared{1}, 3);
    EXPECT(7, 10);
    int captured = 4;
    apply<<<1, 1>>>(
        7, [=] __host__ __device__(int x) { return x * captured; }, 5);
    EXPECT(7, 20);
    sum_all<<<1, 1>>>(8, 1, 2.5f, 3.0, 'A');
    EXPECT(8, 71.5);
    inner::deeper::spaced<<<1, 1>>>(9);
    EXPECT(9, 77);
    ::inner::spaced_template<12><<<1, 1>>>(9);
    EXPECT(9, 12);
    takes_class<<<1, 1>>>(10, Tracked(31));
    EXPECT(10, 31);
    many<<<1, 1>>>(11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18);
    EXPECT(11, 171);
    c_linkage<<<1, 1>>>(12);
    EXPECT(12, 5);
    bounded<<<dim3(1, 3), 64>>>(13);
    EXPECT(13, 192);
    indices<<<dim3(2, 1, 3), dim3(4, 2)>>>(14);
    EXPECT(14, 4223);
    Runner<float>::run<7>(15, 2.0f);
    EXPECT(15, 14);
    Runner<int>::run_fully(15, 2);
    EXPECT(15, 8);
    kernel_pointer pointers[] = {numbers, numbers};
    pointers[1]<<<1, 1>>>(16, 4, 5, 6);
    EXPECT(16, 15);
    launch_any(numbers, 17, 1.0, 1.0f, (unsigned char)1);
    EXPECT(17, 3);
    cudaStream_t stream = 0;
    (numbers)<<<1, 1, 0, stream>>>(18, 1, 1, 2);
    EXPECT(18, 4);
    unsigned blocks = 1;
    int threads = 1;
    numbers<<<blocks, threads, sizeof(int) * 4, 0>>>(19, 3, 1, 2);
    EXPECT(19, 6);
    numbers<<<(blocks + 3) / 4, {1, 1, 1}>>>(19, 3, 1, 3);
    EXPECT(19, 7);
    return wrong != 0;
}
