// wrong: it should be

__host__ __device__ unsigned char grey_of(const unsigned char *pixel)
{
    return (unsigned char)(299 * pixel[0] / 1000 + 587 * pixel[1] / 1000 + 114 * pixel[2] / 1000);
}

__global__ void to_grey(const unsigned char *colours, unsigned char *grey, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < pixels)
        grey[i] = grey_of(colours + 3 * i);
}
