#define HD __host__ __device__
#define LAUNCH(k, ...) k<<<1, \
    32>>>(__VA_ARGS__)
__device__ int counter, other[4];
namespace n { template <class T, int N> __global__ void t(T *p) { p[N] = 1; } }
HD int twice(int x) {
#ifdef __CUDA_ARCH__
    return x + x;
#else
    return 2 * x;
#endif
}
struct S { int a; __device__ S(int i) : a{i} { printf("%d", i); } };
__global__ void k(int n, float b = 2) {
    extern __shared__ float s[];
    if (n > 2) atomicAdd(&counter, 1);
    (void)atomicExch(&counter, 3);
    int *p = new int[3]; delete[] p;
    auto f = [=] __device__ (int i) { return i; };
}
int main() {
    k<<<dim3(1, 2), 32, sizeof(int) * 4>>>(3);
    n::t<int, (4 > 2)> << <1, 1>> > (0);
    LAUNCH(k, 4);
    const char *r = R"x(k<<<1, 2>>>() )x", *q = "\"k<<<";
    return (int)(long)(void *)k;
}
