// The table of kinds.

#include "check/kinds.h"

#include <stddef.h>
#include <string.h>

const heddle_check_kind_info heddle_check_kinds[HEDDLE_CHECK_KINDS] = {
    [HEDDLE_CHECK_NOT_BUILT] = {"not-built", "the program does not build", NULL,
                                "The host compiler or the linker refuses the source, so nothing was run.",
                                "Put right what it names; headers, macros and libraries are given by -I, -D and -l."},
    [HEDDLE_CHECK_NOT_LEGAL] = {"not-legal", "not legal CUDA", NULL, "nvcc refuses what the host compiler takes.",
                                "Write what nvcc accepts: kernels may only call __device__ functions."},
    [HEDDLE_CHECK_UNSUPPORTED] = {"unsupported", "not supported by the simulated GPU", NULL, NULL, NULL},
    [HEDDLE_CHECK_OUT_OF_BOUNDS] = {"out-of-bounds", "access out of bounds", "of", NULL, NULL},
    [HEDDLE_CHECK_USE_AFTER_FREE] = {"use-after-free", "use after free", "of", NULL, NULL},
    [HEDDLE_CHECK_HOST_POINTER] = {"host-pointer", "host pointer used", NULL, NULL, NULL},
    [HEDDLE_CHECK_DEVICE_POINTER] = {"device-pointer", "device pointer used by host code", NULL, NULL, NULL},
    [HEDDLE_CHECK_MISALIGNED] = {"misaligned", "misaligned access", "to", NULL, NULL},
    [HEDDLE_CHECK_FAULT] = {"fault", "invalid address", NULL, NULL, NULL},
    [HEDDLE_CHECK_STACK_OVERFLOW] = {"stack-overflow", "stack overflow", NULL, NULL, NULL},
    [HEDDLE_CHECK_ASSERT] = {"assert", "assertion failed", NULL, NULL, NULL},
    [HEDDLE_CHECK_TRAP] = {"trap", "trap", NULL, NULL, NULL},
    [HEDDLE_CHECK_BAD_LAUNCH] = {"bad-launch", "launch that fails", NULL, NULL, NULL},
    [HEDDLE_CHECK_BAD_CALL] = {"bad-call", "CUDA call that fails", NULL, NULL, NULL},
    [HEDDLE_CHECK_INVALID_FREE] = {"invalid-free", "invalid free", "of", NULL, NULL},
    [HEDDLE_CHECK_DEADLOCK] = {"deadlock", "deadlock", NULL, NULL, NULL},
    [HEDDLE_CHECK_SPIN] = {"spin", "endless wait", NULL, NULL, NULL},
    [HEDDLE_CHECK_BARRIER_DIVERGENT] = {"barrier-divergent", "barrier not reached by all threads alike", NULL, NULL,
                                        NULL},
    [HEDDLE_CHECK_BARRIER_EXITED] = {"barrier-exited", "barrier that ended threads never reach", NULL, NULL, NULL},
    [HEDDLE_CHECK_WARP_MASK] = {"warp-mask", "wrong mask of a warp operation", NULL, NULL, NULL},
    [HEDDLE_CHECK_WARP_MISMATCH] = {"warp-mismatch", "lanes of a warp in different operations", NULL, NULL, NULL},
    [HEDDLE_CHECK_RACE] = {"race", "race", "on", NULL, NULL},
    [HEDDLE_CHECK_MISSING_WAIT] = {"missing-wait", "missing wait for a stream", "on", NULL, NULL},
    [HEDDLE_CHECK_UNINITIALISED] = {"uninitialised", "uninitialised read", "of",
                                    "A local variable is read before anything is stored in it: each thread finds what "
                                    "its register or stack happens to hold.",
                                    "Give the variable a value where it is declared."},
    [HEDDLE_CHECK_WRONG_RESULT] = {"wrong-result", "wrong result", NULL,
                                   "The output differs from the operator's reference by more than rounding can.",
                                   "Compute the named element by hand from its inputs and compare."},
    [HEDDLE_CHECK_ORDER_DEPENDENT] =
        {"order-dependent", "result depends on the order of execution", NULL,
         "Another legal order of blocks and threads gave another result, as a GPU may; so does a "
         "local array that is read before it is filled.",
         "Make each element the work of one thread, or order the threads that share it."},
    [HEDDLE_CHECK_UNCHECKED_ERROR] = {"unchecked-error", "error that nobody looked at", NULL, NULL, NULL},
    [HEDDLE_CHECK_LEAK] = {"leak", "leak", "of", NULL, NULL},
    [HEDDLE_CHECK_TIMEOUT] = {"timeout", "program did not end", NULL,
                              "It loops for ever, or has more work than the simulated GPU can do in that time.",
                              "Try a smaller input, or allow more with --timeout."},
    [HEDDLE_CHECK_MEMORY] = {"memory", "memory limit reached", NULL,
                             "The program used more of this machine's memory than it may.",
                             "Try a smaller input, or allow more with --memory."},
    [HEDDLE_CHECK_DIED] = {"died", "program died", NULL, "It ended before its work could be judged.",
                           "Look at what it printed last; --keep leaves the program for a debugger."},
    [HEDDLE_CHECK_OTHER] = {"other", "finding", NULL, NULL, NULL},
};

heddle_check_kind heddle_check_kind_find(const char *name)
{
    for (int i = 0; i < HEDDLE_CHECK_KINDS; i++)
        if (strcmp(heddle_check_kinds[i].name, name) == 0)
            return (heddle_check_kind)i;
    return HEDDLE_CHECK_OTHER;
}
