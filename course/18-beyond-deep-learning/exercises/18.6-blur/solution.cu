// Blurs a grey picture: one thread per pixel, the mean of 3 x 3 pixels.
//
// Nine bytes add up to as much as 2295, and a byte ends at 255: the sum needs a wider type. Integer division cuts off,
// so adding half of the divisor first rounds to the nearest.

__global__ void blur(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 0;

    if (x >= width || y >= height)
        return;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int column = min(max(x + dx, 0), width - 1), row = min(max(y + dy, 0), height - 1);
            sum += in[row * width + column];
        }
    out[y * width + x] = (unsigned char)((sum + 4) / 9);
}
