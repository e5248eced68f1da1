// A class with a destructor as a kernel's argument: it is copied and destroyed on the host, around the launch, never by
// the threads.
#include "../corpus.h"

static int destroyed;

struct buffer {
    int *data;
    bool owner;
    explicit buffer(int count) : data(device_zeros<int>(count)), owner(true)
    {
    }
    __host__ __device__ buffer(const buffer &other) : data(other.data), owner(false)
    {
    }
    ~buffer()
    {
        destroyed++;
        if (owner)
            cudaFree(data);
    }
};

__global__ void fill(buffer target, int value, buffer other)
{
    target.data[threadIdx.x] = value + (target.owner ? 1 : 0);
    other.data = nullptr; // each thread has its own
}

template <typename T> __global__ void fill_any(buffer target, T value)
{
    target.data[threadIdx.x] = (int)value;
}

int main()
{
    int host[64];
    {
        buffer whole(64);
        fill<<<1, 64>>>(whole, 5, whole);
        REQUIRE(destroyed >= 2);
        fetch(host, whole.data);
        void *arguments[] = {&whole, new int(6), &whole};
        CHECK(cudaLaunchKernel((void *)fill, dim3(1), dim3(64), arguments, 0, 0));
        delete (int *)arguments[1];
        fetch(host, whole.data);
        for (int i = 0; i < 64; i++)
            REQUIRE(host[i] == 6 || host[i] == 7);
        fill_any<<<1, 64>>>(whole, 9.5f);
        fetch(host, whole.data);
    }
    for (int i = 0; i < 64; i++)
        REQUIRE(host[i] == 9);
    return 0;
}
