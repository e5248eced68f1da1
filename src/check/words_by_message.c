// The table of what messages and notes say.

#include "check/words_by_message.h"

#include <string.h>

typedef heddle_check_words words;

static const struct {
    heddle_check_kind kind; // HEDDLE_CHECK_OTHER: any
    const char *says;
    words words;
} by_message[] = {
    {HEDDLE_CHECK_OTHER,
     "through a null pointer",
     {"The pointer was never set, or its allocation failed and the program did not check it.",
      "Allocate before the launch, and check what cudaMalloc returns: it does not change the pointer when it fails."}},
    {HEDDLE_CHECK_HOST_POINTER,
     "a device variable by its name",
     {"In host code the name of a __device__ or __constant__ variable stands for the host's own copy.",
      "Use the variable in the kernel itself, or pass the address that cudaGetSymbolAddress returns."}},
    {HEDDLE_CHECK_HOST_POINTER,
     "the address of the device function",
     {"In host code the name of a __device__ function stands for code of the host, which a GPU cannot run.",
      "Take the address on the GPU: declare `__device__ auto pointer = function;`, copy it with cudaMemcpyFromSymbol, "
      "and pass the copy. Or pass the function as a template argument."}},
    {HEDDLE_CHECK_HOST_POINTER,
     "device pointer mode",
     {"The handle takes scalars from device memory (CUBLAS_POINTER_MODE_DEVICE), and this one is in host memory.",
      "Pass the address of memory from cudaMalloc, or set CUBLAS_POINTER_MODE_HOST before the call."}},
    {HEDDLE_CHECK_DEVICE_POINTER,
     "a device variable by its name",
     {"Host code uses a __device__ or __constant__ variable as if it were its own.",
      "Use cudaMemcpyToSymbol and cudaMemcpyFromSymbol, or declare it __managed__."}},
    {HEDDLE_CHECK_BAD_CALL,
     "a device variable by its name",
     {"Host code uses a __device__ or __constant__ variable as if it were its own.",
      "Use cudaMemcpyToSymbol and cudaMemcpyFromSymbol, or declare it __managed__."}},
    {HEDDLE_CHECK_BAD_CALL,
     "this is not a device variable",
     {"The first argument is the variable's address (&), or an argument or local variable of the same name hides it.",
      "Pass the __device__ or __constant__ variable itself, without &. If something in this function has the same "
      "name, "
      "rename one of the two."}},
    {HEDDLE_CHECK_OTHER,
     "cudaDeviceSynchronize in a kernel",
     {"cudaDeviceSynchronize is a call for the host: it waits until the GPU has finished.",
      "In a kernel, use __syncthreads(): it makes the threads of a block wait for each other."}},
    {HEDDLE_CHECK_RACE,
     "read by __ldg of ",
     {"__ldg reads through a cache that is not updated while the kernel runs: no barrier or fence helps.",
      "Use a plain read or __ldcg(), or split the kernel in two between the write and the read."}},
    {HEDDLE_CHECK_RACE,
     "fetch from a texture of ",
     {"Textures are read through a cache that is not updated while the kernel runs: no barrier or fence helps.",
      "Split the kernel in two between the write and the fetch, or read the memory by a plain access."}},
    {HEDDLE_CHECK_RACE,
     "read from a surface of ",
     {"Surfaces are read through a cache that is not updated while the kernel runs: no barrier or fence helps.",
      "Split the kernel in two between the write and the read."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     "cudaGridDependencySynchronize",
     {"The kernel was launched to begin before the one before it has ended, and uses its memory without waiting for "
      "it.",
      "Call cudaGridDependencySynchronize() before the access, or leave out the launch attribute."}},
    {HEDDLE_CHECK_FAULT,
     "pointer to another block's shared memory",
     {"Each block has shared memory of its own. A pointer to it means nothing in another block.",
      "Pass the data itself on, through global memory."}},
    {HEDDLE_CHECK_BAD_CALL,
     " that a kernel allocated (",
     {"Memory from malloc or new in a kernel belongs to the kernels: copies and fills of the host do not reach it.",
      "Copy the data in a kernel into memory from cudaMalloc, and that to the host."}},
    {HEDDLE_CHECK_BAD_CALL,
     "printf: ",
     {"printf takes the arguments as its format says, whatever they are.",
      "Make the format fit the argument: %d for int, %u for unsigned, %zu for size_t, %f for float and double, %p for "
      "pointers; or convert the argument."}},
    {HEDDLE_CHECK_BAD_CALL,
     ": the result is undefined",
     {"The call writes its result in any order, also over what it still has to read.",
      "Give the result memory of its own."}},
    {HEDDLE_CHECK_BAD_CALL,
     "source and destination overlap: ",
     {"A copy may take its bytes in any order, and so read what it has already overwritten.",
      "Copy through another buffer, or move the elements in a kernel that reads them all first."}},
    {HEDDLE_CHECK_OUT_OF_BOUNDS,
     " in constant memory, ",
     {"A kernel writes a __constant__ variable, through a pointer that hides what it points to.",
      "Set it from the host with cudaMemcpyToSymbol, or make it a __device__ variable."}},
    {HEDDLE_CHECK_BAD_CALL,
     ", which the program looks at: ",
     {"The program asks for what this GPU does not have, or the arguments are wrong.",
      "If the program expects that and goes on without the call, nothing needs to change; otherwise check the "
      "arguments."}},
    {HEDDLE_CHECK_OTHER,
     "cudaErrorMemoryAllocation: ",
     {"The GPU's memory is full, or the size is wrong: a negative number, or bytes counted twice. The program goes on "
      "without that memory.",
      "Check what the call returns, and stop if it is not cudaSuccess. Allocate less, free what is no longer used, or "
      "choose a GPU with more memory (--gpu)."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     "grid-wide barrier",
     {"A grid-wide barrier needs all blocks on the GPU at once, which <<<...>>> does not guarantee.",
      "Launch the kernel with cudaLaunchCooperativeKernel and no more blocks than fit at once, or split it into two "
      "launches at the barrier."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     "a cooperative launch needs",
     {"A cooperative launch has more blocks than the GPU can hold at once.",
      "Ask cudaOccupancyMaxActiveBlocksPerMultiprocessor, launch at most that many blocks per multiprocessor, and let "
      "each block loop over its share of the work."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     ") has no blocks",
     {"The number of blocks is zero: a division rounded it down, or there is nothing to do.",
      "Round the number of blocks up: (n + threads - 1) / threads. If n itself is 0, leave out the launch "
      "(`if (n > 0)`)."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     ") has no threads",
     {"The number of blocks or threads was computed from a size that is zero here.",
      "Leave out the launch when there is nothing to do (`if (n > 0)`), and round the number of blocks up: "
      "(n + threads - 1) / threads."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     " threads; the limit is ",
     {"A block has more threads than a GPU can run together.",
      "Use fewer threads per block, at most 1024 in all, and more blocks: (n + threads - 1) / threads of them."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     " threads deep; the limit is ",
     {"The block is too deep: its third size may be 64 at most.",
      "Use the first two sizes of the block for the threads, or more blocks."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     " blocks wide; the limit is ",
     {"The first size of the grid is larger than a GPU accepts, mostly because a negative number became unsigned.",
      "Check how the number of blocks is computed: (n + threads - 1) / threads, with an n that is not negative."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     ": the limit for y and z is ",
     {"The second or third size of the grid is larger than a GPU accepts.",
      "Use the first size of the grid for the largest dimension, or let each thread do several elements."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     "__launch_bounds__ allow",
     {"A block has more threads than the kernel's __launch_bounds__ promise.",
      "Launch no more threads per block than __launch_bounds__ names, or raise that number."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     "are more than a block of this GPU",
     {"The launch asks for more shared memory than a block of this GPU can have.",
      "Use a smaller tile, or choose a GPU with more shared memory (--gpu)."}},
    {HEDDLE_CHECK_BAD_LAUNCH,
     "raise the limit first with cudaFuncSetAttribute",
     {"The launch asks for more than 48 KB of dynamic shared memory, which a kernel has to request.",
      "Call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before the launch, or use "
      "less shared memory."}},
    {HEDDLE_CHECK_BAD_CALL,
     " memory as its ",
     {"The pointers of the copy and its direction disagree.",
      "Swap destination and source (the first two arguments of cudaMemcpy), or change the direction to the one that "
      "fits the pointers."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     "one stream overwrites memory that the other may still read",
     {"A buffer is filled again while another stream may still read it.",
      "Use a second buffer, or an event: record it behind the read (cudaEventRecord), and let the stream that writes "
      "wait "
      "for it (cudaStreamWaitEvent)."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     "the host overwrites memory that the stream may still read",
     {"The host fills a buffer again while a copy or kernel may still read it.",
      "Use a second buffer, or wait before the write: with cudaStreamSynchronize, or with an event recorded behind the "
      "read (cudaEventSynchronize)."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     "the host reads memory",
     {"The host does not wait for the copy or kernel that writes this memory.",
      "Call cudaStreamSynchronize for that stream, or cudaDeviceSynchronize, before the host uses the memory."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     "the host writes memory",
     {"The host does not wait for the copy or kernel that uses this memory.",
      "Call cudaStreamSynchronize for that stream, or cudaDeviceSynchronize, before the host uses the memory."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     "cudaEventElapsedTime",
     {"The host asks for the time before the second event has happened.",
      "Call cudaEventSynchronize for the second event before cudaEventElapsedTime."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     " in another stream, and neither waits",
     {"Nothing orders the two streams; the default stream does not order streams that are non-blocking.",
      "Record an event behind the first use (cudaEventRecord) and let the other stream wait for it "
      "(cudaStreamWaitEvent), or put both into one stream."}},
    {HEDDLE_CHECK_MISSING_WAIT,
     " in streams that do not wait for each other",
     {"Nothing orders the two streams; the default stream does not order streams that are non-blocking.",
      "Record an event behind the first use (cudaEventRecord) and let the other stream wait for it "
      "(cudaStreamWaitEvent), or put both into one stream."}},
    {HEDDLE_CHECK_WARP_MASK,
     ", which does not take part",
     {"A lane reads from one that the mask leaves out or that a branch keeps from the call: there is no value to get.",
      "Let all lanes of the warp make the call, outside of the branch and with the full mask, and give those without "
      "data a neutral value before it (v = i < n ? x[i] : 0)."}},
    {HEDDLE_CHECK_NOT_LEGAL,
     " is called like a function",
     {"A kernel runs only when it is launched: <<<...>>> says by how many blocks of how many threads.",
      "Launch it: kernel<<<(n + 255) / 256, 256>>>(arguments) runs at least n threads, 256 in each block."}},
    {HEDDLE_CHECK_OUT_OF_BOUNDS,
     "gaps between columns",
     {"Sizes, leading dimension and transposition describe a larger matrix than was allocated; libraries are "
      "column-major.",
      "Allocate leading dimension * columns * sizeof(element), the leading dimension being the rows of the matrix as "
      "it is stored, and check the order of m, n, k."}},
    {HEDDLE_CHECK_OUT_OF_BOUNDS,
     "the number of elements and the increment",
     {"The call is given a longer vector than was allocated.",
      "Check the number of elements and the increment: the call touches (n - 1) * increment + 1 elements."}},
    {HEDDLE_CHECK_OUT_OF_BOUNDS,
     "Thrust reads",
     {"The range, or one that must be as long as it, is longer than the memory that its first iterator points to.",
      "Compare the end of the first range with the size of each vector that is given by its beginning alone."}},
    {HEDDLE_CHECK_OUT_OF_BOUNDS,
     "Thrust writes",
     {"The result is longer than the memory that the output iterator points to.",
      "Make the output as large as the result may become: for copy_if and unique, as the input."}},
    {HEDDLE_CHECK_OUT_OF_BOUNDS,
     "dynamic shared memory",
     {"The launch gave the kernel less shared memory than it uses, or an index runs past the end.",
      "Pass the size in bytes as the launch's third argument, count * sizeof(element), or guard the access."}},
};

bool heddle_check_says(const heddle_check_finding *finding, const char *part)
{
    return strstr(finding->message, part) || strstr(finding->note, part);
}

const heddle_check_words *heddle_check_words_by_message(const heddle_check_finding *finding)
{
    for (size_t i = 0; i < sizeof by_message / sizeof *by_message; i++)
        if ((by_message[i].kind == finding->kind || by_message[i].kind == HEDDLE_CHECK_OTHER) &&
            heddle_check_says(finding, by_message[i].says))
            return &by_message[i].words;
    return NULL;
}
