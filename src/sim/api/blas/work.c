// cuBLAS calls as work in a stream: queued like a kernel of one thread, so that what is true of kernels is true of them
// (they wait, they run in order, graphs capture them). What they touch is checked here, a whole matrix at a time.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/blas/blas.h"
#include "api/host_access.h"
#include "core/core.h"
#include "findings/finding.h"
#include "machine/options.h"
#include "machine/worker.h"
#include "memory/memory.h"
#include "program/program.h"
#include "sim/abi.h"
#include "sim/runtime_api.h"
#include "watch/watch.h"

typedef struct closure {
    void (*run)(const void *work);
    _Alignas(max_align_t) char work[];
} closure;

static void closure_run(void *memory)
{
    closure *bound = memory;
    bound->run(bound->work);
}

bool sim_library_queue(cudaStream_t stream, sim_blas_call call, void (*run)(const void *work), const void *work,
                       size_t bytes, bool wait)
{
    closure *bound = malloc(sizeof *bound + bytes);
    if (!bound)
        return false;
    bound->run = run;
    memcpy(bound->work, work, bytes);
    sim_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = stream};
    sim_kernel kernel = {.name = call.name,
                         .function = (const void *)(uintptr_t)run,
                         .run = closure_run,
                         .closure = bound,
                         .closure_bytes = sizeof *bound + bytes,
                         .release = free,
                         .library = true};
    if (sim_launch(&config, &kernel, call.pc) != cudaSuccess)
        return false;
    return !wait || cudaStreamSynchronize(stream) == cudaSuccess;
}

cublasStatus_t sim_blas_queue(cublasHandle_t handle, sim_blas_call call, void (*run)(const void *work),
                              const void *work, size_t bytes, bool result_on_host)
{
    bool done = sim_library_queue(handle->stream, call, run, work, bytes, result_on_host);
    return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

static void report_wrong(sim_blas_call call, const char *status, const char *format, va_list arguments)
{
    sim_finding finding = {
        .kind = SIM_BAD_CALL, .tier = SIM_ERROR, .place = {{.pc = (uintptr_t)call.pc, .role = "call"}}};
    int used = snprintf(finding.message, sizeof finding.message, "%s: ", call.name);
    vsnprintf(finding.message + used, sizeof finding.message - (size_t)used, format, arguments);
    if (status[0])
        snprintf(finding.note, sizeof finding.note, "the call returns %s and does nothing", status);
    sim_report(&finding);
}

void sim_library_wrong(sim_blas_call call, const char *status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_wrong(call, status, format, arguments);
    va_end(arguments);
}

cublasStatus_t sim_blas_wrong(sim_blas_call call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    report_wrong(call, "CUBLAS_STATUS_INVALID_VALUE", format, arguments);
    va_end(arguments);
    return CUBLAS_STATUS_INVALID_VALUE;
}

void sim_blas_used_by_host(sim_blas_call call, cudaDataType type, const void *pointer, bool write)
{
    uintptr_t address = (uintptr_t)pointer;
    if (sim_options_get()->watch && address - sim_memory_base < sim_memory_span)
        sim_host_touched(address, sim_blas_size(type), write, true, (uintptr_t)call.pc);
}

sim_blas_scalar sim_blas_scalar_of(sim_blas_call call, bool on_device, cudaDataType type, const void *pointer)
{
    sim_blas_scalar scalar = {.type = type};
    if (on_device) {
        scalar.device = pointer;
    } else if (pointer) {
        sim_blas_used_by_host(call, type, pointer, false);
        scalar.value = sim_blas_load(type, pointer, 0);
    }
    return scalar;
}

double sim_blas_scalar_value(sim_blas_call call, const char *name, const sim_blas_scalar *scalar)
{
    if (!scalar->device)
        return scalar->value;
    sim_blas_span span = {name, scalar->device, scalar->type, 1, 1, 1};
    sim_blas_reads(call, &span);
    return sim_blas_load(scalar->type, scalar->device, 0);
}

// --- checks ---------------------------------------------------------------------------------------------------------

static size_t span_bytes(const sim_blas_span *span)
{
    if (span->rows == 0 || span->columns == 0)
        return 0;
    return ((span->columns - 1) * span->stride + span->rows) * sim_blas_size(span->type);
}

static bool is_number(const sim_blas_span *span)
{
    return span->rows == 1 && span->columns == 1;
}

static bool is_vector(const sim_blas_span *span)
{
    return span->rows == 1 || span->columns == 1;
}

static const char *gaps_of(const sim_blas_span *span)
{
    if (!is_vector(span))
        return " with gaps between columns included";
    return span->columns > 1 && span->stride > 1 ? " with gaps between elements included" : "";
}

static void report_span(sim_blas_call call, const sim_blas_span *span, sim_finding_kind kind, uintptr_t address,
                        const char *what, const char *note)
{
    sim_finding finding = {.kind = kind,
                           .tier = SIM_ERROR,
                           .kernel = call.name,
                           .place = {{.pc = (uintptr_t)call.pc, .role = "call"}},
                           .address = address,
                           .bytes = sim_blas_size(span->type)};
    snprintf(finding.message, sizeof finding.message, "%s %s %s, %zu bytes%s", call.name, what, span->name,
             span_bytes(span), gaps_of(span));
    snprintf(finding.note, sizeof finding.note, "%s", note);
    sim_report(&finding);
}

// A __device__ variable, or a matrix that the program's own image holds: not the memory table's.
static bool in_image(uintptr_t address)
{
    const sim_module *module = sim_module_self();
    return address >= module->image_lo && address < module->image_hi;
}

// Ordinary host memory, which nothing is known about.
static bool is_ordinary(const sim_blas_span *span)
{
    return (uintptr_t)span->data - sim_memory_base >= sim_memory_span;
}

static void check_place(sim_blas_call call, const sim_blas_span *span, const char *verb)
{
    uintptr_t start = (uintptr_t)span->data, end = start + span_bytes(span);
    sim_allocation found;
    char what[64];
    if (start == end || in_image(start) || (call.host_memory && start != 0 && is_ordinary(span)))
        return;
    if (start == 0) {
        snprintf(what, sizeof what, "%s through a null pointer:", verb);
        report_span(call, span, SIM_FAULT, start, what, "");
        sim_thread_fail(cudaErrorIllegalAddress);
    }
    if (!sim_memory_find(start, &found)) {
        bool device = start >= sim_memory_base && start < sim_memory_base + sim_memory_span;
        bool freed = device && sim_memory_nearest(start, &found) && sim_memory_is_stale(&found, start);
        snprintf(what, sizeof what, "%s %s:", verb,
                 freed    ? "freed memory"
                 : device ? "outside every allocation"
                          : "host memory");
        report_span(call, span,
                    freed    ? SIM_USE_AFTER_FREE
                    : device ? SIM_OUT_OF_BOUNDS
                             : SIM_HOST_POINTER,
                    start, what,
                    device            ? ""
                    : is_number(span) ? "in device pointer mode, scalars must be in device memory"
                                      : "the library takes a device pointer here");
        sim_thread_fail(cudaErrorIllegalAddress);
    }
    if (end > found.start + found.bytes) {
        snprintf(what, sizeof what, "%s past the end of its allocation:", verb);
        report_span(call, span, SIM_OUT_OF_BOUNDS, found.start + found.bytes, what,
                    is_vector(span) ? "the number of elements and the increment decide how much is touched"
                                    : "sizes, leading dimension and transposition decide how much is touched");
        sim_thread_fail(cudaErrorIllegalAddress);
    }
}

void sim_blas_used(const sim_blas_span *span, bool write)
{
    if (!sim_watching || is_ordinary(span) || span_bytes(span) == 0)
        return;
    size_t size = sim_blas_size(span->type);
    bool dense = span->rows == span->stride || span->columns <= 1;
    sim_watch_library((uintptr_t)span->data, dense ? span_bytes(span) : span->rows * size, span->stride * size,
                      dense ? 1 : span->columns, write);
}

void sim_blas_reads(sim_blas_call call, const sim_blas_span *span)
{
    check_place(call, span, "reads");
    sim_blas_used(span, false);
    if (!sim_watching || is_ordinary(span))
        return;
    size_t size = sim_blas_size(span->type);
    bool dense = span->rows == span->stride || span->columns <= 1;
    size_t runs = dense ? 1 : span->columns, bytes = dense ? span_bytes(span) : span->rows * size;
    for (size_t run = 0; run < runs && bytes > 0; run++) {
        uintptr_t start = (uintptr_t)span->data + run * span->stride * size, first = 0;
        if (sim_watch_initialised(start, bytes, &first))
            continue;
        report_span(call, span, SIM_UNINITIALISED, first, "reads uninitialised elements:", "");
        return;
    }
}

static uintptr_t column_at(const sim_blas_span *span, size_t column)
{
    return (uintptr_t)span->data + column * span->stride * sim_blas_size(span->type);
}

// The columns of each follow one another in memory.
bool sim_blas_overlap(const sim_blas_span *a, const sim_blas_span *b)
{
    const size_t a_bytes = a->rows * sim_blas_size(a->type), b_bytes = b->rows * sim_blas_size(b->type);
    for (size_t i = 0, j = 0; i < a->columns && j < b->columns;) {
        if (column_at(a, i) + a_bytes <= column_at(b, j))
            i++;
        else if (column_at(b, j) + b_bytes <= column_at(a, i))
            j++;
        else
            return true;
    }
    return false;
}

void sim_blas_apart(sim_blas_call call, const sim_blas_span *written, const sim_blas_span *read)
{
    if (sim_blas_overlap(written, read))
        sim_library_wrong(call, "", "%s overlaps %s, which is read while %s is written: the result is undefined",
                          written->name, read->name, written->name);
}

void sim_blas_writes(sim_blas_call call, const sim_blas_span *span)
{
    check_place(call, span, "writes");
}

void sim_blas_written(const sim_blas_span *span)
{
    if (!sim_watching || is_ordinary(span))
        return;
    sim_blas_used(span, true);
    size_t size = sim_blas_size(span->type);
    if (span->rows == span->stride || span->columns <= 1) {
        if (span_bytes(span) > 0)
            sim_watch_filled((uintptr_t)span->data, span_bytes(span));
        return;
    }
    for (size_t column = 0; column < span->columns; column++)
        sim_watch_filled((uintptr_t)span->data + column * span->stride * size, span->rows * size);
}
