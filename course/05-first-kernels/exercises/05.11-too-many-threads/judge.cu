#include "learn.h"

#include "05.11-too-many-threads.cu"

int main(void)
{
    const int sizes[][2] = {{20, 10},  {40, 30}, {1, 1},   {2000, 1},
                            {1, 1500}, {32, 32}, {33, 31}, {1, 70000}}; // width, height
    for (const int *size : sizes) {
        int width = size[0], height = size[1], n = width * height;
        learn_case("a photo of %d columns and %d rows", width, height);
        std::vector<unsigned char> photo(n), expected(n);
        for (int i = 0; i < n; i++) {
            photo[i] = (unsigned char)(i * 7 % 251 + 2);
            expected[i] = photo[i] / 2;
        }
        unsigned char *device = learn_device(photo);
        darken_on_gpu(device, width, height);
        learn_expect("photo", device, expected);
    }
    return learn_passed();
}
