// out-of-bounds: Is it computed as this array needs it?

__global__ void fade(const unsigned char *in, unsigned char *out, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (column < width && row < height) {
        int i = column * width + row;
        out[i] = in[i] * (column + 1) / width;
    }
}
