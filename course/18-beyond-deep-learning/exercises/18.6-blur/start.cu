// Blurs a grey picture: one thread per pixel, the mean of 3 x 3 pixels.

__global__ void blur(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned char sum = 0;

    if (x >= width || y >= height)
        return;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int column = min(max(x + dx, 0), width - 1), row = min(max(y + dy, 0), height - 1);
            sum += in[row * width + column];
        }
    out[y * width + x] = sum / 9;
}
