// Stream callbacks and host functions run in order with the stream's work.
#include "../corpus.h"

struct context {
    int *host, seen, calls;
};

static void after_copy(void *data)
{
    context *c = (context *)data;
    c->seen = c->host[7];
    c->calls++;
}

static void after_all(cudaStream_t, cudaError_t status, void *data)
{
    if (status == cudaSuccess)
        ((context *)data)->calls += 10;
}

int main()
{
    cudaStream_t stream;
    int *data = device_ramp(64, 0, 2);
    context c = {NULL, 0, 0};
    CHECK(cudaMallocHost(&c.host, 64 * sizeof(int)));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyAsync(c.host, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, after_copy, &c));
    CHECK(cudaStreamAddCallback(stream, after_all, &c, 0));
    CHECK(cudaStreamSynchronize(stream));
    REQUIRE(c.seen == 14 && c.calls == 11);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(c.host));
    CHECK(cudaFree(data));
    return 0;
}
