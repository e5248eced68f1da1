// A cube map read by directions, face by face and layer by layer, and the four texels of a fetch gathered.
#include "../corpus.h"
#include <string.h>

const int SIDE = 4, FACES = 6, LAYERS = 2, TEXELS = SIDE * SIDE * FACES;

__device__ float3 direction(int face, float u, float v)
{
    switch (face) {
    case 0: return make_float3(1, -v, -u);
    case 1: return make_float3(-1, -v, u);
    case 2: return make_float3(u, 1, v);
    case 3: return make_float3(u, -1, -v);
    case 4: return make_float3(u, -v, 1);
    default: return make_float3(-u, -v, -1);
    }
}

__global__ void read_cube(cudaTextureObject_t cube, cudaTextureObject_t cubes, float *output)
{
    int x = threadIdx.x, y = threadIdx.y;
    float u = (x + 0.5f) / SIDE * 2 - 1, v = (y + 0.5f) / SIDE * 2 - 1;
    for (int face = 0; face < FACES; face++) {
        float3 to = direction(face, u, v);
        int at = (face * SIDE + y) * SIDE + x;
        output[at] = texCubemap<float>(cube, to.x, to.y, to.z);
        for (int layer = 0; layer < LAYERS; layer++)
            output[(layer + 1) * TEXELS + at] = texCubemapLayered<float>(cubes, to.x, to.y, to.z, layer);
    }
}

__global__ void gather(cudaTextureObject_t image, float4 *output)
{
    output[threadIdx.x] = tex2Dgather<float4>(image, threadIdx.x + 1.0f, 2.0f);
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, int normalised)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture = {};
    texture.readMode = cudaReadModeElementType;
    texture.filterMode = filter;
    texture.normalizedCoords = normalised;
    texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t object = 0;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    return object;
}

static cudaArray_t array_of(float *host, int width, int height, int depth, unsigned flags)
{
    cudaArray_t array = NULL;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, width * sizeof(float), width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, depth ? depth : 1);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

int main()
{
    static float host[TEXELS * LAYERS], read[TEXELS * (LAYERS + 1)];
    float4 corners[3];
    for (int i = 0; i < TEXELS * LAYERS; i++)
        host[i] = (float)i;
    cudaArray_t one = array_of(host, SIDE, SIDE, FACES, cudaArrayCubemap);
    cudaArray_t two = array_of(host, SIDE, SIDE, FACES * LAYERS, cudaArrayCubemap | cudaArrayLayered);
    cudaArray_t flat = array_of(host, SIDE, SIDE, 0, cudaArrayTextureGather);
    cudaTextureObject_t cube = texture_of(one, cudaFilterModeLinear, 1), cubes = texture_of(two, cudaFilterModePoint, 1);
    cudaTextureObject_t image = texture_of(flat, cudaFilterModePoint, 0);
    float *output = device_zeros<float>(TEXELS * (LAYERS + 1));
    float4 *gathered = NULL;
    CHECK(cudaMalloc(&gathered, sizeof corners));
    read_cube<<<1, dim3(SIDE, SIDE)>>>(cube, cubes, output);
    gather<<<1, 3>>>(image, gathered);
    CHECK(cudaGetLastError());
    fetch(read, output);
    fetch(corners, gathered);
    for (int i = 0; i < TEXELS; i++)
        REQUIRE(read[i] == i && read[TEXELS + i] == i && read[2 * TEXELS + i] == TEXELS + i);
    for (int i = 0; i < 3; i++)
        REQUIRE(corners[i].w == 4 + i && corners[i].z == 5 + i && corners[i].x == 8 + i && corners[i].y == 9 + i);
    CHECK(cudaDestroyTextureObject(cube));
    CHECK(cudaDestroyTextureObject(cubes));
    CHECK(cudaDestroyTextureObject(image));
    CHECK(cudaFreeArray(one));
    CHECK(cudaFreeArray(two));
    CHECK(cudaFreeArray(flat));
    CHECK(cudaFree(output));
    CHECK(cudaFree(gathered));
    return 0;
}
