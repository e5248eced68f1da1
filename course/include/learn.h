// What the judge of an exercise is written with. judge.cu includes this header and the learner's file, runs it on
// several cases and compares. It is the same program on the simulated GPU and on a real one.
//
//   #include "learn.h"
//   #include "05.1-which-element.cu"
//
//   int main(void)
//   {
//       for (int n : {1, 31, 1000}) {
//           learn_case("n = %d", n);
//           std::vector<float> in = learn_values<float>(n), expected(n);
//           …
//           float *device_in = learn_device(in), *device_out = learn_output<float>(n);
//           learn_threads_1d(256);
//           scale<<<(n + 255) / 256, 256>>>(device_in, device_out, n);
//           learn_expect("out", device_out, expected);
//       }
//       return learn_passed();
//   }
//
// The first wrong element ends the program. What it says goes to standard output as one line of JSON after "@learn ",
// which `heddle learn` turns into sentences.
#ifndef HEDDLE_COURSE_LEARN_H
#define HEDDLE_COURSE_LEARN_H

#include <cuda_runtime.h>

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

// --- the case -------------------------------------------------------------------------------------------------------

struct learn_state {
    std::string name;             // of the case, for messages
    std::vector<void *> device;   // arrays to free when the case ends
    std::vector<void *> pinned;   // the same, in host memory
    dim3 block;                   // threads per block, where elements belong to threads
    int64_t width;                // elements per row of a 2-D launch; 0: 1-D
    bool owned;                   // the judge said which thread writes which element
};

static learn_state learn_now;

static void learn_free_all(void)
{
    for (void *memory : learn_now.device)
        cudaFree(memory);
    for (void *memory : learn_now.pinned)
        cudaFreeHost(memory);
    learn_now.device.clear();
    learn_now.pinned.clear();
}

static std::string learn_quoted(const std::string &text)
{
    std::string quoted = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            quoted += '\\';
        quoted += (unsigned char)c < ' ' ? ' ' : c;
    }
    return quoted + "\"";
}

// Ends the program with a message; `fields` are members of a JSON object.
static void learn_say(const std::string &fields)
{
    fflush(stdout);
    printf("\n@learn {\"case\":%s,%s}\n", learn_quoted(learn_now.name).c_str(), fields.c_str());
    fflush(stdout);
}

[[noreturn]] static void learn_stop(const std::string &fields)
{
    learn_say(fields);
    learn_free_all();
    exit(1);
}

// Begins a case: what the messages call it. Arrays of the case before are freed.
__attribute__((format(printf, 1, 2))) static void learn_case(const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    learn_free_all();
    learn_now.name = text;
    learn_now.owned = false;
}

// Which thread should write which element: element i is thread i % block of block i / block …
static inline void learn_threads_1d(int threads_per_block)
{
    learn_now.block = dim3((unsigned)threads_per_block);
    learn_now.width = 0;
    learn_now.owned = true;
}

// … or the element of row y, column x is thread (x % block.x, y % block.y) of block (x / block.x, y / block.y).
static inline void learn_threads_2d(dim3 threads_per_block, int64_t width)
{
    learn_now.block = threads_per_block;
    learn_now.width = width;
    learn_now.owned = true;
}

// Fails the exercise with a sentence, where comparing arrays does not fit.
__attribute__((format(printf, 2, 3))) static inline void learn_require(bool holds, const char *format, ...)
{
    char text[512];
    va_list list;
    if (holds)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    learn_stop("\"says\":" + learn_quoted(text));
}

// --- arrays ---------------------------------------------------------------------------------------------------------

enum : unsigned char { LEARN_POISON = 0x7f }; // every byte of an output before the kernel runs

// Small values that float, and half where they are few bits, holds exactly: sums of a few thousand are exact, too.
template <typename T> static std::vector<T> learn_values(size_t count, unsigned seed = 1)
{
    std::vector<T> values(count);
    uint32_t state = seed * 2654435761u + 12345u;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (T)((int)(state >> 24) % 17 - 8);
    }
    return values;
}

template <typename T> static T *learn_allocate(size_t count)
{
    T *memory = nullptr;
    cudaError_t error = cudaMalloc((void **)&memory, count * sizeof(T));
    if (error != cudaSuccess)
        learn_stop(std::string("\"cuda\":") + learn_quoted(cudaGetErrorString(error)));
    learn_now.device.push_back(memory);
    return memory;
}

// A device array with these values.
template <typename T> static T *learn_device(const std::vector<T> &host)
{
    T *memory = learn_allocate<T>(host.empty() ? 1 : host.size());
    cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

// A device array for results. It holds a poison that no correct kernel writes, so that a missing write is seen.
template <typename T> static T *learn_output(size_t count)
{
    T *memory = learn_allocate<T>(count ? count : 1);
    cudaMemset(memory, LEARN_POISON, count * sizeof(T));
    return memory;
}

// A device array that nothing has written: reading it is an error that the simulator reports.
template <typename T> static T *learn_uninitialised(size_t count)
{
    return learn_allocate<T>(count ? count : 1);
}

// Pinned host memory, which holds the same poison.
template <typename T> static T *learn_pinned(size_t count)
{
    T *memory = nullptr;
    cudaError_t error = cudaMallocHost((void **)&memory, (count ? count : 1) * sizeof(T));
    if (error != cudaSuccess)
        learn_stop(std::string("\"cuda\":") + learn_quoted(cudaGetErrorString(error)));
    learn_now.pinned.push_back(memory);
    memset(memory, LEARN_POISON, count * sizeof(T));
    return memory;
}

template <typename T> static bool learn_is_poison(const T &value)
{
    const unsigned char *bytes = (const unsigned char *)&value;
    for (size_t i = 0; i < sizeof value; i++)
        if (bytes[i] != LEARN_POISON)
            return false;
    return true;
}

// --- comparing ------------------------------------------------------------------------------------------------------

template <typename T> static std::string learn_text(const T &value)
{
    char text[64];
    if (std::is_integral<T>::value)
        snprintf(text, sizeof text, "%lld", (long long)value);
    else
        snprintf(text, sizeof text, "%.7g", (double)value);
    return text;
}

template <typename T> static bool learn_equal(const T &found, const T &expected, double tolerance)
{
    if (std::is_integral<T>::value)
        return found == expected;
    double a = (double)found, b = (double)expected;
    return a == b || std::fabs(a - b) <= tolerance * std::fmax(1.0, std::fabs(b)); // NaN equals nothing
}

static std::string learn_position(const char *name, size_t index)
{
    char text[200];
    dim3 block = learn_now.block;
    snprintf(text, sizeof text, "\"array\":\"%s\",\"index\":%zu", name, index);
    std::string fields = text;
    if (!learn_now.owned)
        return fields;
    size_t x = learn_now.width ? index % (size_t)learn_now.width : index;
    size_t y = learn_now.width ? index / (size_t)learn_now.width : 0;
    if (learn_now.width) {
        snprintf(text, sizeof text, ",\"row\":%zu,\"column\":%zu", y, x);
        fields += text;
    }
    snprintf(text, sizeof text, ",\"block\":[%zu,%zu],\"thread\":[%zu,%zu],\"dimensions\":%d", x / block.x, y / block.y,
             x % block.x, y % block.y, learn_now.width ? 2 : 1);
    return fields + text;
}

// The elements around the first wrong one, as they should be and as they are.
template <typename T>
static std::string learn_window(const std::vector<T> &found, const std::vector<T> &expected, size_t at)
{
    enum { BEFORE = 2, SHOWN = 8 };
    size_t first = at > BEFORE ? at - BEFORE : 0, last = first + SHOWN < found.size() ? first + SHOWN : found.size();
    std::string fields = ",\"first\":" + std::to_string(first) + ",\"window\":[";
    for (size_t i = first; i < last; i++)
        fields += std::string(i > first ? "," : "") + "[" + learn_quoted(learn_text(expected[i])) + "," +
                  learn_quoted(learn_is_poison(found[i]) ? "unwritten" : learn_text(found[i])) + "]";
    return fields + "]";
}

// Compares values that are on the host already.
template <typename T>
static void learn_expect_host(const char *name, const std::vector<T> &found, const std::vector<T> &expected,
                              double tolerance = 0)
{
    size_t wrong = 0, at = 0;
    for (size_t i = expected.size(); i-- > 0;)
        if (!learn_equal(found[i], expected[i], tolerance)) {
            wrong++;
            at = i;
        }
    if (wrong == 0)
        return;
    learn_stop(learn_position(name, at) + ",\"expected\":" + learn_quoted(learn_text(expected[at])) +
               ",\"found\":" + learn_quoted(learn_text(found[at])) +
               ",\"unwritten\":" + (learn_is_poison(found[at]) ? "true" : "false") +
               ",\"wrong\":" + std::to_string(wrong) + ",\"count\":" + std::to_string(expected.size()) +
               learn_window(found, expected, at));
}

// Waits for the GPU and reports what went wrong there.
static inline void learn_wait(void)
{
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        learn_stop(std::string("\"cuda\":") + learn_quoted(cudaGetErrorString(error)));
}

// Compares a device array with what it should hold. Floating-point values may differ by `tolerance`, relative to the
// expected value where that is above 1.
template <typename T>
static void learn_expect(const char *name, const T *device, const std::vector<T> &expected, double tolerance = 0)
{
    std::vector<T> found(expected.size());
    learn_wait();
    cudaMemcpy(found.data(), device, found.size() * sizeof(T), cudaMemcpyDeviceToHost);
    learn_expect_host(name, found, expected, tolerance);
}

// --- the end --------------------------------------------------------------------------------------------------------

// On a real GPU: how long `work`, which launches kernels, takes. Does nothing on the simulator, which has no clock.
template <typename Work> static void learn_time(const char *name, Work work)
{
#ifdef LEARN_SIMULATED
    (void)name;
    (void)work;
#else
    enum { WARM_UP = 3, RUNS = 20 };
    cudaEvent_t begin, end;
    float milliseconds = 0;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int i = 0; i < WARM_UP; i++)
        work();
    cudaEventRecord(begin);
    for (int i = 0; i < RUNS; i++)
        work();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    learn_wait();
    learn_say("\"timed\":" + learn_quoted(name) + ",\"microseconds\":" + std::to_string(1e3 * milliseconds / RUNS));
#endif
}

// The last line of main.
static inline int learn_passed(void)
{
    learn_wait();
    learn_free_all();
    learn_say("\"passed\":true");
    return 0;
}

#endif
