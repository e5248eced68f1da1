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
// The first wrong element ends the program. What it says goes to standard output as one line of JSON after a mark,
// which `heddle learn` turns into sentences. It chooses a new mark for each run, so that a program cannot print such a
// line by accident.
//
// learn.cu, and the templates of this header for the usual types, are the same for every judge, and take longer to
// compile than the rest of one. On the simulated GPU, `heddle learn` links an object of them that was built with heddle
// (LEARN_LINKED). On a real GPU they are compiled with the judge.
#ifndef HEDDLE_COURSE_LEARN_H
#define HEDDLE_COURSE_LEARN_H

#include <cuda_runtime.h>

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

// Text is printed, never built of std::string: this header is compiled each time a learner saves.

#ifndef LEARN_MARK
#define LEARN_MARK learn
#endif
#define LEARN_QUOTE(word) #word
#define LEARN_TEXT(word)  LEARN_QUOTE(word)

extern const char learn_mark[];
#ifndef LEARN_OBJECT // the judge's own, for it is new in each run
const char learn_mark[] = LEARN_TEXT(LEARN_MARK);
#endif

// --- the case -------------------------------------------------------------------------------------------------------

enum { LEARN_MOST_ARRAYS = 256 };

struct learn_state {
    char name[256];                                              // of the case, for messages
    void *device[LEARN_MOST_ARRAYS], *pinned[LEARN_MOST_ARRAYS]; // arrays to free when the case ends
    int device_count, pinned_count;
    dim3 block;            // threads per block, where elements belong to threads
    int64_t width, height; // elements per row of a 2-D launch, rows per slice of a 3-D launch
    int dimensions;        // of the launch; 0: the judge did not say which thread writes which element
    int byte;              // poison of one-byte outputs; -1: none yet
};

extern learn_state learn_now;

void learn_free_all(void);

void learn_print_quoted(const char *text);
// A line of the judge's: the case, then members of a JSON object that the caller prints, then the end of the line.
void learn_begin_line(void);
void learn_end_line(void);
// A line with one member. `first`: it is the cause of whatever else was found, and is shown alone.
void learn_say(const char *member, const char *text, bool first = false);
// Ends the program after a last line.
[[noreturn]] void learn_stop(const char *member, const char *text, bool first = false);
void learn_check(cudaError_t error);

// Begins a case: what the messages call it. Arrays of the case before are freed.
__attribute__((format(printf, 1, 2))) void learn_case(const char *format, ...);

// Which thread should write which element: element i is thread i % block of block i / block …
void learn_threads_1d(int threads_per_block);
// … or the element of row y, column x is thread (x % block.x, y % block.y) of block (x / block.x, y / block.y).
void learn_threads_2d(dim3 threads_per_block, int64_t width);
// … or the same with slices of `height` rows: slice z is thread z % block.z of block z / block.z.
void learn_threads_3d(dim3 threads_per_block, int64_t width, int64_t height);

// Fails the exercise with a sentence, where comparing arrays does not fit. Further sentences are advice.
__attribute__((format(printf, 2, 3))) void learn_require(bool holds, const char *format, ...);
// The same for the cause of whatever else was found.
__attribute__((format(printf, 2, 3))) void learn_require_first(bool holds, const char *format, ...);

// For a macro in place of cudaMemcpy: ends the program where the address of a pointer is passed for that of an array.
// The copy would replace the pointer, and what lies behind it.
#define learn_refuse_addresses(to, from)                                                                               \
    (learn_refuse_address(to, #to, __LINE__), learn_refuse_address(from, #from, __LINE__))

template <typename T> void learn_refuse_address(T *, const char *, int)
{
}

template <typename T> void learn_refuse_address(T **, const char *name, int line)
{
    learn_require_first(
        false,
        "the cudaMemcpy in line %d gets `%s`: the address of the pointer, not of the array. The pointer "
        "holds the array's address already: leave out the `&`.",
        line, name);
}

// --- arrays ---------------------------------------------------------------------------------------------------------

// What an output holds before the kernel runs, so that a missing write is seen: a signalling NaN, or an integer that
// small sums do not hide. The hardware makes a signalling NaN a quiet one as soon as it computes with it, so a value
// that was read before it was written can be told from one that was never written. (A GPU drops the rest of the NaN's
// bits as well; there, such a value is only a NaN.) Of bytes, learn_output takes one that is not expected.
enum : uint64_t {
    LEARN_POISON_FLOAT = 0x7fbadbad,
    LEARN_POISON_DOUBLE = 0x7ff4badbadbadbad,
    LEARN_POISON_INTEGER = 0x5badbadbadbadbad, // the upper bytes of it
    LEARN_QUIET_FLOAT = 0x00400000,
    LEARN_QUIET_DOUBLE = 0x0008000000000000,
};

template <typename T> uint64_t learn_poison_bits(void)
{
    if (sizeof(T) == 1)
        return (uint64_t)(int64_t)learn_now.byte; // -1: equal to no byte
    if (std::is_integral<T>::value)
        return LEARN_POISON_INTEGER >> (64 - 8 * sizeof(T));
    return sizeof(T) == 2 ? 0x7fba : sizeof(T) == 8 ? LEARN_POISON_DOUBLE : LEARN_POISON_FLOAT;
}

template <typename T> uint64_t learn_bits(const T &value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value); // little-endian
    return bits;
}

template <typename T> void learn_poison(T *values, size_t count)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "outputs are arrays of numbers");
    uint64_t bits = learn_poison_bits<T>();
    for (size_t i = 0; i < count; i++)
        memcpy(&values[i], &bits, sizeof(T));
}

template <typename T> bool learn_is_poison(const T &value)
{
    return learn_bits(value) == learn_poison_bits<T>();
}

// Is it the result of a computation with the poison? Integers: of a sum.
template <typename T> bool learn_is_spoilt(const T &value)
{
    uint64_t bits = learn_bits(value), poison = learn_poison_bits<T>();
    if (learn_is_poison(value) || sizeof(T) < 4)
        return false;
    if (std::is_integral<T>::value)
        return bits - poison + (1 << 24) < (2 << 24);
    uint64_t sign = (uint64_t)1 << (8 * sizeof(T) - 1);
    return (bits & ~sign) == (poison | (sizeof(T) == 8 ? LEARN_QUIET_DOUBLE : LEARN_QUIET_FLOAT));
}

// Small values that float, and half where they are few bits, holds exactly: sums of a few thousand are exact, too.
template <typename T> std::vector<T> learn_values(size_t count, unsigned seed = 1)
{
    std::vector<T> values(count);
    uint32_t state = seed * 2654435761u + 12345u;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = (T)((int)(state >> 24) % 17 - 8);
    }
    return values;
}

void learn_keep(void **list, int *count, void *memory);

template <typename T> T *learn_allocate(size_t count)
{
    void *memory = nullptr;
    learn_check(cudaMalloc(&memory, count * sizeof(T)));
    learn_keep(learn_now.device, &learn_now.device_count, memory);
    return (T *)memory;
}

// A device array with these values.
template <typename T> T *learn_device(const std::vector<T> &host)
{
    T *memory = learn_allocate<T>(host.empty() ? 1 : host.size());
    cudaMemcpy(memory, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return memory;
}

// A device array for results. It holds the poison.
template <typename T> T *learn_output(size_t count)
{
    std::vector<T> poison(count);
    learn_poison(poison.data(), count);
    return learn_device(poison);
}

// A device array for results in bytes: the poison is a value that is not among those expected.
template <typename T> T *learn_output(const std::vector<T> &expected)
{
    static_assert(sizeof(T) == 1, "larger types have a poison of their own: learn_output(count)");
    bool occurs[256] = {false};
    for (T value : expected)
        occurs[(unsigned char)value] = true;
    learn_now.byte = 0xa5; // or the next one that is free
    for (int tries = 0; occurs[learn_now.byte] && tries < 256; tries++)
        learn_now.byte = (learn_now.byte + 1) % 256;
    return learn_output<T>(expected.size());
}

// A device array that nothing has written: reading it is an error that the simulator reports.
template <typename T> T *learn_uninitialised(size_t count)
{
    return learn_allocate<T>(count ? count : 1);
}

// Pinned host memory, which holds the same poison.
template <typename T> T *learn_pinned(size_t count)
{
    void *memory = nullptr;
    learn_check(cudaMallocHost(&memory, (count ? count : 1) * sizeof(T)));
    learn_keep(learn_now.pinned, &learn_now.pinned_count, memory);
    learn_poison((T *)memory, count);
    return (T *)memory;
}

// --- comparing ------------------------------------------------------------------------------------------------------

template <typename T> void learn_print_value(const T &value)
{
    if (std::is_integral<T>::value)
        printf("\"%lld\"", (long long)value);
    else
        printf("\"%.7g\"", (double)value);
}

template <typename T> bool learn_equal(const T &found, const T &expected, double tolerance)
{
    if (std::is_integral<T>::value)
        return found == expected;
    double a = (double)found, b = (double)expected;
    return a == b || std::fabs(a - b) <= tolerance * std::fmax(1.0, std::fabs(b)); // NaN equals nothing
}

void learn_print_position(const char *name, size_t index);

// The elements around the first wrong one, as they should be and as they are.
template <typename T> void learn_print_window(const T *found, const T *expected, size_t count, size_t at)
{
    enum { BEFORE = 2, SHOWN = 8 };
    size_t first = at > BEFORE ? at - BEFORE : 0, last = first + SHOWN < count ? first + SHOWN : count;
    printf(",\"first\":%zu,\"window\":[", first);
    for (size_t i = first; i < last; i++) {
        printf(i > first ? ",[" : "[");
        learn_print_value(expected[i]);
        putchar(',');
        if (learn_is_poison(found[i]))
            printf("\"unwritten\"");
        else
            learn_print_value(found[i]);
        putchar(']');
    }
    putchar(']');
}

// Which elements are wrong, as runs: the first of each, and how many follow one another. Where there are many runs,
// nothing.
template <typename T> void learn_print_runs(const T *found, const T *expected, size_t count, double tolerance)
{
    enum { MOST_RUNS = 256 };
    size_t begins[MOST_RUNS], lengths[MOST_RUNS], runs = 0;
    for (size_t i = 0; i < count; i++) {
        if (learn_equal(found[i], expected[i], tolerance))
            continue;
        if (runs > 0 && begins[runs - 1] + lengths[runs - 1] == i) {
            lengths[runs - 1]++;
            continue;
        }
        if (runs == MOST_RUNS)
            return;
        begins[runs] = i;
        lengths[runs++] = 1;
    }
    printf(",\"runs\":[");
    for (size_t i = 0; i < runs; i++)
        printf("%s%zu,%zu", i > 0 ? "," : "", begins[i], lengths[i]);
    putchar(']');
    if (learn_now.dimensions > 1)
        printf(",\"width\":%d", (int)learn_now.width);
}

template <typename T>
void learn_compare(const char *name, const T *found, const T *expected, size_t count, double tolerance)
{
    size_t wrong = 0, at = 0;
    for (size_t i = count; i-- > 0;)
        if (!learn_equal(found[i], expected[i], tolerance)) {
            wrong++;
            at = i;
        }
    if (wrong == 0)
        return;
    learn_begin_line();
    learn_print_position(name, at);
    printf(",\"expected\":");
    learn_print_value(expected[at]);
    printf(",\"found\":");
    if (learn_is_spoilt(found[at]))
        printf("\"computed from memory that was never written\"");
    else
        learn_print_value(found[at]);
    printf(",\"unwritten\":%s,\"wrong\":%zu,\"count\":%zu", learn_is_poison(found[at]) ? "true" : "false", wrong,
           count);
    learn_print_window(found, expected, count, at);
    learn_print_runs(found, expected, count, tolerance);
    learn_end_line();
    learn_free_all();
    exit(1);
}

// Compares values that are on the host already.
template <typename T>
void learn_expect_host(const char *name, const std::vector<T> &found, const std::vector<T> &expected,
                              double tolerance = 0)
{
    learn_compare(name, found.data(), expected.data(), expected.size(), tolerance);
}

// Waits for the GPU and reports what went wrong there.
void learn_wait(void);

// Compares a device array with what it should hold. Floating-point values may differ by `tolerance`, relative to the
// expected value where that is above 1.
template <typename T>
void learn_expect(const char *name, const T *device, const std::vector<T> &expected, double tolerance = 0)
{
    std::vector<T> found(expected.size());
    learn_wait();
    cudaMemcpy(found.data(), device, found.size() * sizeof(T), cudaMemcpyDeviceToHost);
    learn_expect_host(name, found, expected, tolerance);
}

// --- the end --------------------------------------------------------------------------------------------------------

// On a real GPU: how long `work`, which launches kernels, takes. Does nothing on the simulator, which reports no
// timings.
template <typename Work> void learn_time(const char *name, Work work)
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
    learn_begin_line();
    printf(",\"timed\":");
    learn_print_quoted(name);
    printf(",\"microseconds\":%.3f", 1e3 * milliseconds / RUNS);
    learn_end_line();
#endif
}

// The last line of main.
int learn_passed(void);

// --- the object -----------------------------------------------------------------------------------------------------

#define LEARN_TEMPLATES(scope, T)                                                                                      \
    scope template std::vector<T> learn_values<T>(size_t, unsigned);                                                   \
    scope template T *learn_device<T>(const std::vector<T> &);                                                         \
    scope template T *learn_output<T>(size_t);                                                                         \
    scope template T *learn_pinned<T>(size_t);                                                                         \
    scope template T *learn_uninitialised<T>(size_t);                                                                  \
    scope template void learn_expect_host<T>(const char *, const std::vector<T> &, const std::vector<T> &, double);    \
    scope template void learn_expect<T>(const char *, const T *, const std::vector<T> &, double);
#define LEARN_USUAL_TEMPLATES(scope)                                                                                   \
    scope template unsigned char *learn_output<unsigned char>(const std::vector<unsigned char> &);                     \
    LEARN_TEMPLATES(scope, float)                                                                                      \
    LEARN_TEMPLATES(scope, double)                                                                                     \
    LEARN_TEMPLATES(scope, int)                                                                                        \
    LEARN_TEMPLATES(scope, unsigned)                                                                                   \
    LEARN_TEMPLATES(scope, unsigned short)                                                                             \
    LEARN_TEMPLATES(scope, unsigned char)

#if defined(LEARN_LINKED)
LEARN_USUAL_TEMPLATES(extern)
#elif !defined(LEARN_OBJECT)
#include "learn.cu"
#endif

#endif
