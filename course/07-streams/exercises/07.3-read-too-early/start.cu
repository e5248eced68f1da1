// The sum of n floats in device memory. `pinned` is host memory with room for them.

float total(const float *device, float *pinned, int n, cudaStream_t stream)
{
    float sum = 0;

    cudaMemcpyAsync(pinned, device, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    for (int i = 0; i < n; i++)
        sum += pinned[i];
    return sum;
}
