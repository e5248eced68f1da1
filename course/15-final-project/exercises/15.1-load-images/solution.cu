// Fetches the images of a batch and normalises them: one thread per pixel.
// images: (any, pixels) bytes, indices: (count), batch: (count, pixels)
//
// pixel / 255 with two integers is an integer division: 0 for every pixel below 255. One float is enough to make it a
// division of floats.

__global__ void load_images(const unsigned char *images, const int *indices, float *batch, int count, int pixels,
                            float mean, float deviation)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= count * pixels)
        return;
    unsigned char pixel = images[indices[i / pixels] * pixels + i % pixels];
    batch[i] = (pixel / 255.0f - mean) / deviation;
}
