// Turns a colour photo grey: one thread per pixel. Each pixel of `colours` is three bytes: red, green and blue.

// TODO: make this a function of host and device, and compute the grey
unsigned char grey_of(const unsigned char *pixel)
{
    return pixel[0];
}

__global__ void to_grey(const unsigned char *colours, unsigned char *grey, int pixels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < pixels)
        grey[i] = 0; // TODO: call grey_of for the three bytes of pixel i
}
