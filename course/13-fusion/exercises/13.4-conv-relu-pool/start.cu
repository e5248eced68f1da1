// 3 x 3 convolution, relu and 2 x 2 maximum pooling of one image.
//
// The result is already correct. Make it one kernel: one thread per pooled pixel.

__device__ float convolve_at(const float *in, const float *filter, int x, int y, int width, int height)
{
    float sum = 0;

    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
                sum += filter[(dy + 1) * 3 + dx + 1] * in[(y + dy) * width + x + dx];
    return sum;
}

__global__ void convolve(const float *in, const float *filter, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        out[y * width + x] = convolve_at(in, filter, x, y, width, height);
}

__global__ void relu(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        x[i] = fmaxf(x[i], 0);
}

__global__ void pool(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x >= width / 2 || y >= height / 2)
        return;
    const float *square = in + 2 * y * width + 2 * x;
    out[y * (width / 2) + x] = fmaxf(fmaxf(square[0], square[1]), fmaxf(square[width], square[width + 1]));
}

// in: (height, width), filter: (3, 3), scratch: room for one image, out: (height / 2, width / 2)
void conv_relu_pool(const float *in, const float *filter, float *scratch, float *out, int width, int height)
{
    dim3 block(8, 8), grid((width + 7) / 8, (height + 7) / 8);

    // TODO: one launch
    convolve<<<grid, block>>>(in, filter, scratch, width, height);
    relu<<<(width * height + 63) / 64, 64>>>(scratch, width * height);
    pool<<<grid, block>>>(scratch, out, width, height);
}
