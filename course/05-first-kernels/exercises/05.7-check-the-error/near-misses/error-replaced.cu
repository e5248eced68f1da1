// unchecked-error: Check what the call returns

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
    cudaError_t error = cudaMalloc(positions, count * sizeof(float));
    error = cudaMalloc(speeds, count * sizeof(float));
    if (error == cudaSuccess) {
        place<<<BLOCKS, THREADS>>>(*positions, *speeds, count);
        error = cudaGetLastError();
    }
    if (error != cudaSuccess) {
        cudaFree(*positions);
        cudaFree(*speeds);
        *positions = NULL;
        *speeds = NULL;
    }
    return error;
}
