// The part of learn.h that is the same for every judge. Compiled by itself, it is the object that judges on the simulated
// GPU are linked with; otherwise learn.h includes it.
#ifndef HEDDLE_COURSE_LEARN_H
#define LEARN_OBJECT
#include "learn.h"
LEARN_USUAL_TEMPLATES()
#endif

learn_state learn_now;

void learn_free_all(void)
{
    while (learn_now.device_count > 0)
        cudaFree(learn_now.device[--learn_now.device_count]);
    while (learn_now.pinned_count > 0)
        cudaFreeHost(learn_now.pinned[--learn_now.pinned_count]);
}

void learn_print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    putchar('"');
}

void learn_begin_line(void)
{
    fflush(stdout);
    printf("\n@%s {\"case\":", learn_mark);
    learn_print_quoted(learn_now.name);
}

void learn_end_line(void)
{
    printf("}\n");
    fflush(stdout);
}

void learn_say(const char *member, const char *text, bool first)
{
    learn_begin_line();
    printf(",\"%s\":", member);
    learn_print_quoted(text);
    printf(",\"first\":%s", first ? "true" : "false");
    learn_end_line();
}

void learn_stop(const char *member, const char *text, bool first)
{
    learn_say(member, text, first);
    learn_free_all();
    exit(1);
}

#ifdef LEARN_SIMULATED
extern "C" void sim_report_part(const char *name); // of the simulator: what it finds from now on belongs to this case
#endif

void learn_check(cudaError_t error)
{
    if (error != cudaSuccess)
        learn_stop("cuda", cudaGetErrorString(error));
}

void learn_case(const char *format, ...)
{
    va_list list;
    learn_free_all();
    va_start(list, format);
    vsnprintf(learn_now.name, sizeof learn_now.name, format, list);
    va_end(list);
    learn_now.dimensions = 0;
    learn_now.byte = -1;
#ifdef LEARN_SIMULATED
    sim_report_part(learn_now.name);
#endif
    learn_begin_line(); // should the program never come to the end of the case
    printf(",\"begins\":true");
    learn_end_line();
}

void learn_threads_1d(int threads_per_block)
{
    learn_now.block = dim3((unsigned)threads_per_block);
    learn_now.dimensions = 1;
}

void learn_threads_2d(dim3 threads_per_block, int64_t width)
{
    learn_now.block = threads_per_block;
    learn_now.width = width;
    learn_now.dimensions = 2;
}

void learn_threads_3d(dim3 threads_per_block, int64_t width, int64_t height)
{
    learn_threads_2d(threads_per_block, width);
    learn_now.height = height;
    learn_now.dimensions = 3;
}

static void learn_require_list(bool holds, bool first, const char *format, va_list list)
{
    char text[512];
    if (holds)
        return;
    vsnprintf(text, sizeof text, format, list);
    learn_stop("says", text, first);
}

void learn_require(bool holds, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    learn_require_list(holds, false, format, list);
    va_end(list);
}

void learn_require_first(bool holds, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    learn_require_list(holds, true, format, list);
    va_end(list);
}

void learn_keep(void **list, int *count, void *memory)
{
    if (*count == LEARN_MOST_ARRAYS)
        learn_stop("says", "the judge allocates too many arrays in one case");
    list[(*count)++] = memory;
}

void learn_print_position(const char *name, size_t index)
{
    dim3 block = learn_now.block;
    size_t width = learn_now.dimensions > 1 ? (size_t)learn_now.width : SIZE_MAX;
    size_t height = learn_now.dimensions > 2 ? (size_t)learn_now.height : SIZE_MAX;
    size_t x = index % width, y = index / width % height, z = index / width / height;
    printf(",\"array\":\"%s\",\"index\":%zu", name, index);
    if (learn_now.dimensions == 0)
        return;
    printf(",\"slice\":%zu,\"row\":%zu,\"column\":%zu,\"dimensions\":%d", z, y, x, learn_now.dimensions);
    printf(",\"block\":[%zu,%zu,%zu],\"thread\":[%zu,%zu,%zu]", x / block.x, y / block.y, z / block.z, x % block.x,
           y % block.y, z % block.z);
}

void learn_wait(void)
{
    learn_check(cudaGetLastError());
    learn_check(cudaDeviceSynchronize());
}

int learn_passed(void)
{
    learn_wait();
    learn_free_all();
    learn_begin_line();
    printf(",\"passed\":true");
    learn_end_line();
    return 0;
}

