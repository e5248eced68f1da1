// The sum of n floats in device memory. `pinned` is host memory with room for them.
//
// The host waits for this stream, and only for this one: between queueing the copy and reading what it brings.

float total(const float *device, float *pinned, int n, cudaStream_t stream)
{
    float sum = 0;

    cudaMemcpyAsync(pinned, device, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < n; i++)
        sum += pinned[i];
    return sum;
}
