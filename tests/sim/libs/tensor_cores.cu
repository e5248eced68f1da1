// wmma, and inline PTX (mma.sync, ldmatrix, cp.async): the same product as a plain loop, exactly, since the inputs are
// small integers.
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void wmma_product(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 1.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void wmma_product_wide(const half *a, const half *b, float *c) // a: (32, 16), b: (16, 8) by columns
{
    wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 32, wmma::mem_col_major);
}

static __device__ void copy_16_bytes(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(shared)),
                 "l"(global)
                 : "memory");
}

// a: (16, 16) and b: (16, 8) by rows, brought to shared memory by cp.async, to registers by ldmatrix.
__global__ void mma_half(const half *a, const half *b, float *c)
{
    alignas(16) __shared__ half shared_a[16 * 16];
    alignas(16) __shared__ half shared_b[16 * 8];
    int lane = threadIdx.x, group = lane / 4, member = lane % 4;
    copy_16_bytes(shared_a + lane * 8, a + lane * 8);
    if (lane < 16)
        copy_16_bytes(shared_b + lane * 8, b + lane * 8);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group %0;" ::"n"(0) : "memory");
    __syncwarp();
    uint32_t fa[4], fb[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"((unsigned)__cvta_generic_to_shared(shared_a + (lane % 16) * 16 + (lane / 16) * 8))
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"((unsigned)__cvta_generic_to_shared(shared_b + (lane % 16) * 8))
                 : "memory");
    float fc[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(fc[0]), "=f"(fc[1]), "=f"(fc[2]), "=f"(fc[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "f"(fc[0]), "f"(fc[1]),
                   "f"(fc[2]), "f"(fc[3]));
    for (int i = 0; i < 4; i++)
        c[(group + 8 * (i / 2)) * 8 + 2 * member + i % 2] = fc[i];
}

__global__ void mma_tf32(const float *a, const float *b, float *c) // a: (16, 8), b: (8, 8) by rows
{
    int lane = threadIdx.x, group = lane / 4, member = lane % 4;
    uint32_t fa[4], fb[2];
    for (int i = 0; i < 4; i++)
        fa[i] = __float_as_uint(wmma::__float_to_tf32(a[(group + 8 * (i % 2)) * 8 + member + 4 * (i / 2)]));
    for (int i = 0; i < 2; i++)
        fb[i] = __float_as_uint(wmma::__float_to_tf32(b[(member + 4 * i) * 8 + group]));
    float fc[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(fc[0]), "=f"(fc[1]), "=f"(fc[2]), "=f"(fc[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "f"(fc[0]), "f"(fc[1]),
                   "f"(fc[2]), "f"(fc[3]));
    for (int i = 0; i < 4; i++)
        c[(group + 8 * (i / 2)) * 8 + 2 * member + i % 2] = fc[i];
}

__global__ void mma_int8(const signed char *a, const signed char *b,
                         int *c) // a: (16, 32) by rows, b: (32, 8) by columns
{
    int lane = threadIdx.x, group = lane / 4, member = lane % 4;
    const uint32_t *rows = (const uint32_t *)a, *columns = (const uint32_t *)b;
    uint32_t fa[4], fb[2];
    for (int i = 0; i < 4; i++)
        fa[i] = rows[(group + 8 * (i % 2)) * 8 + member + 4 * (i / 2)];
    for (int i = 0; i < 2; i++)
        fb[i] = columns[group * 8 + member + 4 * i];
    int fc[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                 "{%8, %9}, {%10, %11, %12, %13};"
                 : "=r"(fc[0]), "=r"(fc[1]), "=r"(fc[2]), "=r"(fc[3])
                 : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "r"(fc[0]), "r"(fc[1]),
                   "r"(fc[2]), "r"(fc[3]));
    for (int i = 0; i < 4; i++)
        c[(group + 8 * (i / 2)) * 8 + 2 * member + i % 2] = fc[i];
}

static int failures;

// a and b as small integers of either sign; each stored as T in device memory.
static int number_a(int i, int j)
{
    return (i * 7 + j * 3) % 11 - 5;
}
static int number_b(int i, int j)
{
    return (i * 5 + j * 13) % 9 - 4;
}

template <class T, class F> static T *matrix(int rows, int columns, bool by_columns, F number)
{
    T *host = new T[rows * columns], *device;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            host[by_columns ? j * rows + i : i * columns + j] = (T)(float)number(i, j);
    cudaMalloc(&device, rows * columns * sizeof(T));
    cudaMemcpy(device, host, rows * columns * sizeof(T), cudaMemcpyHostToDevice);
    delete[] host;
    return device;
}

template <class T, class A, class B>
static void check(const char *name, void (*kernel)(const A *, const B *, T *), int m, int n, int k, bool b_columns,
                  bool c_columns, double scale, double start)
{
    A *a = matrix<A>(m, k, false, number_a);
    B *b = matrix<B>(k, n, b_columns, number_b);
    T *c, *host = new T[m * n];
    cudaMalloc(&c, m * n * sizeof(T));
    kernel<<<1, 32>>>(a, b, c);
    cudaMemcpy(host, c, m * n * sizeof(T), cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = start;
            for (int l = 0; l < k; l++)
                sum += number_a(i, l) * number_b(l, j);
            double got = (double)host[c_columns ? j * m + i : i * n + j];
            if (got != scale * sum && failures++ < 10)
                printf("%s: (%d, %d) is %g, not %g\n", name, i, j, got, scale * sum);
        }
    delete[] host;
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

int main()
{
    check("wmma 16x16x16", wmma_product, 16, 16, 16, false, false, 2, 1);
    check("wmma 32x8x16", wmma_product_wide, 32, 8, 16, true, true, 1, 0);
    check("mma half", mma_half, 16, 8, 16, false, false, 1, 0);
    check("mma tf32", mma_tf32, 16, 8, 8, false, false, 1, 0);
    check("mma int8", mma_int8, 16, 8, 32, true, false, 1, 0);
    return failures != 0;
}
