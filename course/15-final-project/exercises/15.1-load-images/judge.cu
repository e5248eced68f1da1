#include "learn.h"

#include "15.1-load-images.cu"

int main(void)
{
    struct {
        int count, pixels, images;
    } cases[] = {{1, 1, 1}, {4, 784, 9}, {33, 49, 40}};
    const float mean = 0.1307f, deviation = 0.3081f;
    for (auto c : cases) {
        learn_case("%d images of %d pixels", c.count, c.pixels);
        std::vector<unsigned char> images(c.images * c.pixels);
        std::vector<int> indices(c.count);
        std::vector<float> expected(c.count * c.pixels);
        for (size_t i = 0; i < images.size(); i++)
            images[i] = (unsigned char)(i * 37 % 256);
        for (int b = 0; b < c.count; b++) {
            indices[b] = (c.images - 1 + b * 7) % c.images;
            for (int p = 0; p < c.pixels; p++)
                expected[b * c.pixels + p] = (float)((images[indices[b] * c.pixels + p] / 255.0 - mean) / deviation);
        }
        unsigned char *device_images = learn_device(images);
        int *device_indices = learn_device(indices);
        float *batch = learn_output<float>(expected.size());
        learn_threads_1d(128);
        load_images<<<(c.count * c.pixels + 127) / 128, 128>>>(device_images, device_indices, batch, c.count, c.pixels,
                                                               mean, deviation);
        learn_expect("batch", batch, expected, 1e-5);
    }
    return learn_passed();
}
