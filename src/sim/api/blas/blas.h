// Inside cuBLAS: how a call becomes work in a stream, what is checked before it touches memory, and elements of any
// type as numbers. Each cublas function fills in a `work` and queues it; the work runs as a kernel of one thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cublasXt.h"
#include "cublas_api.h"

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasAtomicsMode_t atomics_mode;
    cublasMath_t math_mode;
    int processors; // cublasSetSmCountTarget
};

// cuBLASXt works in a stream of its own and returns when it is done.
struct cublasXtContext {
    struct cublasContext blas;
    int block;
    cublasXtPinnedMemMode_t pinning;
};
#define SIM_BLAS_XT_CALL(name) ((sim_blas_call){name, __builtin_return_address(0), true})
// Sizes of cuBLASXt are as wide as pointers; those that cuBLAS takes are simulated.
#define SIM_BLAS_XT_FITS(...)                                                                                          \
    sim_blas_xt_fits((const size_t[]){__VA_ARGS__}, sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))
bool sim_blas_xt_fits(const size_t *sizes, size_t count);
cublasStatus_t sim_blas_xt_wait(cublasXtHandle_t handle, cublasStatus_t queued);

static inline bool sim_blas_numbers_on_device(const struct cublasContext *handle)
{
    return handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
}

// --- elements (numbers.c) -------------------------------------------------------------------------------------------

size_t sim_blas_size(cudaDataType type); // 0: a type that is not simulated
double sim_blas_load(cudaDataType type, const void *array, size_t index);
void sim_blas_store(cudaDataType type, void *array, size_t index, double value);
// Where element i of a vector of n lies: a negative increment walks backwards from the far end.
size_t sim_blas_element(int i, int n, int increment);

// Where a call was made from: every public function passes its own name and return address on.
typedef struct sim_blas_call {
    const char *name;
    const void *pc;
    bool host_memory; // is taken, too, as cuBLASXt does
} sim_blas_call;
#define SIM_BLAS_CALL(name) ((sim_blas_call){name, __builtin_return_address(0), false})

// --- a number given by pointer: read at the call where it lies on the host, when the work runs where on the device
// ----

typedef struct sim_blas_scalar {
    cudaDataType type;
    double value;
    const void *device; // NULL: value holds
} sim_blas_scalar;
sim_blas_scalar sim_blas_scalar_of(sim_blas_call call, bool on_device, cudaDataType type, const void *pointer);
// A number that the call itself reads or writes: host code may do that, and not with memory that only the card has.
void sim_blas_used_by_host(sim_blas_call call, cudaDataType type, const void *pointer, bool write);
// While the work runs. A number on the device is checked as spans are; name: of the argument.
double sim_blas_scalar_value(sim_blas_call call, const char *name, const sim_blas_scalar *scalar);

// --- work (work.c) --------------------------------------------------------------------------------------------------

// Copies `work` and runs it in the stream as a kernel. `wait`: until it has run. Other libraries' calls use it too.
bool sim_library_queue(cudaStream_t stream, sim_blas_call call, void (*run)(const void *work), const void *work,
                       size_t bytes, bool wait);
cublasStatus_t sim_blas_queue(cublasHandle_t handle, sim_blas_call call, void (*run)(const void *work),
                              const void *work, size_t bytes, bool result_on_host);
// A wrong argument: a finding at the call. status: what the call returns then, "" where it has returned already.
void sim_library_wrong(sim_blas_call call, const char *status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// So for cuBLAS, with its status. The text is what is wrong.
cublasStatus_t sim_blas_wrong(sim_blas_call call, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A matrix as memory: `columns` runs of `rows` elements, `stride` elements apart. A vector is a matrix of one row.
typedef struct sim_blas_span {
    const char *name; // of the argument, for messages
    const void *data;
    cudaDataType type;
    size_t rows, columns, stride;
} sim_blas_span;

// While the work runs: that the span lies in memory that is there, and, when read, has been written. What is wrong
// becomes a finding at the call; a span outside memory ends the work.
void sim_blas_reads(sim_blas_call call, const sim_blas_span *span);
void sim_blas_writes(sim_blas_call call, const sim_blas_span *span);   // before
void sim_blas_written(const sim_blas_span *span);                      // after
bool sim_blas_overlap(const sim_blas_span *a, const sim_blas_span *b); // have an element in common
// That two matrices have no element in common, of which the one is written while the other is read.
void sim_blas_apart(sim_blas_call call, const sim_blas_span *written, const sim_blas_span *read);
// The two that read or have written tell this too: work of other streams may not be at the span at that time.
void sim_blas_used(const sim_blas_span *span, bool write);

// --- multiplication (multiply.c) ------------------------------------------------------------------------------------

typedef struct sim_blas_operand {
    const void *data;
    cudaDataType type;
    size_t stride; // leading dimension
    bool transposed;
} sim_blas_operand;

// c: (m, n) = alpha a: (m, k) b: (k, n) + beta c, sums in float unless an operand is double or an integer.
void sim_blas_multiply(size_t m, size_t n, size_t k, double alpha, sim_blas_operand a, sim_blas_operand b, double beta,
                       void *c, cudaDataType c_type, size_t c_stride);
