// An owner becomes its pointer at the launch; what it owns is the host's, so the kernel cannot use it.
#include <memory>

#include "../corpus.h"

struct owner {
    std::unique_ptr<int[]> memory{new int[32]()};
    operator int *() const
    {
        return memory.get();
    }
};

__global__ void fill(int *data, int value = 1)
{
    data[threadIdx.x] = value; // expect: host-pointer
}

int main()
{
    owner data;
    fill<<<1, 32>>>(data);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
