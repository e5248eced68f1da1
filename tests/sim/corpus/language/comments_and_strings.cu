// Launch brackets in comments and strings, operators << and >>, and nested templates are left alone.
#include "../corpus.h"

template <typename T> struct box {
    T value;
};

// kernel<<<1, 2>>>(x) in a comment
/* and k<<<3, 4>>>(y) here */
__global__ void work(int *data, box<box<int>> nested)
{
    data[threadIdx.x] = (nested.value.value << 3 >> 1) + (1 << threadIdx.x % 4);
}

int main()
{
    const char *text = "fill<<<1, 32>>>(data)";
    const char *raw = R"(fill<<<"raw">>>(data))";
    int *data = device_zeros<int>(32), result[32];
    box<box<int>> nested = {{5}};
    work<<<1, 32>>>(data, nested);
    CHECK(cudaGetLastError());
    fetch(result, data);
    REQUIRE(text[4] == '<' && raw[4] == '<' && result[3] == 20 + 8);
    CHECK(cudaFree(data));
    return 0;
}
