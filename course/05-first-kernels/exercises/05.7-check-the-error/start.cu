// Allocates particles on the device and gives them their first positions and speeds.

#define BLOCKS  4
#define THREADS 128 // per block

__global__ void place(float *positions, float *speeds, size_t count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        positions[i] = 2.0f * i;
        speeds[i] = 1;
    }
}

// Gives the caller two arrays of `count` floats on the device.
cudaError_t make_particles(float **positions, float **speeds, size_t count)
{
    *positions = NULL;
    *speeds = NULL;
    cudaMalloc(positions, count * sizeof(float));
    cudaMalloc(speeds, count * sizeof(float));
    place<<<BLOCKS, THREADS>>>(*positions, *speeds, count);
    return cudaSuccess; // TODO: this is not always true
}
