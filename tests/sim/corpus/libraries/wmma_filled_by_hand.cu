// Fragments that are filled in other ways than by the functions of wmma: element by element, by a value at their
// declaration, by copying another; in a structure, behind a name, and of integers.
#include "../corpus.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
using accumulator = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__device__ void clear(accumulator &f)
{
    for (int i = 0; i < f.num_elements; i++)
        f.x[i] = 0;
}

__global__ void product(const half *a, const half *b, float *c)
{
    struct operands {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    } both;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, second[2][2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> third = {};
    accumulator fourth{};
    wmma::load_matrix_sync(both.left, a, 16);
    wmma::load_matrix_sync(both.right, b, 16);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] = 0;
    for (int i = 0; i < 4; i++) {
        second[i / 2][i % 2] = sum;
        wmma::mma_sync(second[i / 2][i % 2], both.left, both.right, second[i / 2][i % 2]);
    }
    wmma::mma_sync(third, both.left, both.right, third);
    wmma::mma_sync(fourth, both.left, both.right, fourth);
    clear(sum);
    wmma::mma_sync(sum, both.left, both.right, sum);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] += second[1][1].x[i] + third.x[i] + fourth.x[i];
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

__global__ void integers(const signed char *a, const signed char *b, int *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
    wmma::fill_fragment(sum, 0);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main()
{
    half ones[256];
    for (int i = 0; i < 256; i++)
        ones[i] = __float2half(1);
    signed char small[256];
    for (int i = 0; i < 256; i++)
        small[i] = 2;
    half *a = device_copy(ones), *b = device_copy(ones);
    signed char *d = device_copy(small), *e = device_copy(small);
    float *c = device_zeros<float>(256), result[256];
    int *f = device_zeros<int>(256), whole[256];
    product<<<1, 32>>>(a, b, c);
    integers<<<1, 32>>>(d, e, f);
    fetch(result, c);
    fetch(whole, f);
    for (int i = 0; i < 256; i++)
        REQUIRE(result[i] == 64 && whole[i] == 64);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(d));
    CHECK(cudaFree(e));
    CHECK(cudaFree(f));
    return 0;
}
