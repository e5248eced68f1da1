// How long each point of the plane stays near 0 under z = z * z + c: one thread per pixel.
// left, top: the point of the upper left pixel. size: the distance between two pixels.
//
// Both parts of the new z are computed from the old x. So the new x waits in a variable of its own until y is done.

__global__ void mandelbrot(int *counts, int width, int height, float left, float top, float size, int limit)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;

    if (column >= width || row >= height)
        return;
    float cx = left + size * column, cy = top + size * row;
    float x = 0, y = 0;
    int count = 0;

    while (count < limit && x * x + y * y <= 4) {
        float next_x = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next_x;
        count++;
    }
    counts[row * width + column] = count;
}
