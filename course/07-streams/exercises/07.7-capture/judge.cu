#include "learn.h"

#include "07.7-capture.cu"

static float *numbers;
static int calls, count;

__global__ void double_all(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 2;
}

__global__ void add_one(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

static void step(cudaStream_t stream)
{
    calls++;
    double_all<<<1, 128, 0, stream>>>(numbers, count);
    add_one<<<1, 128, 0, stream>>>(numbers, count);
}

int main(void)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    count = 100;
    for (int times : {7, 1, 0}) {
        learn_case("times = %d", times);
        std::vector<float> values = learn_values<float>(count), expected = values;
        for (float &value : expected)
            for (int i = 0; i < times; i++)
                value = 2 * value + 1;
        numbers = learn_device(values);
        calls = 0;
        learn_wait();
        repeat(step, stream, times);
        cudaStreamSynchronize(stream);
        learn_expect("numbers", numbers, expected);
        learn_require(calls == 1, "step was called %d times, it should be called once", calls);
    }
    cudaStreamDestroy(stream);
    return learn_passed();
}
