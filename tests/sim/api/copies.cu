// Copies and fills in all their forms move the right bytes, and those that name the wrong direction or too many bytes
// fail.
#include "check.h"

__constant__ int factors[4];
__device__ int result[8];

__global__ void multiply()
{
    result[threadIdx.x] = factors[threadIdx.x % 4] * (int)threadIdx.x;
}

static void every_direction()
{
    int host[COUNT], back[COUNT], *a, *b, *pinned;
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    WORKS(cudaMalloc(&a, sizeof host));
    WORKS(cudaMalloc(&b, sizeof host));
    WORKS(cudaMallocHost(&pinned, sizeof host));
    WORKS(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice));
    WORKS(cudaMemcpy(pinned, b, sizeof host, cudaMemcpyDeviceToHost));
    WORKS(cudaMemcpy(back, pinned, sizeof host, cudaMemcpyHostToHost));
    HOLDS(memcmp(host, back, sizeof host) == 0);
    WORKS(cudaMemset(a, 0, sizeof host));
    WORKS(cudaMemcpy(a + 1, pinned + 1, 8, cudaMemcpyDefault));
    WORKS(cudaMemcpyPeer(b, 0, a, 0, sizeof host));
    WORKS(cudaMemcpy(back, b, sizeof host, cudaMemcpyDefault));
    HOLDS(back[0] == 0 && back[1] == 1 && back[2] == 2 && back[3] == 0);
    WORKS(cudaFree(a));
    WORKS(cudaFree(b));
    WORKS(cudaFreeHost(pinned));
}

static void wrong_directions_and_sizes()
{
    static int host[16];
    int local[16] = {0}, *device;
    WORKS(cudaMalloc(&device, sizeof local));
    WORKS(cudaMemset(device, 0, sizeof local));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(device, local, sizeof local, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(local, device, sizeof local, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(local, device, sizeof local, cudaMemcpyDeviceToDevice));
    WORKS(cudaMemcpy(host, device, sizeof local, cudaMemcpyHostToHost)); // wrong, but CUDA makes it
    GIVES(cudaErrorInvalidMemcpyDirection, cudaMemcpy(local, device, sizeof local, (cudaMemcpyKind)7));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(NULL, device, sizeof local, cudaMemcpyDeviceToHost));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(device, local, sizeof local + 4, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(device + 1, local, sizeof local, cudaMemcpyHostToDevice));
    GIVES(cudaErrorInvalidValue, cudaMemset(device, 0, sizeof local + 1));
    GIVES(cudaErrorInvalidValue, cudaMemset(local, 0, sizeof local));
    GIVES(cudaErrorInvalidPitchValue, cudaMemcpy2D(device, 4, local, 16, 8, 2, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpy(device, local, 0, cudaMemcpyHostToDevice));
    WORKS(cudaFree(device));
    GIVES(cudaErrorInvalidValue, cudaMemcpy(local, device, 4, cudaMemcpyDeviceToHost));
    (void)cudaGetLastError();
}

static void copies_of_nothing_work_from_anywhere()
{
    WORKS(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpyAsync(NULL, NULL, 0, cudaMemcpyDeviceToHost, 0));
    WORKS(cudaMemcpy2D(NULL, 8, NULL, 8, 8, 0, cudaMemcpyHostToDevice));
}

static void planes_and_volumes()
{
    const size_t width = 10, height = 6, depth = 3;
    unsigned char host[depth][height][width], back[depth][height][width] = {};
    for (size_t i = 0; i < sizeof host; i++)
        (&host[0][0][0])[i] = (unsigned char)i;
    unsigned char *plane;
    size_t pitch;
    WORKS(cudaMallocPitch(&plane, &pitch, width, height));
    WORKS(cudaMemcpy2D(plane, pitch, host[0], width, width, height, cudaMemcpyHostToDevice));
    WORKS(cudaMemset2D(plane + pitch + 2, pitch, 0xee, 3, 2));
    WORKS(cudaMemcpy2D(back[0], width, plane, pitch, width, height, cudaMemcpyDeviceToHost));
    HOLDS(back[0][0][2] == 2 && back[0][1][1] == 11 && back[0][1][2] == 0xee && back[0][2][4] == 0xee);
    HOLDS(back[0][1][5] == 15 && back[0][3][2] == 32);
    WORKS(cudaFree(plane));

    cudaPitchedPtr volume;
    cudaMemcpy3DParms there = {}, again = {};
    WORKS(cudaMalloc3D(&volume, make_cudaExtent(width, height, depth)));
    there.srcPtr = make_cudaPitchedPtr(host, width, width, height);
    there.dstPtr = volume;
    there.extent = make_cudaExtent(width, height, depth);
    there.kind = cudaMemcpyHostToDevice;
    WORKS(cudaMemcpy3D(&there));
    again.srcPtr = volume;
    again.srcPos = make_cudaPos(1, 2, 1);
    again.dstPtr = make_cudaPitchedPtr(back, width, width, height);
    again.extent = make_cudaExtent(4, 3, 2);
    again.kind = cudaMemcpyDeviceToHost;
    WORKS(cudaMemcpy3D(&again));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            HOLDS(memcmp(back[z][y], &host[z + 1][y + 2][1], 4) == 0);
    WORKS(cudaFree(volume.ptr));

    // Whole rows, but only the first two of each slice, to where slices have no more.
    char *packed;
    WORKS(cudaMalloc(&packed, 2 * width * depth));
    there.dstPtr = make_cudaPitchedPtr(packed, width, width, 2);
    there.extent = make_cudaExtent(width, 2, depth);
    WORKS(cudaMemcpy3D(&there));
    WORKS(cudaMemcpy(back, packed, 2 * width * depth, cudaMemcpyDeviceToHost));
    for (int z = 0; z < depth; z++)
        HOLDS(memcmp((char *)back + 2 * width * z, host[z], 2 * width) == 0);
    WORKS(cudaFree(packed));
}

static void arrays()
{
    float host[6][8], back[6][8] = {};
    for (int i = 0; i < 48; i++)
        host[i / 8][i % 8] = (float)i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array, other;
    WORKS(cudaMallocArray(&array, &format, 8, 6));
    WORKS(cudaMallocArray(&other, &format, 8, 6));
    WORKS(cudaMemcpy2DToArray(array, 0, 0, host, sizeof host[0], sizeof host[0], 6, cudaMemcpyHostToDevice));
    WORKS(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, sizeof host[0], 6));
    WORKS(cudaMemcpy2DFromArray(back, sizeof back[0], other, 2 * sizeof(float), 1, 4 * sizeof(float), 3,
                                cudaMemcpyDeviceToHost));
    HOLDS(back[0][0] == host[1][2] && back[2][3] == host[3][5] && back[0][4] == 0);
    GIVES(cudaErrorInvalidValue,
          cudaMemcpy2DToArray(array, 4, 0, host, sizeof host[0], sizeof host[0], 6, cudaMemcpyHostToDevice));
    cudaExtent extent;
    unsigned flags;
    WORKS(cudaArrayGetInfo(&format, &extent, &flags, array));
    HOLDS(extent.width == 8 && extent.height == 6 && extent.depth == 0 && format.x == 32 && flags == 0);
    WORKS(cudaFreeArray(array));
    WORKS(cudaFreeArray(other));
    (void)cudaGetLastError();
}

static void variables()
{
    int values[4] = {3, 5, 7, 9}, out[8], one = 100;
    void *address;
    size_t bytes;
    WORKS(cudaMemcpyToSymbol(factors, values, sizeof values));
    WORKS(cudaMemcpyToSymbol(factors, &one, sizeof one, 2 * sizeof(int)));
    multiply<<<1, 8>>>();
    WORKS(cudaMemcpyFromSymbol(out, result, sizeof out));
    HOLDS(out[1] == 5 && out[2] == 200 && out[7] == 63);
    WORKS(cudaGetSymbolSize(&bytes, result));
    HOLDS(bytes == sizeof out);
    WORKS(cudaGetSymbolAddress(&address, result));
    WORKS(cudaMemset(address, 0, sizeof out));
    WORKS(cudaMemcpyFromSymbol(out, result, sizeof(int), 4));
    HOLDS(out[0] == 0);
    GIVES(cudaErrorInvalidValue, cudaMemcpyToSymbol(factors, values, sizeof values, 4));
    (void)cudaGetLastError();
}

int main()
{
    every_direction();
    wrong_directions_and_sizes();
    copies_of_nothing_work_from_anywhere();
    planes_and_volumes();
    arrays();
    variables();
    return 0;
}
