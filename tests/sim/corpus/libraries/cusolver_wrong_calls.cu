// cuSOLVER called wrongly: a workspace that is too small, half of the matrix not initialised, the result of another
// stream read too early, and a host array for the pivots, which ends the program's work.
#include "../corpus.h"
#include <cusolverDn.h>

const int N = 8;

__global__ void identity(double *a)
{
    for (int i = 0; i < N; i++)
        a[threadIdx.x + i * N] = threadIdx.x == i; // expect: missing-wait b
}

int main()
{
    double *a = device_zeros<double>(N * N), *half = NULL, *work = NULL;
    int size = 0, pivots_here[N], *pivots = device_zeros<int>(N), *info = device_zeros<int>(1);
    cusolverDnHandle_t handle;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&half, N * N * sizeof *half));
    CHECK(cudaMemset(half, 0, N * N / 2 * sizeof *half));
    cusolverDnCreate(&handle);
    cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, N, a, N, &size);
    CHECK(cudaMalloc(&work, 1024 * sizeof *work));
    cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, N, a, N, work, size - 1, info); // expect: bad-call
    cusolverDnDpotrf(handle, CUBLAS_FILL_MODE_LOWER, N, half, N, work, size, info);  // expect: uninitialised
    CHECK(cudaDeviceSynchronize());
    cusolverDnSetStream(handle, stream);
    identity<<<1, N>>>(a);
    CHECK(cudaDeviceSynchronize());
    cusolverDnDgetrf(handle, N, N, a, N, work, pivots, info);
    CHECK(cudaStreamSynchronize(stream));
    cudaStream_t other;
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    identity<<<1, N, 0, other>>>(a);
    cusolverDnDgetrf(handle, N, N, a, N, work, pivots, info); // expect: missing-wait b
    CHECK(cudaDeviceSynchronize());
    cusolverDnDgetrf(handle, N, N, a, N, work, pivots_here, info); // expect: host-pointer
    SHOW(cudaDeviceSynchronize());
    return 0;
}
