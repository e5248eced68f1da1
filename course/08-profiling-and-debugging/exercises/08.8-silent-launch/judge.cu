#include "learn.h"

#include "08.8-silent-launch.cu"

int main(void)
{
    for (int width : {5, 15000, 1, 12288, 301}) { // 12288 floats are 48 KB, 15000 are more
        int height = 2, n = width * height;
        learn_case("an image %d wide and %d high", width, height);
        std::vector<float> in = learn_values<float>(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = in[i / width * width + width - 1 - i % width];
        float *device_in = learn_device(in), *device_out = learn_output<float>(n);
        cudaError_t error = mirror_on_gpu(device_in, device_out, width, height);
        learn_require(error == cudaSuccess, "mirror_on_gpu returned \"%s\", expected success",
                      cudaGetErrorString(error));
        learn_expect("out", device_out, expected);
    }
    learn_case("an image 1,000,000 wide, whose rows fit into no GPU's shared memory");
    float *nothing = learn_output<float>(1);
    learn_require(mirror_on_gpu(nothing, nothing, 1000000, 1) != cudaSuccess,
                  "mirror_on_gpu returned cudaSuccess, expected an error");
    cudaGetLastError(); // forgets the failure that the case provoked
    return learn_passed();
}
