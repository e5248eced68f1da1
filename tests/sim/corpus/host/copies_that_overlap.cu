// Copies on the card whose source and destination share bytes, in every form; columns and rows moved beside themselves
// share none.
#include "../corpus.h"

enum { WIDTH = 64, HEIGHT = 8, PITCH = 256 };

int main()
{
    char *matrix = device_zeros<char>(PITCH * HEIGHT);
    int *numbers = device_zeros<int>(64);
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    SHOW(cudaMemcpy(numbers + 4, numbers, 32 * sizeof(int), cudaMemcpyDeviceToDevice));             // expect: bad-call
    SHOW(cudaMemcpy(numbers, numbers + 31, 32 * sizeof(int), cudaMemcpyDefault));                   // expect: bad-call
    SHOW(cudaMemcpyAsync(numbers + 1, numbers, 2 * sizeof(int), cudaMemcpyDeviceToDevice, stream)); // expect: bad-call
    SHOW(cudaMemcpy2D(matrix + WIDTH - 1, PITCH, matrix, PITCH, WIDTH, HEIGHT,                      // expect: bad-call
                      cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy2D(matrix + 2 * PITCH, PITCH, matrix, PITCH, WIDTH, HEIGHT - 2, // expect: bad-call
                      cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy2DAsync(matrix, WIDTH, matrix + PITCH, PITCH, WIDTH, HEIGHT - 1, // expect: bad-call
                           cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));

    CHECK(cudaMemcpy(numbers + 32, numbers, 32 * sizeof(int), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(numbers, numbers, 32 * sizeof(int), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2D(matrix + WIDTH, PITCH, matrix, PITCH, WIDTH, HEIGHT, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy2D(matrix, 2 * PITCH, matrix + PITCH, 2 * PITCH, PITCH, HEIGHT / 2, cudaMemcpyDeviceToDevice));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(numbers));
    CHECK(cudaFree(matrix));
    return 0;
}
