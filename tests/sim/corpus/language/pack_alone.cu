// flags: -std=c++17. Kernels whose parameters are one pack, launched with any number of arguments, and with none.
#include "../corpus.h"

struct View {
    int *to;
    int count;
};

__device__ int empty_launches;

__device__ void set(View view, int value)
{
    if (threadIdx.x < view.count)
        view.to[threadIdx.x] += value;
}

template <class... Values> __global__ void add_all(Values... values)
{
    if constexpr (sizeof...(Values) > 0)
        set(values...);
    else if (threadIdx.x == 0)
        empty_launches++;
}

template <class... Functions> __global__ void apply(Functions... functions)
{
    (functions(threadIdx.x), ...);
}

template <int Value> __global__ void without_parameters()
{
    if (threadIdx.x == 0)
        empty_launches += Value;
}

#define LAUNCH(kernel) kernel<<<1, 32>>>()

int main()
{
    int *to = device_zeros<int>(32), host[32], launches = 0;
    add_all<<<1, 32>>>(View{to, 32}, 3);
    add_all<<<1, 32>>>();
    without_parameters<10><<<1, 32>>>();
    LAUNCH(without_parameters<100>);
    apply<<<1, 32>>>([=] __device__(int i) { to[i] += 4; }, [=] __device__(int i) { to[i] *= 2; });
    CHECK(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&launches, empty_launches, sizeof launches));
    CHECK(cudaFree(to));
    REQUIRE(launches == 111);
    REQUIRE(host[0] == 14);
    return 0;
}
