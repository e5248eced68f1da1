// cuSPARSE called wrongly: sizes that do not fit, a column outside the matrix, offsets past the entries, a vector that
// is not initialised, one that another stream still writes, and at last one in host memory.
#include "../corpus.h"
#include <cusparse.h>

const int N = 4;

__global__ void fill(float *x)
{
    x[threadIdx.x] = threadIdx.x; // expect: missing-wait a
}

#define MULTIPLY(matrix, vector)                                                                                       \
    cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vector, &zero, to, CUDA_R_32F,                \
                 CUSPARSE_SPMV_ALG_DEFAULT, buffer)

static cusparseSpMatDescr_t diagonal(int columns, const int (&offsets)[N + 1], const int (&indices)[N])
{
    cusparseSpMatDescr_t a;
    cusparseCreateCsr(&a, N, columns, N, device_copy(offsets), device_copy(indices), device_ramp<float>(N, 1, 1),
                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    return a;
}

static cusparseDnVecDescr_t vector(float *memory)
{
    cusparseDnVecDescr_t descriptor;
    cusparseCreateDnVec(&descriptor, N, memory, CUDA_R_32F);
    return descriptor;
}

int main()
{
    const int offsets[] = {0, 1, 2, 3, 4}, indices[] = {0, 1, 2, 3}, beyond[] = {0, 1, 2, N}, far[] = {0, 1, 2, 3, 9};
    const float one = 1, zero = 0;
    float *x = device_zeros<float>(N), *y = device_zeros<float>(N), *nothing = NULL, here[N] = {};
    void *buffer = device_zeros<double>(N + 1);
    cusparseSpMatDescr_t a = diagonal(N, offsets, indices), wide = diagonal(N + 1, offsets, indices);
    cusparseSpMatDescr_t outside = diagonal(N, offsets, beyond), torn = diagonal(N, far, indices);
    cudaStream_t stream;
    cusparseHandle_t handle;
    CHECK(cudaMalloc(&nothing, N * sizeof *nothing));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cusparseCreate(&handle);
    cusparseDnVecDescr_t from = vector(x), to = vector(y), unwritten = vector(nothing), host = vector(here);
    MULTIPLY(wide, from);    // expect: bad-call
    MULTIPLY(outside, from); // expect: bad-call
    MULTIPLY(torn, from);    // expect: bad-call
    MULTIPLY(a, unwritten);  // expect: uninitialised
    CHECK(cudaDeviceSynchronize());
    fill<<<1, N, 0, stream>>>(x);
    MULTIPLY(a, from); // expect: missing-wait a
    CHECK(cudaDeviceSynchronize());
    MULTIPLY(a, from);
    MULTIPLY(a, host); // expect: host-pointer
    SHOW(cudaDeviceSynchronize());
    return 0;
}
