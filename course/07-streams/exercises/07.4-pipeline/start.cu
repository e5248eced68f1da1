// out = 3 * in, chunk by chunk through two streams. `in` and `out` are pinned host memory; `buffer` is device memory
// with room for two chunks.

#define CHUNK 256

__global__ void triple(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        data[i] *= 3;
}

void triple_in_chunks(const float *in, float *out, int n, float *buffer, cudaStream_t streams[2])
{
    for (int first = 0; first < n; first += CHUNK) {
        int count = n - first < CHUNK ? n - first : CHUNK;
        cudaStream_t stream = streams[first / CHUNK % 2];

        cudaMemcpyAsync(buffer, in + first, count * sizeof(float), cudaMemcpyHostToDevice, stream);
        triple<<<(count + 127) / 128, 128, 0, stream>>>(buffer, count);
        cudaMemcpyAsync(out + first, buffer, count * sizeof(float), cudaMemcpyDeviceToHost, stream);
    }
}
