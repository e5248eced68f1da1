// out-of-bounds: comes after this access and does not protect it

__global__ void fade(const unsigned char *in, unsigned char *out, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    int i = row * width + column;
    unsigned char pixel = in[i];

    if (column < width && row < height) {
        out[i] = pixel * (column + 1) / width;
    }
}
