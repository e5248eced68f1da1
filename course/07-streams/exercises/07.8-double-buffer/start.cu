// Brings n numbers to the device. They are made on the host, PIECE at a time: make(buffer, first, count) writes numbers
// first to first + count - 1. The two buffers are pinned memory with room for PIECE floats.

#define PIECE 128

void upload(float *device, int n, void (*make)(float *buffer, int first, int count), float *buffers[2],
            cudaStream_t stream)
{
    for (int first = 0; first < n; first += PIECE) {
        int count = n - first < PIECE ? n - first : PIECE, which = first / PIECE % 2;

        make(buffers[which], first, count);
        cudaMemcpyAsync(device + first, buffers[which], count * sizeof(float), cudaMemcpyHostToDevice, stream);
    }
}
