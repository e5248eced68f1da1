// Fades a grey photo to black towards its left edge: one thread per pixel. x counts columns, from left to right, and y
// counts rows, from top to bottom.
//
// Each dimension is exercise 05.1 again. Before the pixel at (row, column) lie `row` whole rows of `width` pixels and
// `column` pixels of its own row. Both guards are needed: a column too far right would land in the next row.

__global__ void fade(const unsigned char *in, unsigned char *out, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (column < width && row < height) {
        int i = row * width + column;
        out[i] = in[i] * (column + 1) / width;
    }
}
