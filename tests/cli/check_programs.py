"""The small programs that check.py gives to `heddle check`."""

ADD = r"""
#include <cstdio>
#include <cstdlib>
__global__ void add(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] += a[i];
}
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    float *a, *b, *host = (float *)calloc(n, sizeof(float));
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMemcpy(a, host, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(a, b, n);
    cudaMemcpy(host, b, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("added %d\n", n);
    cudaFree(a);
    cudaFree(b);
    free(host);
    return 0;
}
"""

RACE = r"""
__global__ void reverse(float *x)
{
    __shared__ float tile[128];
    tile[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = tile[127 - threadIdx.x];
}
int main()
{
    float *x;
    cudaMalloc(&x, 512);
    cudaMemset(x, 0, 512);
    reverse<<<1, 128>>>(x);
    cudaDeviceSynchronize();
    cudaFree(x);
}
"""

PAST_THE_END = r"""
__global__ void fill(float *d_c) { d_c[threadIdx.x] = 1; }
int main()
{
    float *d_c;
    cudaMalloc(&d_c, 124);
    fill<<<1, 32>>>(d_c);
    cudaDeviceSynchronize();
    cudaFree(d_c);
}
"""

MATMUL = r"""
__global__ void kernel(const float *a, const float *b, float *c, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n)
        return;
    float sum = SUM;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}
void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
"""

FLAG = r"""
__global__ void raise(int *flag) { *flag = VALUE; }
int main()
{
    int *flag;
    cudaMalloc(&flag, 4);
    raise<<<1, 64>>>(flag);
    cudaDeviceSynchronize();
    cudaFree(flag);
}
"""

# A comparison spares atomics; it is right only with the value that the atomic is given.
GUARDED_MAXIMUM = """__global__ void largest(const int *input, int *best) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, value = input[i];
    if (*best < value)
        atomicMax(best, OPERAND);
}
int main() {
    int *input, *best, host[128], result = 0;
    for (int i = 0; i < 128; i++) host[i] = 3 * i + 1;
    cudaMalloc(&input, sizeof host);
    cudaMalloc(&best, sizeof result);
    cudaMemcpy(input, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(best, &result, sizeof result, cudaMemcpyHostToDevice);
    largest<<<2, 64>>>(input, best);
    cudaMemcpy(&result, best, sizeof result, cudaMemcpyDeviceToHost);
    cudaFree(input);
    cudaFree(best);
    return 0;
}
"""

ORDER = r"""
__global__ void queue(int *list) { list[1 + atomicAdd(list, 1)] = blockIdx.x + 1; }
int main()
{
    int *list, host[65];
    cudaMalloc(&list, sizeof host);
    cudaMemset(list, 0, sizeof host);
    queue<<<64, 1>>>(list);
    cudaMemcpy(host, list, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(list);
}
"""

# Goes round in the same state: half of nothing is nothing.
ENDLESS = r"""
__global__ void halve(int *out, int n)
{
    int k = n;
    while (k >= 0) {
        k /= 2;
        asm volatile("" : "+r"(k));
    }
    out[0] = k;
}
int main()
{
    int *out;
    cudaMalloc(&out, 4);
    halve<<<1, 64>>>(out, 64);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""

# Compute for a while without touching memory, and end. What changes is a number in a register, one of floating point,
# and one in the thread's own memory.
LONG_LOOPS = r"""
__global__ void scramble(unsigned *out, int rounds)
{
    unsigned x = threadIdx.x + 1;
    for (int i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    out[threadIdx.x] = x;
}
__global__ void decay(double *out, double step)
{
    double x = 1;
    while (x > 0)
        x -= step;
    out[threadIdx.x] = x;
}
__device__ int depth_of(volatile int *local, int rounds)
{
    for (*local = 0; *local < rounds;)
        *local = *local + 1;
    return *local;
}
__global__ void count(int *out, int rounds)
{
    int local;
    out[threadIdx.x] = depth_of(&local, rounds);
}
int main()
{
    unsigned *out;
    cudaMalloc(&out, 256);
    scramble<<<1, 1>>>(out, 300000000);
    decay<<<1, 1>>>((double *)out, 1.0 / (1 << 28));
    count<<<1, 1>>>((int *)out, 300000000);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""

# A kernel that faults, then another mistake in two launches and a copy.
# What thread 0 reads out of bounds is its index; thread 1 is wrong by itself.
TWO_FAULTS = r"""
__global__ void go(const int *index, int *out)
{
    if (threadIdx.x == 0) {
        int k = index[40];
        out[k + 40] = 1;
    } else {
        out[threadIdx.x + 31] = 1;
    }
}
int main()
{
    int *index, *out;
    cudaMalloc(&index, 128);
    cudaMalloc(&out, 128);
    go<<<1, 2>>>(index, out);
    cudaDeviceSynchronize();
    cudaFree(out);
    cudaFree(index);
}
"""

HIDDEN = r"""
__global__ void fill(float *d_c) { d_c[threadIdx.x] = 1; }
__global__ void race(float *x) { x[0] = threadIdx.x; }
int main()
{
    float *d_c, host[31];
    cudaMalloc(&d_c, 124);
    fill<<<1, 32>>>(d_c);
    race<<<1, 128>>>(d_c);
    cudaDeviceSynchronize();
    race<<<1, 128>>>(d_c);
    cudaMemcpy(host, d_c, 124, cudaMemcpyDeviceToHost);
    cudaFree(d_c);
}
"""

# Two threads of the host, each with results of its own; which of them copies first is chosen by the schedule.
THREADS = r"""
#include <cstdlib>
#include <thread>
__global__ void set(int *p, int v) { p[threadIdx.x] = v; }
static void work(int value)
{
    int *d, host[32];
    cudaMalloc(&d, sizeof host);
    set<<<1, 32>>>(d, value);
    cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
int main()
{
    int schedule = atoi(getenv("SIM_SCHEDULE"));
    std::thread first(work, FIRST);
    first.join();
    std::thread second(work, SECOND);
    second.join();
}
"""

STREAMS = r"""
__global__ void set(int *p, int v) { p[threadIdx.x] = v; }
int main()
{
    int *d[2], *h[2];
    cudaStream_t s[2];
    for (int i = 0; i < 2; i++) {
        cudaMalloc(&d[i], 128);
        cudaMallocHost(&h[i], 128);
        cudaStreamCreate(&s[i]);
        set<<<1, 32, 0, s[i]>>>(d[i], i);
        cudaMemcpyAsync(h[i], d[i], 128, cudaMemcpyDeviceToHost, s[i]);
    }
    cudaDeviceSynchronize();
    for (int i = 0; i < 2; i++) {
        cudaFree(d[i]);
        cudaFreeHost(h[i]);
        cudaStreamDestroy(s[i]);
    }
}
"""

KERNEL = r"""
// launch: <<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>
__global__ void matmul(const float *a, const float *b, float *output, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + column];
    output[row * n + column] = sum;
}
"""

SUM = r"""
__global__ void sum(float *s) { atomicAdd(s, 1.0f / (1 + threadIdx.x + blockIdx.x * blockDim.x)); }
int main()
{
    float *s, host;
    cudaMalloc(&s, 4);
    cudaMemset(s, 0, 4);
    sum<<<64, 64>>>(s);
    cudaMemcpy(&host, s, 4, cudaMemcpyDeviceToHost);
    cudaFree(s);
}
"""

CLOCK = r"""
#include <ctime>
int main()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long *d, nanoseconds = now.tv_nsec;
    cudaMalloc(&d, sizeof *d);
    cudaMemcpy(d, &nanoseconds, sizeof *d, cudaMemcpyHostToDevice);
    cudaMemcpy(&nanoseconds, d, sizeof *d, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
"""

GUARDED = r"""
__global__ void fill(int *a, int n) { if (threadIdx.x < n) a[threadIdx.x] = 1; }
int main(int count, char **)
{
    int *a;
    cudaMalloc(&a, 128);
    fill<<<1, 32>>>(a, count > 1 ? 32 : 0);
    cudaDeviceSynchronize();
    cudaFree(a);
}
"""

ROWS = r"""
__global__ void neighbours(int *o)
{
    __shared__ int t[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    t[y][x] = x;
    __syncthreads(); o[y * 16 + x] = t[y][x] + t[y][x + 1];
}
int main()
{
    int *o;
    cudaMalloc(&o, 1024);
    neighbours<<<1, dim3(16, 16)>>>(o);
    cudaDeviceSynchronize();
    cudaFree(o);
}
"""

NEXT = r"""
__global__ void add(const int *a, const int *b, int *c) { c[threadIdx.x] = a[threadIdx.x + 320] + b[threadIdx.x]; }
int main()
{
    int *a, *b, *c;
    cudaMalloc(&a, 1024);
    cudaMalloc(&b, 1024);
    cudaMalloc(&c, 1024);
    cudaMemset(a, 0, 1024);
    cudaMemset(b, 0, 1024);
    add<<<1, 256>>>(a, b, c);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
"""

UNSET = r"""__global__ void sum(const int *a, int *b)
{
    int s SET;
    for (int i = 0; i < 4; i++)
        s += a[threadIdx.x];
    b[threadIdx.x] = s;
}
int main()
{
    int *a, *b, h[32];
    cudaMalloc(&a, sizeof h);
    cudaMalloc(&b, sizeof h);
    cudaMemset(a, 0, sizeof h);
    sum<<<1, 32>>>(a, b);
    cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
}
"""

OVERWRITTEN = r"""__global__ void total(int *o)
{
    __shared__ int s;
    if (threadIdx.x == 63)
        s = 7;
    __syncthreads();
    o[threadIdx.x] = s;
    if (threadIdx.x == 0)
        s = 0;
}
int main()
{
    int *o;
    cudaMalloc(&o, 256);
    total<<<1, 64>>>(o);
    cudaDeviceSynchronize();
    cudaFree(o);
}
"""

TWO_ARRAYS = r"""#include <cstdio>
__global__ void k(int *out)
{
    __shared__ int a[16], big[64];
    int t = threadIdx.x;
    big[t] = t;
    if (t > 20) printf("x"); a[t] = big[t];
    out[t] = big[t];
}
int main()
{
    int *out;
    cudaMalloc(&out, 128);
    k<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""

NO_MEMORY = r"""__global__ void fill(int *o) { o[threadIdx.x] = 1; }
int main()
{
    int *o = nullptr;
    cudaMalloc(&o, (size_t)1 << 60);
    fill<<<1, 32>>>(o);
    cudaDeviceSynchronize();
    return 0;
}
"""

SUPPRESSED_COPY = r"""
int main()
{
    int *p, h[4];
    cudaMalloc(&p, 4);
    cudaMemcpy(h, p, 16, cudaMemcpyDeviceToHost); // heddle: allow out-of-bounds
    cudaFree(p);
}
"""
