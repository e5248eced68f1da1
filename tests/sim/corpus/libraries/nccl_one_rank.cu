// NCCL with one rank: collective operations, in place and not, in a group, and a message of the rank to itself.
#include "../corpus.h"
#include <nccl.h>

const int N = 4;

#define DONE(call) REQUIRE((call) == ncclSuccess)

int main()
{
    int *from = device_ramp<int>(N, 1, 1), *to = NULL, *other = NULL, got[N], count = 0, rank = 9, devices[] = {0};
    cudaStream_t stream;
    ncclComm_t all, one;
    ncclUniqueId id;
    CHECK(cudaMalloc(&to, sizeof got));
    CHECK(cudaMalloc(&other, sizeof got));
    CHECK(cudaStreamCreate(&stream));
    DONE(ncclCommInitAll(&all, 1, devices));
    DONE(ncclGetUniqueId(&id));
    DONE(ncclCommInitRank(&one, 1, id, 0));
    DONE(ncclCommCount(all, &count));
    DONE(ncclCommUserRank(one, &rank));
    REQUIRE(count == 1 && rank == 0);
    DONE(ncclAllReduce(from, to, N, ncclInt, ncclSum, all, stream));
    DONE(ncclAllReduce(to, to, N, ncclInt, ncclMax, all, stream));
    CHECK(cudaStreamSynchronize(stream));
    fetch(got, to);
    REQUIRE(got[0] == 1 && got[3] == 4);
    DONE(ncclGroupStart());
    DONE(ncclBroadcast(from, other, N, ncclInt, 0, one, stream));
    DONE(ncclAllGather(from, to, N, ncclInt, one, stream));
    DONE(ncclGroupEnd());
    DONE(ncclReduceScatter(other, to, N, ncclInt, ncclSum, one, stream));
    CHECK(cudaMemsetAsync(other, 0, sizeof got, stream));
    DONE(ncclGroupStart());
    DONE(ncclSend(to, N, ncclInt, 0, one, stream));
    DONE(ncclRecv(other, N, ncclInt, 0, one, stream));
    DONE(ncclGroupEnd());
    CHECK(cudaStreamSynchronize(stream));
    fetch(got, other);
    REQUIRE(got[0] == 1 && got[3] == 4);
    DONE(ncclCommDestroy(all));
    DONE(ncclCommDestroy(one));
    CHECK(cudaStreamDestroy(stream));
    for (int *memory : {from, to, other})
        CHECK(cudaFree(memory));
    return 0;
}
