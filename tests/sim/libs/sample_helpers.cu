// The samples' helper headers: arguments, pictures, comparisons, vector arithmetic and device choice work as programs
// expect.
#include <cstdio>
#include <cuda_runtime.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>

__global__ void geometry(float3 *out)
{
    float3 x = make_float3(1, 0, 0), y = make_float3(0, 2, 0);
    out[0] = cross(x, y);
    out[1] = normalize(y) * 3.0f + make_float3(1);
    out[2] = lerp(x, y, 0.5f);
    out[3] = make_float3(clamp(make_float4(-1, 0.5f, 2, 0), 0.0f, 1.0f));
}

static int failures;

static void expect(const char *what, bool right)
{
    if (!right) {
        printf("%s\n", what);
        failures++;
    }
}

static bool same(float3 a, float x, float y, float z)
{
    return a.x == x && a.y == y && a.z == z;
}

int main()
{
    const char *arguments[] = {"program", "--n=5", "-verbose", "name=abc"};
    char *name = NULL;
    expect("flag", checkCmdLineFlag(4, arguments, "verbose") && !checkCmdLineFlag(4, arguments, "quiet"));
    expect("int", getCmdLineArgumentInt(4, arguments, "n") == 5);
    expect("string", getCmdLineArgumentString(4, arguments, "name", &name) && strcmp(name, "abc") == 0);
    expect("device", findCudaDevice(4, arguments) == 0);
    expect("cores", _ConvertSMVer2Cores(9, 0) == 128);

    StopWatchInterface *timer = NULL;
    sdkCreateTimer(&timer);
    sdkStartTimer(&timer);
    sdkStopTimer(&timer);
    expect("timer", sdkGetTimerValue(&timer) >= 0);
    sdkDeleteTimer(&timer);

    float3 *out, host[4];
    checkCudaErrors(cudaMalloc(&out, sizeof host));
    geometry<<<1, 1>>>(out);
    getLastCudaError("geometry");
    checkCudaErrors(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    expect("cross", same(host[0], 0, 0, 2));
    expect("normalize", same(host[1], 1, 4, 1));
    expect("lerp", same(host[2], 0.5f, 1, 0));
    expect("clamp", same(host[3], 0, 0.5f, 1));
    checkCudaErrors(cudaFree(out));

    char path[] = "/tmp/sample_helpers_XXXXXX";
    int file = mkstemp(path);
    float picture[4] = {0, 0.5f, 1, 0.25f}, *read = NULL;
    unsigned width = 0, height = 0;
    expect("save", file >= 0 && sdkSavePGM(path, picture, 2, 2));
    expect("load", sdkLoadPGM(path, &read, &width, &height) && width == 2 && height == 2);
    expect("compare", read && sdkCompareL2fe(picture, read, 4, 0.01f));
    free(read);
    remove(path);
    return failures != 0;
}
