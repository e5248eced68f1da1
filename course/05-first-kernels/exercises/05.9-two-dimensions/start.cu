// Fades a grey photo to black towards its left edge: one thread per pixel. x counts columns, from left to right, and y
// counts rows, from top to bottom.

__global__ void fade(const unsigned char *in, unsigned char *out, int width, int height)
{
    int column = 0; // TODO: from threadIdx.x, blockIdx.x and blockDim.x
    int row = 0;    // TODO: the same with .y

    if (column < width && row < height) {
        int i = 0; // TODO: where the pixel of this row and column lies in the array
        out[i] = in[i] * (column + 1) / width;
    }
}
