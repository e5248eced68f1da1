// Owners whose conversion reads the host's heap: they become pointers at the launch, whatever the kernel's name is.
#include <memory>

#include "../corpus.h"

class buffer
{
  public:
    explicit buffer(int count) : pointer(device_zeros<float>(count))
    {
    }
    buffer(const buffer &) = delete;
    ~buffer()
    {
        CHECK(cudaFree(pointer));
    }
    float *get() const
    {
        return pointer;
    }

  private:
    float *pointer;
};

struct only_owner {
    std::unique_ptr<buffer> memory{new buffer(32)};
    operator float *() const
    {
        return memory->get();
    }
};

// Can be copied, can be asked whether it holds anything, and gives another pointer when it is const.
struct shared_owner {
    std::shared_ptr<buffer> memory{new buffer(32)};
    operator float *()
    {
        return memory->get();
    }
    operator const float *() const
    {
        return memory->get();
    }
    operator bool() const
    {
        return memory != nullptr;
    }
};

// Not an owner: a kernel takes it whole, and its declaration takes no other.
struct view {
    typedef float value_type;
    float *pointer;
    operator float *() const
    {
        return pointer;
    }
};
template <class View> struct value_of {
    typedef typename View::value_type type;
};

__global__ void with_default(float *out, const float *in, float value = 5)
{
    out[threadIdx.x] = value + (in ? in[threadIdx.x] : 0);
}
__global__ void overloaded(float *out, const float *in, int value)
{
    out[threadIdx.x] = value + in[threadIdx.x];
}
__global__ void overloaded(float *out, const float *in, float value)
{
    out[threadIdx.x] = 2 * value + in[threadIdx.x];
}
template <class T, class Value> __global__ void half_deduced(T *out, const T *in, Value value)
{
    out[threadIdx.x] = 3 * value + (in ? in[threadIdx.x] : 0);
}
template <class View> __global__ void whole(View out, typename value_of<View>::type value, int *unused)
{
    out.pointer[threadIdx.x] = 4 * value + (unused != NULL);
}

static float last(const float *out)
{
    float result[32];
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    return result[31];
}

int main()
{
    only_owner only;
    shared_owner shared;
    const shared_owner &constant = shared;

    with_default<<<1, 32>>>(only, NULL);
    REQUIRE(last(only) == 5);
    with_default<<<1, 32>>>(shared, only);
    REQUIRE(last(constant) == 10);
    overloaded<<<1, 32>>>(only, constant, 1);
    REQUIRE(last(only) == 11);
    overloaded<<<1, 32>>>(shared, only, 1.0f);
    REQUIRE(last(constant) == 13);
    half_deduced<float><<<1, 32>>>(only, shared, 1);
    REQUIRE(last(only) == 16);
    half_deduced<float><<<1, 32>>>(shared, NULL, 1.0f);
    REQUIRE(last(constant) == 3);
    view out = {only};
    whole<<<1, 32>>>(out, 1, NULL);
    REQUIRE(last(only) == 4);
    return 0;
}
