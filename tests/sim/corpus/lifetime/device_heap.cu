// malloc, free, new and delete in a kernel.
#include "../corpus.h"

struct node {
    int value;
    node *next;
};

__global__ void list(int *output, int length)
{
    node *head = NULL;
    for (int i = 0; i < length; i++) {
        node *n = new node;
        n->value = i * (threadIdx.x + 1);
        n->next = head;
        head = n;
    }
    int sum = 0;
    while (head) {
        node *next = head->next;
        sum += head->value;
        delete head;
        head = next;
    }
    int *scratch = (int *)malloc(4 * sizeof(int));
    scratch[3] = sum;
    output[threadIdx.x] = scratch[3];
    free(scratch);
}

int main()
{
    int *output = device_zeros<int>(32), result[32];
    list<<<1, 32>>>(output, 10);
    CHECK(cudaGetLastError());
    fetch(result, output);
    for (int i = 0; i < 32; i++)
        REQUIRE(result[i] == 45 * (i + 1));
    CHECK(cudaFree(output));
    return 0;
}
