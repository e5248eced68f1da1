// out = 3 * in, chunk by chunk through two streams. `in` and `out` are pinned host memory; `buffer` is device memory
// with room for two chunks.
//
// Each stream has its own half of the buffer. Within a stream the chunks run in order, so chunk c + 2 overwrites chunk
// c only after that has been copied out: two halves are enough for any number of chunks.

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
        int which = first / CHUNK % 2;
        cudaStream_t stream = streams[which];
        float *half = buffer + which * CHUNK;

        cudaMemcpyAsync(half, in + first, count * sizeof(float), cudaMemcpyHostToDevice, stream);
        triple<<<(count + 127) / 128, 128, 0, stream>>>(half, count);
        cudaMemcpyAsync(out + first, half, count * sizeof(float), cudaMemcpyDeviceToHost, stream);
    }
}
