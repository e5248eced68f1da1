// Brings n numbers to the device. They are made on the host, PIECE at a time: make(buffer, first, count) writes numbers
// first to first + count - 1. The two buffers are pinned memory with room for PIECE floats.
//
// One event per buffer marks the end of its last copy. While the host waits for it, the copy from the other buffer may
// still run, so copying and making overlap. Waiting for an event that was never recorded returns at once.

#define PIECE 128

void upload(float *device, int n, void (*make)(float *buffer, int first, int count), float *buffers[2],
            cudaStream_t stream)
{
    cudaEvent_t copied[2];

    for (cudaEvent_t &event : copied)
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    for (int first = 0; first < n; first += PIECE) {
        int count = n - first < PIECE ? n - first : PIECE, which = first / PIECE % 2;

        cudaEventSynchronize(copied[which]);
        make(buffers[which], first, count);
        cudaMemcpyAsync(device + first, buffers[which], count * sizeof(float), cudaMemcpyHostToDevice, stream);
        cudaEventRecord(copied[which], stream);
    }
    for (cudaEvent_t event : copied)
        cudaEventDestroy(event);
}
