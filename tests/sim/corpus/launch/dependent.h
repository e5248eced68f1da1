// A launch that may begin before the kernel before it in the stream has ended.
#include "../corpus.h"

enum { THREADS = 128, BLOCKS = 4, COUNT = THREADS * BLOCKS };

template <typename... Parameters, typename... Arguments>
static void launch_early(void (*kernel)(Parameters...), cudaStream_t stream, Arguments... arguments)
{
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

static __device__ __forceinline__ int index_of_thread()
{
    return (int)(blockIdx.x * blockDim.x + threadIdx.x);
}
