// Every thread says who it is and what it has.
//
// All threads run the same printf; only their values differ. The built-in indices are unsigned, hence %u.

__global__ void hello(const int *numbers)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    printf("block %u, thread %u: numbers[%u] is %d\n", blockIdx.x, threadIdx.x, i, numbers[i]);
}
