// Three kernels recorded as a graph and launched 1000 times with one call each.

#include <cstdio>

__global__ void add(int *value, int amount)
{
    *value += amount;
}

int main(void)
{
    int *value, host_value;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaMalloc(&value, sizeof(int));
    cudaMemset(value, 0, sizeof(int));
    cudaDeviceSynchronize();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add<<<1, 1, 0, stream>>>(value, 1); // recorded, not run
    add<<<1, 1, 0, stream>>>(value, 10);
    add<<<1, 1, 0, stream>>>(value, 100);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);

    for (int step = 0; step < 1000; step++)
        cudaGraphLaunch(executable, stream);
    cudaMemcpyAsync(&host_value, value, sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    printf("value %d\n", host_value);

    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaFree(value);
    return host_value == 111000 && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
