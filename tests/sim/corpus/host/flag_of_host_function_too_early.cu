// The host polls a flag that a function in a stream sets, and reads what the kernel behind that function writes.
#include "../corpus.h"

enum { THREADS = 64 };

static volatile int flag;

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

static void tell(void *)
{
    flag = 1;
}

int main()
{
    int *first = NULL, *second = NULL;
    cudaStream_t stream;
    SHOW(cudaMallocManaged(&first, THREADS * sizeof(int)));
    SHOW(cudaMallocManaged(&second, THREADS * sizeof(int)));
    SHOW(cudaStreamCreate(&stream));
    fill<<<1, THREADS, 0, stream>>>(first, 1);
    SHOW(cudaLaunchHostFunc(stream, tell, NULL));
    fill<<<1, THREADS, 0, stream>>>(second, 2);
    while (flag == 0)
        continue;
    int sum = first[7];
    sum += second[7]; // expect: missing-wait
    SHOW(cudaStreamSynchronize(stream));
    printf("%d\n", sum);
    SHOW(cudaStreamDestroy(stream));
    SHOW(cudaFree(first));
    SHOW(cudaFree(second));
    return 0;
}
