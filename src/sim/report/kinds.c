// The kinds of finding in words: what each is called, what usually causes it and what cures it. Text and JSON, and by
// the JSON all who read it, take them from here.
#include <string.h>

#include "report/internal.h"

static const sim_kind_text kinds[SIM_FINDING_KINDS] = {
    [SIM_OUT_OF_BOUNDS] =
        {"out-of-bounds", "access outside an allocation or variable", "error",
         "An index runs past the end, mostly in the last block, where the size is no multiple of the block's.",
         "Guard the access (`if (i < n)`) and check that the allocation counts bytes, not elements.", 0},
    [SIM_USE_AFTER_FREE] =
        {"use-after-free", "use of memory that was freed", "error",
         "Memory was freed while a kernel or copy that uses it was still to run, or a stale pointer is kept.",
         "Free after the last use, and after the stream that uses it has been waited for.", 1},
    [SIM_FAULT] = {"fault", "access to an address that is nobody's", "error",
                   "A pointer was never set, is null, or was overwritten.",
                   "Check that the pointer was allocated and passed to the kernel before it is used.", 2},
    [SIM_HOST_POINTER] = {"host-pointer", "a kernel uses a host pointer",
                          "error; warning where a launch passes an address inside a device variable",
                          "Memory from malloc, new or the stack was passed to a kernel.",
                          "Copy it into memory from cudaMalloc first, or allocate it with cudaMallocManaged.", 3},
    [SIM_DEVICE_POINTER] = {"device-pointer", "host code uses a device pointer",
                            "error; warning where it names a device variable that kernels and copies leave alone",
                            "Host code reads or writes memory from cudaMalloc directly.",
                            "Copy it with cudaMemcpy, or allocate it with cudaMallocManaged.", 4},
    [SIM_RACE] =
        {"race", "two threads use the same memory without order, and one writes",
         "error; warning where all threads store the same value, a volatile read polls, threads take turns by "
         "polling, an atomic of the same thread confirms a read, only the reader's fence is missing, or __ldg reads "
         "what its own kernel has written",
         "A barrier is missing between writing and reading, or several threads write one place.",
         "Put __syncthreads() (or __syncwarp() within a warp) between the two; where many threads update one place, "
         "make each update one atomic operation (atomicAdd and its kin).",
         5},
    [SIM_MISSING_WAIT] =
        {"missing-wait", "data is used before the stream that makes it has finished", "error",
         "An asynchronous copy or a kernel was not waited for.",
         "Wait with cudaDeviceSynchronize or cudaStreamSynchronize; between streams record an event behind the work "
         "(cudaEventRecord) and let the other stream wait for it before the use (cudaStreamWaitEvent).",
         6},
    [SIM_UNINITIALISED] = {"uninitialised", "memory is read that nobody has written",
                           "error in a kernel; warning where a copy takes it to the host",
                           "An array is read before it is filled, or only part of it was filled.",
                           "Set it first (cudaMemset, a copy, a loop over the whole array) and wait before reading.",
                           7},
    [SIM_BARRIER_DIVERGENT] =
        {"barrier-divergent", "threads of one block wait at different barriers",
         "error within a warp; warning where each warp waits at one barrier",
         "__syncthreads() stands inside a branch or loop that not all threads of the block take alike.",
         "Move the barrier out of the branch so that every thread reaches the same one.", 8},
    [SIM_BARRIER_EXITED] =
        {"barrier-exited", "a barrier that threads which have ended never reach",
         "warning: hardware counts the exited threads as arrived; an error where threads of one warp part there and "
         "some "
         "go on behind it",
         "Some threads return early, or pass by the branch that the barrier is in, while the others wait at it.",
         "Let all threads reach the barrier: put conditions around the work, not around the barrier.", 9},
    [SIM_DEADLOCK] = {"deadlock", "threads wait for each other for ever", "error",
                      "Threads wait at barriers or collectives that the others never reach.",
                      "Let all threads named by the barrier or mask reach it, in the same order.", 10},
    [SIM_SPIN] = {"spin", "a thread waits in a loop for ever", "error",
                  "A lock or flag is waited for by threads that keep its holder from running, or nobody sets it.",
                  "Make sure that the loop's condition changes, and that somebody sets the flag it waits for; do a "
                  "lock's work inside the loop that takes it.",
                  11},
    [SIM_WARP_MASK] =
        {"warp-mask", "the mask of a warp collective is wrong", "error; warning where the missing lanes have exited",
         "The mask names lanes that do not reach the call, or not the lane that makes it.",
         "Use the mask of the lanes that take the branch (__ballot_sync before it), or move the call out.", 12},
    [SIM_WARP_MISMATCH] = {"warp-mismatch", "lanes of one warp meet in different collectives", "error",
                           "Lanes of one mask call different collectives, or the same one at different lines.",
                           "Let all lanes of the mask make the same call at the same line.", 13},
    [SIM_MISALIGNED] =
        {"misaligned", "an address is no multiple of the size of the access", "error",
         "A pointer was cast to a wider type (float4 *) at an offset that does not suit it.",
         "Keep offsets multiples of the vector's size, and handle the first and last elements one by one.", 14},
    [SIM_ASSERT] = {"assert", "an assertion of a kernel failed", "error",
                    "A condition the kernel relies on does not hold.", "See which thread's data breaks it.", 15},
    [SIM_TRAP] = {"trap", "a kernel stopped itself", "error", "The kernel called __trap().",
                  "See why that branch is reached.", 16},
    [SIM_STACK_OVERFLOW] = {"stack-overflow", "a thread's stack is full", "error",
                            "Deep recursion, or large local arrays.",
                            "Bound the recursion, use shared or global memory, or raise cudaLimitStackSize.", 17},
    [SIM_INVALID_FREE] = {"invalid-free", "a pointer is freed that cannot be", "error",
                          "It was freed before, was not allocated, or belongs to another function's free.",
                          "Free each allocation once, with the function that goes with the one that made it.", 18},
    [SIM_BAD_LAUNCH] = {"bad-launch", "a kernel launch that fails", "error",
                        "Too many threads a block, for the card or for the kernel's __launch_bounds__; too much shared "
                        "memory, or a size of zero.",
                        "Keep within the limits of card and kernel; ask for more than 48 KB of shared memory with "
                        "cudaFuncSetAttribute.",
                        19},
    [SIM_BAD_CALL] = {"bad-call", "a CUDA call that fails",
                      "error; warning where the program asks what the card has and looks at the answer",
                      "Its arguments are wrong.",
                      "Check sizes, pointers and the direction of copies; look at what the call returns.", 20},
    [SIM_UNSUPPORTED] = {"unsupported", "a feature that is not simulated", "error",
                         "The program uses something that only a real GPU can run.",
                         "Check this part on a GPU, or give the simulator another path for it.", 21},
    [SIM_ORDER_DEPENDENT] = {"order-dependent", "another legal order gave another result", "warning",
                             "Another legal order of blocks and threads gave another result, as a GPU may; so does a "
                             "local array that is read before it is filled.",
                             "Make each element the work of one thread, or order the threads that share it.", 22},
    [SIM_UNCHECKED_ERROR] = {"unchecked-error", "an error that nobody looked at", "warning",
                             "A CUDA call or launch failed and the program went on.",
                             "Check what each call returns, and cudaGetLastError() after each launch.", 23},
    [SIM_LEAK] = {"leak", "memory that is never freed", "warning", "The program ends without freeing it.",
                  "Free it with the function that goes with the one that made it.", 24},
};

const sim_kind_text *sim_kind_of(sim_finding_kind kind)
{
    return &kinds[kind];
}

// Of races that a barrier of the block would not cure.
static const struct {
    const char *cause, *cure;
} races[] = {
    [SIM_ORDER_BLOCKS] = {"Two blocks use the same memory, at least one writes, and blocks run in any order.",
                          "Use an atomic, give each block elements of its own, split the work into two launches, or "
                          "hand the data on with __threadfence() and an atomic flag: no barrier of a block joins "
                          "blocks; in a cooperative launch the grid's does (grid.sync())."},
    [SIM_ORDER_COPY] =
        {"Memory is used while an asynchronous copy is at it: the wait for the copy comes later, or never.",
         "Wait for the copy before its target is read or its source written: __pipeline_wait_prior, "
         "cp.async.wait_group, cooperative_groups::wait or the wait of its barrier or pipeline; where "
         "other threads use what was copied, a barrier of the block has to follow that wait."},
    [SIM_ORDER_FENCE] = {"A lock or flag is handed on by an atomic alone, which orders nothing but its own word.",
                         "Put __threadfence() on both sides, after the atomic that takes the lock and before the one "
                         "that gives it back, or use cuda::atomic_ref with acquire and release."},
    [SIM_ORDER_ACQUIRE] = {"A lock is taken or a flag seen by an atomic or volatile read, and no fence stands between "
                           "it and the data behind it.",
                           "Put __threadfence() behind the atomic that takes the lock or sees the flag, use "
                           "cuda::atomic_ref with acquire, or read the data through volatile."},
    [SIM_ORDER_ACQUIRE_IN_BLOCK] =
        {"A lock is taken or a flag seen by an atomic or volatile read, and no fence stands between it and the data "
         "behind it.",
         "Put __threadfence_block() behind the atomic that takes the lock or sees the flag, use cuda::atomic_ref with "
         "acquire, or read the data through volatile."},
};

// Of barriers that threads which have ended never reach, where the source shows why.
static const struct {
    const char *cause, *cure;
} reaches[] = {
    [SIM_REACH_RETURN] = {"Some threads return early while the others wait at the barrier.",
                          "Replace the early return by a condition around the work, and let all threads reach the "
                          "barrier."},
    [SIM_REACH_BRANCH] = {"The barrier stands inside a branch or loop that not all threads of the block take; the "
                          "others end without it.",
                          "Move the barrier out of the branch, so that every thread of the block reaches it, and keep "
                          "only the work inside."},
    [SIM_REACH_PASSED] = {"The barrier stands inside a branch or loop that not all threads of the block take; the "
                          "others go on behind it, and nothing says what the barrier does without them.",
                          "Move the barrier out of the branch, so that every thread of the block reaches it, and keep "
                          "only the work inside."},
};

// Of accesses beyond variables and arrays, and reads of them: nothing was allocated, so no call can cure it.
static const struct words {
    const char *cause, *cure;
} beyond_array = {"An index leaves the array, or one of its rows, mostly at the edge of a block or tile.",
                  "Guard the access, or make the array as large as its largest index asks for."},
  beyond_dynamic = {"The launch gave the kernel less shared memory than it uses, or an index runs past the end.",
                    "Give the launch the size in bytes as its third argument, count * sizeof(element), or guard the "
                    "access."},
  unwritten_shared = {"Not every element of the array is written before it is read: a guard keeps some threads from "
                      "it, or it has more elements than the block has threads.",
                      "Let the threads of the block fill all of it, and put __syncthreads() before the first read."},
  unwritten_scalar =
      {"Nothing has written the variable yet: no thread took the branch that does, or the read comes first.",
       "Let one thread give it its first value (`if (threadIdx.x == 0)`), and put __syncthreads() behind "
       "that, before the others use it."},
  variable_by_name = {"Host code uses a __device__ or __constant__ variable as if it were its own.",
                      "Use cudaMemcpyToSymbol and cudaMemcpyFromSymbol, or declare it __managed__."},
  variable_address = {"In host code the name of a __device__ or __constant__ variable stands for the host's own copy.",
                      "Use the variable in the kernel itself, or pass the address that cudaGetSymbolAddress gives."},
  pointer_mode = {"The handle takes numbers from the card (CUBLAS_POINTER_MODE_DEVICE), and this one lies on the host.",
                  "Give the address of memory from cudaMalloc, or set CUBLAS_POINTER_MODE_HOST before the call."},
  constant_memory = {"A kernel writes a __constant__ variable, through a pointer that hides what it points to.",
                     "Set it from the host, by cudaMemcpyToSymbol, or make it a __device__ variable."},
  read_only_load =
      {"__ldg reads through a cache that nothing empties while the kernel runs: no barrier or fence helps.",
       "Read it plainly, or with __ldcg(), or split the kernel in two between the write and the read."},
  overlapping_copy = {"A copy may take its bytes in any order, and so read what it has written before.",
                      "Copy by way of another buffer, or move the elements in a kernel that reads them all first."},
  copy_and_barrier =
      {"No barrier stands between the copy and another thread's use of that memory: behind the wait for the copy, or "
       "before a buffer is filled again.",
       "Put __syncthreads() between the two: behind the wait for the copy where others read what it brought, before "
       "the copy where others may still use what it overwrites."},
  pipeline_wait =
      {"A stage of the pipeline never gets ready: a producer waits until every consumer has released it, a consumer "
       "until every producer has committed it.",
       "Let every consumer call consumer_release() behind each consumer_wait(), and every producer producer_commit() "
       "behind each producer_acquire(); the numbers of both are those that make_pipeline was told."},
  barrier_wait = {"Fewer threads arrive at the barrier than it was made for, or all have arrived and the wait is for a "
                  "later phase.",
                  "Let as many threads arrive in each phase as init was told, and one that leaves early call "
                  "arrive_and_drop()."},
  grid_barrier = {"A barrier of the whole grid needs all blocks on the card at once, which <<<...>>> does not promise.",
                  "Launch the kernel with cudaLaunchCooperativeKernel and no more blocks than fit at once, or split it "
                  "into two launches at the barrier."},
  empty_launch =
      {"The number of blocks or threads was computed from a size that is zero here.",
       "Leave the launch out where there is nothing to do (`if (n > 0)`), and round the number of blocks up: "
       "(n + threads - 1) / threads."},
  absent_lane =
      {"A lane reads from one that the mask leaves out or a branch keeps from the call: there is no value to get.",
       "Let all lanes of the warp make the call, outside of the branch and with the full mask, and give those "
       "without data a neutral value before it (v = i < n ? x[i] : 0)."},
  too_many_blocks = {"A cooperative launch has more blocks than the card can hold at once.",
                     "Ask cudaOccupancyMaxActiveBlocksPerMultiprocessor, launch at most that many times the number of "
                     "multiprocessors, and let each block loop over its share of the work."},
  expected_failure = {"The program asks for what this card does not have, or the arguments are wrong.",
                      "Where the program expects that and goes on without the call, nothing is to be mended; otherwise "
                      "check its arguments."},
  card_full = {"The card's memory is full, or the size is wrong: a negative number, or bytes counted twice.",
               "Ask for less, free what is not used any more, or take a card with more memory; look at what the call "
               "returns."},
  matrix_too_large = {"Sizes, leading dimension and transposition describe a larger matrix than was allocated; "
                      "libraries count by columns.",
                      "Allocate leading dimension * columns * sizeof(element), the leading dimension being the rows of "
                      "the matrix as it is stored, and check the order of m, n, k."};

static bool is_shared(const sim_record *record)
{
    return record->memory.space && strcmp(record->memory.space, "shared") == 0;
}

static bool is_variable(const sim_record *record)
{
    return is_shared(record) || (record->memory.space && strcmp(record->memory.space, "device variable") == 0);
}

// The words for a thread that waits in one of CUDA's own classes, which has a loop that is not the user's.
static const struct words *waits_in(const sim_stack *where)
{
    const char *file = where && where->within ? where->within->file : "";
    if (strstr(file, "/cuda/pipeline"))
        return &pipeline_wait;
    return strstr(file, "/cuda/barrier") || strstr(file, "awbarrier") ? &barrier_wait : NULL;
}

// What fits the place better than the words of its kind; NULL: nothing does.
static const struct words *words_of(const sim_record *record)
{
    const sim_finding *finding = &record->finding;
    bool by_name = strstr(finding->message, "a device variable by its name") != NULL;
    if (finding->kind == SIM_HOST_POINTER && by_name)
        return &variable_address;
    if (finding->kind == SIM_HOST_POINTER && strstr(finding->note, "pointer mode of the device"))
        return &pointer_mode;
    if ((finding->kind == SIM_DEVICE_POINTER || finding->kind == SIM_BAD_CALL) && by_name)
        return &variable_by_name;
    if (finding->kind == SIM_RACE && strstr(finding->message, "read by __ldg of "))
        return &read_only_load;
    if (finding->kind == SIM_RACE && finding->order == SIM_ORDER_BARRIER &&
        strstr(finding->message, "asynchronous copy"))
        return &copy_and_barrier;
    if (finding->kind == SIM_SPIN)
        return waits_in(record->where[0]);
    if (finding->kind == SIM_BAD_CALL && strstr(finding->message, "source and destination overlap: "))
        return &overlapping_copy;
    if (finding->kind == SIM_OUT_OF_BOUNDS && strstr(finding->message, " in constant memory, "))
        return &constant_memory;
    if (finding->kind == SIM_BAD_CALL && strstr(finding->message, ", which the program looks at: "))
        return &expected_failure;
    if (finding->kind == SIM_BAD_CALL && strstr(finding->message, "cudaErrorMemoryAllocation: "))
        return &card_full;
    if (finding->kind == SIM_BAD_LAUNCH && strstr(finding->message, "barrier of the whole grid"))
        return &grid_barrier;
    if (finding->kind == SIM_BAD_LAUNCH && strstr(finding->message, "a cooperative launch needs"))
        return &too_many_blocks;
    if (finding->kind == SIM_BAD_LAUNCH &&
        (strstr(finding->message, ", without a block") || strstr(finding->message, ", without a thread")))
        return &empty_launch;
    if (finding->kind == SIM_WARP_MASK && strstr(finding->message, ", which does not take part"))
        return &absent_lane;
    if (finding->kind == SIM_OUT_OF_BOUNDS && strstr(finding->message, "gaps between columns"))
        return &matrix_too_large;
    if (finding->kind == SIM_OUT_OF_BOUNDS && strstr(finding->message, "dynamic shared memory"))
        return &beyond_dynamic;
    bool index = finding->place[0].role && strcmp(finding->place[0].role, "index") == 0;
    if (finding->kind == SIM_OUT_OF_BOUNDS && (index || is_variable(record)))
        return &beyond_array;
    if (finding->kind != SIM_UNINITIALISED || !is_shared(record))
        return NULL;
    bool whole = record->memory.bytes > 0 && record->memory.bytes == record->memory.size && !record->memory.dynamic;
    return whole ? &unwritten_scalar : &unwritten_shared;
}

static bool is_reach_known(const sim_finding *finding)
{
    return finding->kind == SIM_BARRIER_EXITED && finding->reach != SIM_REACH_UNKNOWN;
}

const char *sim_cause_of(const sim_record *record)
{
    const sim_finding *finding = &record->finding;
    if (words_of(record))
        return words_of(record)->cause;
    if (is_reach_known(finding))
        return reaches[finding->reach].cause;
    bool plain = finding->kind != SIM_RACE || finding->order == SIM_ORDER_BARRIER;
    return plain ? kinds[finding->kind].cause : races[finding->order].cause;
}

const char *sim_cure_of(const sim_record *record)
{
    const sim_finding *finding = &record->finding;
    if (words_of(record))
        return words_of(record)->cure;
    if (is_reach_known(finding))
        return reaches[finding->reach].cure;
    bool plain = finding->kind != SIM_RACE || finding->order == SIM_ORDER_BARRIER;
    return plain ? kinds[finding->kind].cure : races[finding->order].cure;
}
