// cuRAND's MRG32k3a states: the published numbers for the published seed, cuRAND's own for others (noted from its
// functions), and jumps that come out where that many steps do.
#include <cmath>
#include <cstdio>
#include <curand_kernel.h>

enum { THREADS = 4, DRAWS = 3, JUMPS = 5, LONG_JUMP = 1000 };

static const unsigned noted[THREADS][DRAWS] = {{3016885418u, 922612657u, 3115959747u},
                                               {3531676047u, 2807345174u, 4079852177u},
                                               {3594165392u, 3399656318u, 588343934u},
                                               {3382373117u, 820388415u, 4186041644u}};
static const float noted_uniform[THREADS] = {0.48193299770355225f, 0.20187240839004517f, 0.89104694128036499f,
                                             0.75622278451919556f};
static const double noted_normal[THREADS] = {-0.17536616127033211, -0.22129518925842429, -1.4991889316788058,
                                             1.2461443203242444};

__global__ void draw(unsigned *numbers, float *uniform, double *normal)
{
    curandStateMRG32k3a state;
    curand_init(1234ULL, threadIdx.x * 1000003ULL, 17, &state);
    for (int i = 0; i < DRAWS; i++)
        numbers[threadIdx.x * DRAWS + i] = curand(&state);
    uniform[threadIdx.x] = curand_uniform(&state);
    normal[threadIdx.x] = curand_normal_double(&state);
}

// One state in global memory, as most programs keep them.
__global__ void published(curandStateMRG32k3a_t *state, double *first)
{
    curand_init(0, 0, 0, state);
    *first = curand_MRG32k3a(state);
}

__device__ bool same(curandStateMRG32k3a_t a, curandStateMRG32k3a_t b)
{
    for (int i = 0; i < 3; i++)
        if (a.s1[i] != b.s1[i] || a.s2[i] != b.s2[i])
            return false;
    return true;
}

__global__ void jump(bool *right)
{
    curandStateMRG32k3a_t a, b;
    curand_init(5, 3, 0, &a);
    b = a;
    for (int i = 0; i < LONG_JUMP; i++)
        curand(&a);
    skipahead(LONG_JUMP, &b);
    right[0] = same(a, b);
    curand_init(5, 3, LONG_JUMP, &b);
    right[1] = same(a, b);
    curand_init(5, 7, LONG_JUMP, &b);
    skipahead_subsequence(4, &a);
    right[2] = same(a, b);
    for (int i = 0; i < 8; i++)
        skipahead_subsequence(1ULL << 48, &a);
    skipahead_sequence(1, &b);
    right[3] = same(a, b);
    float2 pair = curand_normal2(&a);
    right[4] = curand_normal(&b) == pair.x && curand_normal(&b) == pair.y;
}

static int failures;

static void expect(const char *what, int which, double got, double wanted, double tolerance)
{
    if (!(std::fabs(got - wanted) <= tolerance) && ++failures)
        printf("%s %d: %.17g, not %.17g\n", what, which, got, wanted);
}

int main()
{
    unsigned *numbers;
    float *uniform;
    double *normal, *first;
    bool *right;
    curandStateMRG32k3a_t *state;
    cudaMallocManaged(&numbers, THREADS * DRAWS * sizeof *numbers);
    cudaMallocManaged(&uniform, THREADS * sizeof *uniform);
    cudaMallocManaged(&normal, THREADS * sizeof *normal);
    cudaMallocManaged(&first, sizeof *first);
    cudaMallocManaged(&right, JUMPS * sizeof *right);
    cudaMalloc(&state, sizeof *state);
    draw<<<1, THREADS>>>(numbers, uniform, normal);
    published<<<1, 1>>>(state, first);
    jump<<<1, 1>>>(right);
    cudaDeviceSynchronize();
    for (int t = 0; t < THREADS; t++) {
        for (int i = 0; i < DRAWS; i++)
            expect("number", t * DRAWS + i, numbers[t * DRAWS + i], noted[t][i], 0);
        expect("uniform", t, uniform[t], noted_uniform[t], 0);
        expect("normal", t, normal[t], noted_normal[t], 1e-14);
    }
    expect("published", 0, *first, 545508589, 0);
    for (int i = 0; i < JUMPS; i++)
        expect("jump", i, right[i], true, 0);
    cudaFree(numbers);
    cudaFree(uniform);
    cudaFree(normal);
    cudaFree(first);
    cudaFree(right);
    cudaFree(state);
    return failures != 0;
}
