// A recorder of sound on the device. It grows when it is full, and older sound fades with each new piece.
//
// A pointer is only an address, and grow() moves the samples to another address. `samples` was a copy of the old one,
// so the kernel worked on memory that grow() had freed. The kernel now gets the address that the recorder has
// afterwards.

struct recorder {
    float *samples; // on the device
    int count;      // samples recorded
    int capacity;   // samples there is room for
};

__global__ void halve(float *samples, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        samples[i] /= 2;
}

// Moves the samples to a place with room for at least `needed`.
static void grow(struct recorder *recorder, int needed)
{
    int capacity = 2 * needed;
    float *larger = NULL;

    cudaMalloc(&larger, capacity * sizeof(float));
    cudaMemcpy(larger, recorder->samples, recorder->count * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(recorder->samples);
    recorder->samples = larger;
    recorder->capacity = capacity;
}

// Records a piece of n samples, which is on the host.
void record(struct recorder *recorder, const float *piece, int n)
{
    int threads = 64, count = recorder->count;

    if (count + n > recorder->capacity)
        grow(recorder, count + n);
    cudaMemcpy(recorder->samples + count, piece, n * sizeof(float), cudaMemcpyHostToDevice);
    if (count > 0)
        halve<<<(count + threads - 1) / threads, threads>>>(recorder->samples, count);
    recorder->count += n;
}
