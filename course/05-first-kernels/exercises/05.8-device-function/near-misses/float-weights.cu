// wrong: it should be 76

__host__ __device__ unsigned char grey_of(const unsigned char *pixel)
{
    return (unsigned char)(0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]);
}

__global__ void to_grey(const unsigned char *colours, unsigned char *grey, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < pixels)
        grey[i] = grey_of(colours + 3 * i);
}
