// Heat in a plate: each step moves each inner point towards the mean of its neighbours.

__global__ void step(const float *now, float *next, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;

    if (x >= width - 1 || y >= height - 1)
        return;
    int i = y * width + x;
    float mean = (now[i - 1] + now[i + 1] + now[i - width] + now[i + width]) / 4;
    next[i] = now[i] + (mean - now[i]) / 2;
}

// Returns the buffer that holds the plate after `steps` steps. At the start, a holds the plate, and b its border.
float *simulate(float *a, float *b, int width, int height, int steps)
{
    dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);

    // TODO: the neighbours of a point must not have moved yet when it looks at them
    for (int i = 0; i < steps; i++)
        step<<<grid, block>>>(a, a, width, height);
    return a;
}
