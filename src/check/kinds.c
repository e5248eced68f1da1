// The table of kinds.

#include "check/kinds.h"

#include <stddef.h>
#include <string.h>

const heddle_check_kind_info heddle_check_kinds[HEDDLE_CHECK_KINDS] = {
    [HEDDLE_CHECK_NOT_BUILT] =
        {"not-built", "the program does not build", NULL,
         "The host compiler or the linker rejects the source, so nothing was run.",
         "Fix the lines that the compiler names; -I, -D and -l add headers, macros and libraries."},
    [HEDDLE_CHECK_NOT_LEGAL] = {"not-legal", "not legal CUDA", NULL, "nvcc rejects what the host compiler accepts.",
                                "Write what nvcc accepts: kernels may only call __device__ functions."},
    [HEDDLE_CHECK_UNSUPPORTED] = {"unsupported", "not supported by the simulated GPU", NULL,
                                  "The program uses something that only a real GPU can run.",
                                  "Check this part on a GPU, or write other code for the simulator.",
                                  "a feature that is not simulated", "error"},
    [HEDDLE_CHECK_OUT_OF_BOUNDS] =
        {"out-of-bounds", "out-of-bounds access", "to",
         "An index runs past the end, mostly in the last block, where the size is not a multiple of the block size.",
         "Guard the access (`if (i < n)`) and check that the allocation counts bytes, not elements.",
         "access outside an allocation or variable", "error"},
    [HEDDLE_CHECK_USE_AFTER_FREE] =
        {"use-after-free", "use after free", "of",
         "Memory was freed before a kernel or copy that uses it had run, or a stale pointer is still in use.",
         "Free memory after its last use, and after synchronising with the stream that uses it.",
         "use of memory that was freed", "error"},
    [HEDDLE_CHECK_HOST_POINTER] =
        {"host-pointer", "host pointer used", NULL, "Memory from malloc, new or the stack was passed to a kernel.",
         "Copy the data into memory from cudaMalloc first, or allocate it with cudaMallocManaged.",
         "a kernel uses a host pointer",
         "error; warning if host code passes `&x[i]`, i > 0, of a `__device__` variable to a kernel"},
    [HEDDLE_CHECK_DEVICE_POINTER] =
        {"device-pointer", "device pointer used by host code", NULL,
         "Host code reads or writes memory from cudaMalloc directly.",
         "Copy the data with cudaMemcpy, or allocate it with cudaMallocManaged.", "host code uses a device pointer",
         "error; warning if host code accesses a `__device__` variable that no kernel or copy uses"},
    [HEDDLE_CHECK_MISALIGNED] =
        {"misaligned", "misaligned access", "to",
         "A pointer was cast to a wider type (float4 *) at an offset that is not a multiple of that type's size.",
         "Keep offsets multiples of the vector's size, and handle the first and last elements one by one.",
         "access to an address that is not a multiple of the access's size", "error"},
    [HEDDLE_CHECK_FAULT] = {"fault", "invalid address", NULL, "A pointer was never set, is null, or was overwritten.",
                            "Check that the pointer was allocated and passed to the kernel before it is used.",
                            "access to an address that belongs to no allocation", "error"},
    [HEDDLE_CHECK_STACK_OVERFLOW] = {"stack-overflow", "stack overflow", NULL, "Deep recursion, or large local arrays.",
                                     "Bound the recursion, use shared or global memory, or raise cudaLimitStackSize.",
                                     "a thread's stack is full", "error"},
    [HEDDLE_CHECK_ASSERT] = {"assert", "assertion failed", NULL, "A condition the kernel relies on does not hold.",
                             "Look at the data of the thread that the finding names.",
                             "an assertion in a kernel failed", "error"},
    [HEDDLE_CHECK_TRAP] = {"trap", "trap", NULL, "The kernel called __trap().", "Find out why that branch is reached.",
                           "a kernel stopped itself", "error"},
    [HEDDLE_CHECK_BAD_LAUNCH] = {"bad-launch", "launch that fails", NULL,
                                 "Too many threads per block, for the GPU or for the kernel's __launch_bounds__; too "
                                 "much shared memory, or a size of zero.",
                                 "Keep within the limits of GPU and kernel; request more than 48 KB of shared memory "
                                 "with cudaFuncSetAttribute.",
                                 "a kernel launch that fails", "error"},
    [HEDDLE_CHECK_BAD_CALL] =
        {"bad-call", "CUDA call that fails", NULL, "The arguments of the call are wrong.",
         "Check sizes, pointers and the direction of copies, and check what the call returns.",
         "a CUDA call that fails",
         "error; warning if the program tests what the GPU supports and checks what the call returns"},
    [HEDDLE_CHECK_INVALID_FREE] = {"invalid-free", "invalid free", "of",
                                   "The pointer was freed before, was never allocated, or needs another free function.",
                                   "Free each allocation once, with the function that matches its allocation.",
                                   "an invalid pointer is freed", "error"},
    [HEDDLE_CHECK_DEADLOCK] = {"deadlock", "deadlock", NULL,
                               "Threads wait at barriers or collectives that other threads never reach.",
                               "Let all threads that the barrier or mask names reach it, in the same order.",
                               "threads wait for each other forever", "error"},
    [HEDDLE_CHECK_SPIN] = {"spin", "endless loop", NULL,
                           "A thread waits for a lock whose holder cannot run, or for a flag that no thread sets.",
                           "Make sure that some thread sets the flag. Do the work that a lock protects inside the loop "
                           "that takes the lock.",
                           "a thread never leaves a loop", "error"},
    [HEDDLE_CHECK_BARRIER_DIVERGENT] =
        {"barrier-divergent", "divergent barrier", NULL,
         "__syncthreads() is inside a branch or loop, and the threads of the block take different paths.",
         "Move the barrier out of the branch, so that all threads reach the same barrier.",
         "threads of one block wait at different barriers",
         "error if threads of one warp wait at different barriers; warning if each warp waits at one barrier"},
    [HEDDLE_CHECK_BARRIER_EXITED] =
        {"barrier-exited", "barrier that exited threads never reach", NULL,
         "Some threads return early or skip the branch with the barrier, while other threads wait at the barrier.",
         "Let all threads reach the barrier: put conditions around the work, not around the barrier.",
         "threads wait at a barrier, but other threads of the block have exited",
         "warning, because the hardware counts exited threads as arrived; error if, in one warp, some threads wait at "
         "the barrier and others skip it and keep running"},
    [HEDDLE_CHECK_WARP_MASK] =
        {"warp-mask", "wrong mask of a warp operation", NULL,
         "The mask names lanes that do not reach the call, or leaves out a lane that makes the call.",
         "Compute the mask with __ballot_sync before the branch, or move the call out of the branch.",
         "the mask of a warp collective is wrong", "error; warning if the missing lanes have exited"},
    [HEDDLE_CHECK_WARP_MISMATCH] =
        {"warp-mismatch", "lanes of a warp in different operations", NULL,
         "Lanes of one mask call different collectives, or the same collective at different lines.",
         "Let all lanes of the mask make the same call at the same line.",
         "lanes of one warp wait in different collectives", "error"},
    [HEDDLE_CHECK_RACE] =
        {"race", "data race", "on",
         "A barrier is missing between the write and the read, or several threads write to one location.",
         "Put __syncthreads() between the two accesses. If many threads update one location, make each update an "
         "atomic operation such as atomicAdd.",
         "two threads access the same memory without synchronisation, and at least one writes",
         "error; warning in six cases, listed below"},
    [HEDDLE_CHECK_MISSING_WAIT] =
        {"missing-wait", "missing synchronisation with a stream", "on",
         "The program did not wait for an asynchronous copy or a kernel.",
         "Wait with cudaDeviceSynchronize or cudaStreamSynchronize; between streams, record an event after the work "
         "(cudaEventRecord) and let the other stream wait for it before the use (cudaStreamWaitEvent).",
         "data is used before the stream that produces it has finished", "error"},
    [HEDDLE_CHECK_UNINITIALISED] =
        {"uninitialised", "uninitialised read", "of",
         "An array is read before it is filled, or only part of it was filled.",
         "Initialise it first (cudaMemset, a copy, a loop over the whole array) and synchronise before reading.",
         "memory is read before it is written", "error if a kernel reads it; warning if it is only copied to the host"},
    [HEDDLE_CHECK_DIVISION_BY_ZERO] =
        {"division-by-zero", "integer division by zero", NULL,
         "The divisor is zero for some thread: a size or a count that was never set, or an index that starts at 0.",
         "Divide only where the divisor is not zero. A GPU does not stop: it goes on with a meaningless result.",
         "an integer is divided by zero, or a remainder is taken", "error"},
    [HEDDLE_CHECK_WRONG_RESULT] =
        {"wrong-result", "wrong result", NULL,
         "The output differs from the operator's reference by more than rounding can explain.",
         "Compute the named element by hand from its inputs and compare."},
    [HEDDLE_CHECK_WRONG_OUTPUT] = {"wrong-output", "wrong output", NULL,
                                   "The program does not print what --expect says it should.",
                                   "Follow the named line back to where its value is computed."},
    [HEDDLE_CHECK_ORDER_DEPENDENT] = {"order-dependent", "result depends on the order of execution", NULL,
                                      "The result depends on the order of blocks and threads, which a GPU does not "
                                      "guarantee. A local array that is read before it is filled has the same effect.",
                                      "Let one thread compute each element, or synchronise the threads that share it.",
                                      "two legal orders of execution give different results", "warning"},
    [HEDDLE_CHECK_NO_LAUNCH] = {"no-launch", "no kernel was launched", NULL,
                                "The program ended before its first launch, or has none: no work was done on the GPU.",
                                "Launch the kernel with <<<blocks, threads>>>. If the program needs arguments to get "
                                "there, give them after --."},
    [HEDDLE_CHECK_TRUNCATED_GRID] =
        {"truncated-grid", "too few blocks", NULL,
         "A division of integers rounds down: the elements of the last, incomplete block get "
         "no threads.",
         "Round up, (n + 255) / 256, and guard the access in the kernel: if (i < n)."},
    [HEDDLE_CHECK_UNCHECKED_ERROR] = {"unchecked-error", "unchecked error", NULL,
                                      "A CUDA call or launch failed, and the program continued.",
                                      "Check what each call returns, and cudaGetLastError() after each launch.",
                                      "an error that the program never checks", "warning"},
    [HEDDLE_CHECK_LEAK] = {"leak", "memory leak", "of", "The program ends without freeing this memory.",
                           "Free the memory with the function that matches its allocation.",
                           "memory that is never freed", "warning"},
    [HEDDLE_CHECK_TIMEOUT] = {"timeout", "program did not end", NULL,
                              "The program never ends, or has more work than the simulated GPU can do in that time.",
                              "Try a smaller input, or allow more time with --timeout."},
    [HEDDLE_CHECK_MEMORY] = {"memory", "memory limit reached", NULL,
                             "The program used more memory than its limit allows.",
                             "Try a smaller input, or allow more with --memory."},
    [HEDDLE_CHECK_DIED] = {"died", "program died", NULL, "The program ended before its work could be judged.",
                           "Look at what the program printed last; --keep leaves the program for a debugger."},
    [HEDDLE_CHECK_OTHER] = {"other", "finding", NULL, "", ""},
};

heddle_check_kind heddle_check_kind_find(const char *name)
{
    for (int i = 0; i < HEDDLE_CHECK_KINDS; i++)
        if (strcmp(heddle_check_kinds[i].name, name) == 0)
            return (heddle_check_kind)i;
    return HEDDLE_CHECK_OTHER;
}
