// Owners of memory passed where a template kernel takes a pointer: they convert at the launch, and are not copied.
#include "../corpus.h"

template <class T> class only_owner
{
  public:
    explicit only_owner(int count) : pointer(device_zeros<T>(count))
    {
    }
    only_owner(const only_owner &) = delete;
    ~only_owner()
    {
        CHECK(cudaFree(pointer));
    }
    operator T *()
    {
        return pointer;
    }

  private:
    T *pointer;
};

// A copy of this one would free the memory twice.
template <class T> struct careless_owner {
    T *pointer;
    explicit careless_owner(int count) : pointer(device_ramp<T>(count, 0, 1))
    {
    }
    ~careless_owner()
    {
        CHECK(cudaFree(pointer));
    }
    operator const T *() const
    {
        return pointer;
    }
};

struct packed {
    unsigned low : 4, high : 4;
};

template <class T, int OFFSET> __global__ void named(T *out, const T *in, const int *extra, int more = 2)
{
    int i = threadIdx.x;
    out[i] = in[i] + OFFSET + more + (extra ? extra[i] : 0);
}

template <class Function> __global__ void deduced(const float *in, int *extra, int count, Function function)
{
    int i = threadIdx.x;
    if (i < count)
        function(i, in[i] + (extra ? extra[i] : 0));
}

int main()
{
    only_owner<float> out(64);
    careless_owner<float> in(64);
    packed bits = {3, 5};
    float result[64];

    named<float, 10><<<1, 64>>>(out, in, NULL);
    fetch(result, (float *)out);
    REQUIRE(result[0] == 12 && result[63] == 75);
    named<float, 10><<<1, 64>>>(out, in, 0, bits.high);
    fetch(result, (float *)out);
    REQUIRE(result[0] == 15 && result[63] == 78);

    float *target = out;
    deduced<<<1, 64>>>(in, 0, 64, [=] __device__(int i, float value) { target[i] = 2 * value; });
    fetch(result, target);
    REQUIRE(result[0] == 0 && result[63] == 126);
    only_owner<int> extra(64);
    deduced<<<1, 64>>>(in, extra, 64, [=] __device__(int i, float value) { target[i] = 3 * value; });
    fetch(result, target);
    REQUIRE(result[63] == 189);
    return 0;
}
