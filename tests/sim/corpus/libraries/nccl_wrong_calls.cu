// NCCL used wrongly: more ranks than there are, a send without its receive, with a receive of another type, count or
// communicator, an operand that is not initialised, a result that another stream reads too early, and at last a count
// that is too large.
#include "../corpus.h"
#include <nccl.h>

const int N = 32;

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2; // expect: missing-wait a
}

int main()
{
    float *from = device_zeros<float>(N), *to = device_zeros<float>(N), *nothing = NULL;
    int devices[] = {0, 1};
    cudaStream_t stream;
    ncclComm_t comm, other;
    CHECK(cudaMalloc(&nothing, N * sizeof *nothing));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    ncclCommInitAll(&comm, 2, devices); // expect: bad-call
    ncclCommInitAll(&comm, 1, devices);
    ncclCommInitAll(&other, 1, devices);
    ncclGroupStart();
    ncclSend(from, N, ncclFloat, 0, comm, stream); // expect: bad-call
    ncclGroupEnd();
    ncclGroupStart();
    ncclSend(from, N, ncclFloat, 0, comm, stream); // expect: bad-call
    ncclRecv(to, N, ncclInt8, 0, comm, stream);
    ncclGroupEnd();
    ncclGroupStart();
    ncclSend(from, N, ncclFloat, 0, comm, stream); // expect: bad-call
    ncclRecv(to, N - 1, ncclFloat, 0, comm, stream);
    ncclGroupEnd();
    ncclGroupStart();
    ncclSend(from, N, ncclFloat, 0, comm, stream); // expect: bad-call
    ncclRecv(to, N, ncclFloat, 0, other, stream);
    ncclGroupEnd();
    ncclAllReduce(nothing, to, N, ncclFloat, ncclSum, comm, stream); // expect: uninitialised
    CHECK(cudaDeviceSynchronize());
    ncclAllReduce(from, to, N, ncclFloat, ncclSum, comm, stream); // expect: missing-wait a
    twice<<<1, N>>>(to);
    CHECK(cudaDeviceSynchronize());
    ncclAllGather(from, to, N + 1, ncclFloat, comm, stream); // expect: out-of-bounds
    SHOW(cudaDeviceSynchronize());
    return 0;
}
