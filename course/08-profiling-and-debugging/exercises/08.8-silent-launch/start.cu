// Mirrors an image left to right: one block per row. in and out are on the device.

__global__ void mirror(const float *in, float *out, int width)
{
    extern __shared__ float row[]; // width floats; the launch says how many bytes

    for (int x = threadIdx.x; x < width; x += blockDim.x)
        row[x] = in[(size_t)blockIdx.x * width + x];
    __syncthreads();
    for (int x = threadIdx.x; x < width; x += blockDim.x)
        out[(size_t)blockIdx.x * width + x] = row[width - 1 - x];
}

cudaError_t mirror_on_gpu(const float *in, float *out, int width, int height)
{
    int bytes = width * (int)sizeof(float);

    mirror<<<height, 256, bytes>>>(in, out, width);
    return cudaSuccess;
}
