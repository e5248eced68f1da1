// Runs what step queues `times` times. `step` launches a few kernels in the stream that it is given.

void repeat(void (*step)(cudaStream_t stream), cudaStream_t stream, int times)
{
    for (int i = 0; i < times; i++)
        step(stream); // TODO: capture it once, and launch the graph instead
}
