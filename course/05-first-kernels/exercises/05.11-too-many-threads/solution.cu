// Halves the brightness of a grey photo: one thread per pixel.
//
// The size of a block is fixed, well below the limit of 1,024 threads, and the number of blocks follows the photo. With
// more than one block, a thread's row and column depend on its block as well.

#define SIDE 16 // a block is SIDE x SIDE = 256 threads

__global__ void darken(unsigned char *photo, int width, int height)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;

    if (column < width && row < height)
        photo[row * width + column] /= 2;
}

// photo is on the device.
void darken_on_gpu(unsigned char *photo, int width, int height)
{
    dim3 block(SIDE, SIDE);
    dim3 grid((width + SIDE - 1) / SIDE, (height + SIDE - 1) / SIDE);

    darken<<<grid, block>>>(photo, width, height);
}
