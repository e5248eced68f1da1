// 3 x 3 convolution, relu and 2 x 2 maximum pooling of one image.
//
// One thread per pooled pixel computes the four convolution results of its square and keeps the largest in a register.
// Starting at 0 instead of -infinity is relu: the maximum of relu's results is relu of the maximum.

__device__ float convolve_at(const float *in, const float *filter, int x, int y, int width, int height)
{
    float sum = 0;

    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
                sum += filter[(dy + 1) * 3 + dx + 1] * in[(y + dy) * width + x + dx];
    return sum;
}

__global__ void convolve_and_pool(const float *in, const float *filter, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float largest = 0;

    if (x >= width / 2 || y >= height / 2)
        return;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++)
            largest = fmaxf(largest, convolve_at(in, filter, 2 * x + dx, 2 * y + dy, width, height));
    out[y * (width / 2) + x] = largest;
}

// in: (height, width), filter: (3, 3), scratch: room for one image, out: (height / 2, width / 2)
void conv_relu_pool(const float *in, const float *filter, float *scratch, float *out, int width, int height)
{
    dim3 block(8, 8), grid((width / 2 + 7) / 8, (height / 2 + 7) / 8);

    convolve_and_pool<<<grid, block>>>(in, filter, out, width, height);
}
