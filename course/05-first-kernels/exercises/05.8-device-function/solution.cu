// Turns a colour photo grey: one thread per pixel. Each pixel of `colours` is three bytes: red, green and blue.
//
// The formula stands in one place, and both sides use it. Whole numbers make the result the same on both, to the last
// bit. The bytes are promoted to int before they are multiplied, so nothing overflows.

__host__ __device__ unsigned char grey_of(const unsigned char *pixel)
{
    return (unsigned char)((299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2]) / 1000);
}

__global__ void to_grey(const unsigned char *colours, unsigned char *grey, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < pixels)
        grey[i] = grey_of(colours + 3 * i);
}
