// Textures and surfaces: filters, address modes, normalised coordinates and reads, layers, surface boundaries.
#include <cmath>
#include <cstdio>
#include <cstring>

const int W = 4, H = 3;

__global__ void sample(cudaTextureObject_t point, cudaTextureObject_t linear, cudaTextureObject_t wrapped,
                       cudaTextureObject_t bytes, cudaTextureObject_t line, float *out)
{
    out[0] = tex2D<float>(point, 2.7f, 1.2f);
    out[1] = tex2D<float>(point, -5, 100);
    out[2] = tex2D<float>(linear, 1.0f, 0.5f);
    out[3] = tex2D<float>(linear, 2.0f, 1.0f);
    out[4] = tex2D<float>(wrapped, 1.125f, 0.5f);
    float4 pixel = tex2D<float4>(bytes, 1, 0);
    out[5] = pixel.x;
    out[6] = pixel.w;
    out[7] = tex1Dfetch<float>(line, 5);
    out[8] = tex1Dfetch<float>(line, -1);
}

__global__ void flip(cudaSurfaceObject_t surface)
{
    int x = threadIdx.x, y = threadIdx.y;
    float a, b;
    surf2Dread(&a, surface, x * (int)sizeof(float), y);
    surf2Dread(&b, surface, (W - 1 - x) * (int)sizeof(float), y);
    if (x < W / 2) {
        surf2Dwrite(b, surface, x * (int)sizeof(float), y);
        surf2Dwrite(a, surface, (W - 1 - x) * (int)sizeof(float), y);
    }
    surf2Dwrite(9.0f, surface, -4, y, cudaBoundaryModeZero);
}

static int failures;

static void expect(const char *what, float got, float wanted)
{
    if (!(std::fabs(got - wanted) < 1e-6f) && failures++ < 10)
        printf("%s: %g, not %g\n", what, (double)got, (double)wanted);
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureAddressMode address,
                                      cudaTextureReadMode read, int normalised)
{
    cudaResourceDesc resource;
    cudaTextureDesc description;
    memset(&resource, 0, sizeof resource);
    memset(&description, 0, sizeof description);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    description.addressMode[0] = description.addressMode[1] = address;
    description.filterMode = filter;
    description.readMode = read;
    description.normalizedCoords = normalised;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, NULL);
    return texture;
}

static cudaTextureObject_t texture_of_line(float *memory, int n)
{
    cudaResourceDesc resource;
    cudaTextureDesc description;
    memset(&resource, 0, sizeof resource);
    memset(&description, 0, sizeof description);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &resource, &description, NULL);
    return texture;
}

int main()
{
    float host[H * W], out[9], *results, *line;
    uchar4 pixels[2] = {{0, 0, 0, 0}, {255, 51, 0, 102}};
    for (int i = 0; i < H * W; i++)
        host[i] = (float)i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), byte_format = cudaCreateChannelDesc<uchar4>();
    cudaArray_t array, byte_array;
    cudaMallocArray(&array, &format, W, H, cudaArraySurfaceLoadStore);
    cudaMallocArray(&byte_array, &byte_format, 2, 1);
    cudaMemcpy2DToArray(array, 0, 0, host, W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice);
    cudaMemcpy2DToArray(byte_array, 0, 0, pixels, sizeof pixels, sizeof pixels, 1, cudaMemcpyHostToDevice);
    cudaMalloc(&results, sizeof out);
    cudaMalloc(&line, sizeof host);
    cudaMemcpy(line, host, sizeof host, cudaMemcpyHostToDevice);

    cudaTextureObject_t point =
        texture_of(array, cudaFilterModePoint, cudaAddressModeClamp, cudaReadModeElementType, 0);
    cudaTextureObject_t linear =
        texture_of(array, cudaFilterModeLinear, cudaAddressModeClamp, cudaReadModeElementType, 0);
    cudaTextureObject_t wrapped =
        texture_of(array, cudaFilterModePoint, cudaAddressModeWrap, cudaReadModeElementType, 1);
    cudaTextureObject_t bytes =
        texture_of(byte_array, cudaFilterModePoint, cudaAddressModeClamp, cudaReadModeNormalizedFloat, 0);
    cudaTextureObject_t elements = texture_of_line(line, H * W);
    sample<<<1, 1>>>(point, linear, wrapped, bytes, elements, results);
    cudaMemcpy(out, results, sizeof out, cudaMemcpyDeviceToHost);
    const float wanted[9] = {6, 8, 0.5f, 3.5f, 4, 1, 0.4f, 5, 0};
    for (int i = 0; i < 9; i++) {
        char name[32];
        snprintf(name, sizeof name, "sample %d", i);
        expect(name, out[i], wanted[i]);
    }

    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    flip<<<1, dim3(W / 2, H)>>>(surface);
    cudaMemcpy2DFromArray(host, W * sizeof(float), array, 0, 0, W * sizeof(float), H, cudaMemcpyDeviceToHost);
    for (int i = 0; i < H * W; i++)
        expect("flipped", host[i], (float)(i / W * W + W - 1 - i % W));

    cudaDestroySurfaceObject(surface);
    cudaDestroyTextureObject(point);
    cudaDestroyTextureObject(linear);
    cudaDestroyTextureObject(wrapped);
    cudaDestroyTextureObject(bytes);
    cudaDestroyTextureObject(elements);
    cudaFreeArray(array);
    cudaFreeArray(byte_array);
    cudaFree(results);
    cudaFree(line);
    return failures != 0;
}
