// Divergent branches: how often warps execute a branch, and in how many of these executions their lanes go different
// ways. The marks have the program built with --divergence.
#include "../corpus/corpus.h"

__global__ void by_lane(int *out)
{
    int i = threadIdx.x;
    if (i % 2 == 0) // branch: executions=8 divergent=8
        out[i] = 1;
    else
        out[i] = 2;
}

__global__ void by_warp(int *out)
{
    int i = threadIdx.x;
    if (i / 32 % 2 == 0) // branch: executions=8 divergent=0
        out[i] = 1;
    else if (i % 32 < 8) // branch: executions=4 divergent=4
        out[i] = 2;
}

// 4 warps: three full, one with 4 threads inside and 28 outside.
__global__ void ragged_end(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) // branch: executions=4 divergent=1
        out[i] = i;
}

// The threads leave early, warp by warp or within one; those that are left agree.
__global__ void early_return(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) // branch: executions=4 divergent=1
        return;
    if (n > 0) // branch: executions=4 divergent=0
        out[i] = i;
}

// Lane t makes t iterations: 32 tests, of which one lane fails each but the last, which only lane 31 makes.
__global__ void triangular(int *out)
{
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < t; i++) // branch: executions=32 divergent=31
        sum += i;
    out[t] = sum;
}

__global__ void same_trips(int *out, int n)
{
    int t = threadIdx.x, i = 0, sum = 0;
    while (i < n) { // branch: executions=11 divergent=0
        sum += i;
        i++;
    }
    do { // the test is in another line
        sum--;
    } while (--i > t % 2); // branch: executions=10 divergent=1
    out[t] = sum;
}

// Lanes meet again at the outer loop, whatever the inner loop did: 5 and 3 iterations, then 3 and 5.
__global__ void nested(int *out)
{
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 2; i++) { // branch: executions=3 divergent=0
        int most = (t + i) % 2 ? 5 : 3;
        for (int k = 0; k < most; k++) // branch: executions=12 divergent=2
            if (k > 0)                 // branch: executions=10 divergent=0
                sum += k;
    }
    out[t] = sum;
}

// goto takes half of the lanes out of the inner loop: the next iteration of the outer one has all of them again.
__global__ void left_by_goto(int *out)
{
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) { // branch: executions=3 divergent=0
        if (t < 32)               // branch: executions=2 divergent=0
            out[t] = i;
        for (int k = 0; k < 4; k++) // branch: executions=10 divergent=0
            if (k == 1 && t % 2)    // branch: executions=8 divergent=2
                goto next;
    next:;
    }
}

// Lanes leave the loop by break in different iterations, and agree behind it.
__global__ void search(int *out)
{
    int t = threadIdx.x, found = 0;
    for (;;) {
        if (found == t % 4) // branch: executions=4 divergent=3
            break;
        found++;
    }
    while (true) {        // branch: executions=4 divergent=0
        if (found-- <= 0) // branch: executions=4 divergent=3
            break;
    }
    if (t < 32) // branch: executions=1 divergent=0
        out[t] = found;
}

enum colour { RED, GREEN, BLUE };

// Labels without a statement between them are one way.
__global__ void cases(int *out)
{
    int t = threadIdx.x;
    switch (t % 4) { // branch: executions=2 divergent=2
    case 0: out[t] = 1; break;
    case 1:
    case 2: out[t] = 2; break;
    default: out[t] = 3;
    }
    switch (t % 2 ? GREEN : BLUE) { // branch: executions=2 divergent=0
    case RED: out[t] = 5; break;
    case GREEN:
    case BLUE: out[t] += 1; break;
    }
    switch (t / 32) { // branch: executions=2 divergent=0
    case 0: out[t] += 1; break;
    case 1: out[t] += 2; break;
    }
    switch (t) { // branch: executions=2 divergent=1
    case 3: out[t] += 4;
    }
}

__device__ int sign(int x)
{
    if (x < 0) // branch: executions=3 divergent=1
        return -1;
    for (int i = 0; i < 4; i++) // branch: executions=15 divergent=0
        if (i == x)             // branch: executions=12 divergent=4
            return i;
    return x > 0;
}

// Two calls behind each other, then one in a branch. In the first, lane 0 returns at once and lanes 1 to 4 one after
// the other in the loop.
__global__ void calls(int *out)
{
    int t = threadIdx.x;
    out[t] = sign(t - 1);
    out[t] += sign(8);
    if (t < 16) // branch: executions=1 divergent=1
        out[t] += sign(7);
}

// Lanes meet at the barriers; what is counted does not depend on it.
__global__ void barriers(int *out)
{
    int t = threadIdx.x;
    for (int step = 32; step > 0; step /= 2) { // branch: executions=14 divergent=0
        if (t < step)                          // branch: executions=12 divergent=5
            out[t] += step;
        __syncthreads();
    }
}

template <int N> __device__ constexpr int clamp(int x)
{
    if (x > N) // branch: executions=2 divergent=1
        return N;
    return x;
}

__global__ void constants(int *out)
{
    int t = threadIdx.x;
    int sizes[clamp<4>(9)];
    sizes[0] = clamp<4>(1);
    if constexpr (sizeof(int) == 4)
        out[t] = clamp<8>(t) + sizes[0];
    if (int half = t / 2) // declares a variable: not counted
        out[t] += half;
}

// A lane that comes to a branch again has gone round, though nothing counts the loops of a macro or over a range.
#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)

__global__ void unseen_loops(int *out)
{
    EACH(i, 256)
    if (i % 64 < 8) // branch: executions=8 divergent=4
        out[i] = 1;
    int sizes[] = {1, 8, 64};
    for (int size : sizes)
        if ((int)threadIdx.x < size) // branch: executions=6 divergent=2
            out[threadIdx.x] = size;
}

__device__ int depth(int n)
{
    if (n == 0) // branch: executions=4 divergent=3
        return 0;
    return 1 + depth(n - 1);
}

__global__ void functions(int *out)
{
    int t = threadIdx.x;
    auto larger = [](int x, int y) {
        if (x > y) // branch: executions=2 divergent=1
            return x;
        return y;
    };
    for (int i = 0; i < 2; i++) // branch: executions=3 divergent=0
        out[t] = larger(t, 32 * i);
    out[t] += depth(t % 4);
}

// More tests than a lane makes before it lets the others come up.
__global__ void long_loop(int *out)
{
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 40000 + t % 2; i++) // branch: executions=40002 divergent=1
        sum += i & 3;
    out[t] = sum;
}

int main()
{
    int *out = device_zeros<int>(256);
    by_lane<<<1, 256>>>(out);
    by_warp<<<1, 256>>>(out);
    ragged_end<<<2, 64>>>(out, 100);
    early_return<<<2, 64>>>(out, 100);
    triangular<<<1, 32>>>(out);
    same_trips<<<1, 32>>>(out, 10);
    nested<<<1, 32>>>(out);
    left_by_goto<<<1, 32>>>(out);
    search<<<1, 32>>>(out);
    cases<<<1, 64>>>(out);
    calls<<<1, 32>>>(out);
    barriers<<<1, 64>>>(out);
    constants<<<1, 32>>>(out);
    unseen_loops<<<1, 64>>>(out);
    functions<<<1, 32>>>(out);
    long_loop<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(out));
    return 0;
}
