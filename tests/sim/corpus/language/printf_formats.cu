// Formats of printf in a kernel that fit their arguments, as C promotes them.
#include "../corpus.h"

enum colour { RED, GREEN };

__global__ void print(const char *text, size_t size, const float *values)
{
    const char c = 'c';
    const unsigned char *bytes = (const unsigned char *)"bytes";
    const bool yes = true;
    printf("%d %i %u %x %c %hhd\n", threadIdx.x, (short)-1, 3u, (unsigned char)255, c, c);
    printf("%ld %lld %zu %lu %llx %jd\n", 1L, 2LL, size, size, (unsigned long long)size, (intmax_t)1);
    printf("%f %e %g %5.2f %-*.*f|\n", 1.0f, 2.0, (double)values[0], 3.0f, 8, 2, 4.0);
    printf("%s %s %10s %.3s %p %p %%\n", text, "literal", "ten", bytes, (const void *)values, text);
    printf("%d %d %s\n", GREEN, yes, yes ? "yes" : "no");
    printf("%p %p %llx\n", NULL, (size_t)7, values);
    printf("without arguments, but for 100%%\n");
    printf("one too many: %d\n", 1, 2);
}

int main()
{
    const char host_text[] = "text";
    const float host_values[] = {1};
    char *text = device_copy(host_text);
    float *values = device_copy(host_values);
    print<<<1, 1>>>(text, sizeof host_text, values);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(text));
    CHECK(cudaFree(values));
    return 0;
}
