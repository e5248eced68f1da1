#include "learn.h"

#include "07.8-double-buffer.cu"

static float *buffers[2];
static cudaStream_t stream;
static bool asks; // whether a copy is still under way, which lets the simulator go on with it

// On a real GPU a copy may have ended by itself, so only the simulator is asked.
static bool is_under_way(void)
{
#ifdef LEARN_SIMULATED
    bool under_way = cudaStreamQuery(stream) == cudaErrorNotReady;
    cudaGetLastError();
    return under_way;
#else
    return true;
#endif
}

static void make(float *buffer, int first, int count)
{
    int piece = first / PIECE;
    learn_require(buffer == buffers[piece % 2], "piece %d was not made in buffer %d", piece, piece % 2);
    learn_require(!asks || piece != 1 || is_under_way(),
                  "before piece 1 was made, the host waited for the copy of piece 0, which is in the other buffer");
    for (int i = 0; i < count; i++)
        buffer[i] = 3 * (first + i) + 1;
}

int main(void)
{
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int n : {1, 256, 700}) {
        learn_case("n = %d", n);
        std::vector<float> expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = 3 * i + 1;
        float *device = learn_output<float>(n);
        for (float *&buffer : buffers)
            buffer = learn_pinned<float>(PIECE);
        asks = n == 2 * PIECE;
        learn_wait();
        upload(device, n, make, buffers, stream);
        cudaStreamSynchronize(stream);
        learn_expect("device", device, expected);
    }
    cudaStreamDestroy(stream);
    return learn_passed();
}
