// Products and kernels of several streams on the same matrices: in one stream, behind an event, behind the legacy
// default stream, behind a wait of the host, and at the same time on columns that the other leaves alone.
#include "../corpus.h"
#include <cublas_v2.h>

#define BLAS(call) REQUIRE((call) == CUBLAS_STATUS_SUCCESS)

const int N = 32;

__global__ void twice(const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = 2 * from[i];
}

int main()
{
    const float one = 1, zero = 0;
    float *a = device_ramp<float>(N * N, 0, 1), *b = device_ramp<float>(N * N, 1, 0), *c = device_zeros<float>(N * N);
    float *d = device_zeros<float>(N * N);
    cudaStream_t first, second;
    cublasHandle_t handle;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    BLAS(cublasCreate(&handle));
    BLAS(cublasSetStream(handle, first));
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N));
    twice<<<N, N, 0, first>>>(c, d);
    CHECK(cudaEventRecord(done, first));
    CHECK(cudaStreamWaitEvent(second, done, 0));
    twice<<<N, N, 0, second>>>(d, c);
    twice<<<N, N>>>(c, d);
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N));
    CHECK(cudaStreamSynchronize(first));
    twice<<<N, N, 0, second>>>(c, d);
    CHECK(cudaDeviceSynchronize());
    // The upper half of each column here, the lower half there.
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N / 2, N, N, &one, a, N, b, N, &zero, c, N));
    BLAS(cublasSetStream(handle, second));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N / 2, N, N, &one, a, N, b, N, &zero, c + N / 2, N));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaDeviceSynchronize());
    BLAS(cublasDestroy(handle));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(d));
    return 0;
}
