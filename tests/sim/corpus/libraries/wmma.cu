// A 16x16x16 product on tensor cores through wmma.
#include "../corpus.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void product(const half *a, const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2;
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main()
{
    half a[256], b[256];
    float *c = device_zeros<float>(256), result[256];
    for (int i = 0; i < 256; i++) {
        a[i] = __float2half((float)(i % 7 - 3));
        b[i] = __float2half((float)(i % 5 - 2));
    }
    half *da = device_copy(a), *db = device_copy(b);
    product<<<1, 32>>>(da, db, c);
    CHECK(cudaGetLastError());
    fetch(result, c);
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            float want = 1;
            for (int k = 0; k < 16; k++)
                want += (float)((m * 16 + k) % 7 - 3) * (float)((n * 16 + k) % 5 - 2);
            REQUIRE(result[m * 16 + n] == 2 * want);
        }
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(c));
    return 0;
}
