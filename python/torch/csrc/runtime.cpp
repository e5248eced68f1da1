// Devices, streams and launches. PyTorch is reached by its stable interface alone, so that one binary serves several
// versions; the CUDA runtime is not linked at all: heddle's own module brings it.

#include "runtime.h"

#include <dlfcn.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <optional>

#include <torch/csrc/stable/accelerator.h>

namespace heddle_torch
{

static void must(heddle_status status)
{
    require(status == HEDDLE_OK, "heddle: ", heddle_last_error());
}

// --- devices and streams --------------------------------------------------------------------------------------------

static heddle_device *device_of(bool cuda, int index)
{
    static std::mutex lock;
    static std::map<int, heddle_device *> opened; // -1: the CPU
    static pid_t owner = 0;                       // a forked child has no threads of its parent's device
    std::lock_guard<std::mutex> hold(lock);
    if (owner != getpid())
        opened.clear();
    owner = getpid();
    heddle_device *&device = opened[cuda ? index : -1];
    if (!device) {
        std::string name = cuda ? "cuda:" + std::to_string(index) : "cpu";
        must(heddle_device_open(name.c_str(), (int)torch::stable::get_num_threads(), &device));
    }
    return device;
}

// PyTorch's CUDA library is not linked, because a PyTorch for the CPU has none; where tensors are on a GPU it is
// loaded.
static void *current_cuda_stream(int index)
{
    typedef AOTITorchError get_stream(int32_t, void **);
    static get_stream *const get = [] {
        void *library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
        return library ? (get_stream *)dlsym(library, "aoti_torch_get_current_cuda_stream") : nullptr;
    }();
    require(get, "heddle: PyTorch's CUDA library has no aoti_torch_get_current_cuda_stream");
    void *stream = nullptr;
    TORCH_ERROR_CODE_CHECK(get(index, &stream));
    return stream;
}

// A GPU's: one over PyTorch's, kept, because it is two words and PyTorch's own are never destroyed. The CPU's: one of
// each thread, so that a failure is told to the thread that asked.
static heddle_stream *stream_of(bool cuda, int index)
{
    heddle_device *device = device_of(cuda, index);
    heddle_stream *stream = nullptr;
    if (!cuda) {
        static thread_local heddle_stream *own = nullptr;
        static thread_local heddle_device *of = nullptr;
        if (of != device) {
            must(heddle_stream_create(device, 0, &own));
            of = device;
        }
        return own;
    }
    static std::mutex lock;
    static std::map<std::pair<int, void *>, heddle_stream *> known;
    void *native = current_cuda_stream(index);
    std::lock_guard<std::mutex> hold(lock);
    heddle_stream *&wrapped = known[{index, native}];
    if (!wrapped) {
        must(heddle_stream_wrap(device, native, &stream));
        wrapped = stream;
    }
    return wrapped;
}

// --- launching ------------------------------------------------------------------------------------------------------

static const heddle_rung *rung_of(const heddle_op *op, const Call &call, heddle_device_kind kind)
{
    const heddle_rung *rung = nullptr;
    if (!call.rung.empty()) {
        must(heddle_rung_find(op, call.rung.c_str(), &rung));
        if (heddle_rung_runs_on(rung, kind) && (!rung->supports || rung->supports(call.shape)))
            return rung;
        require(call.unsupported_is_best || heddle_rung_runs_on(rung, kind), "heddle: ", op->name, ": rung ", call.rung,
                " runs on ", heddle_device_kind_name(rung->device), ", the tensors are on ",
                heddle_device_kind_name(kind));
        if (!call.unsupported_is_best)
            return rung; // heddle_launch says what is wrong with the shape
    }
    must(heddle_rung_choose(op, kind, call.tier, call.arithmetic, call.shape, &rung));
    return rung;
}

static void place_operands(const heddle_op *op, heddle_call *call, std::initializer_list<Operand> operands)
{
    for (const Operand &operand : operands) {
        int slot = 0, index = heddle_operand_find(op, operand.name);
        require(index >= 0, "heddle: ", op->name, " has no operand ", operand.name);
        if (heddle_operand_slot(op, index, &slot))
            call->output[slot] = const_cast<void *>(operand.memory);
        else
            call->input[slot] = operand.memory;
    }
}

// Work so small that handing it to other threads takes longer: it is done by the thread that asks.
static bool is_small(const heddle_op *op, const void *shape)
{
    const double little = 1 << 18; // operations and bytes
    const heddle_cost cost = op->cost(shape);
    return cost.flops + cost.bytes_read + cost.bytes_written < little;
}

void launch(const Call &call, std::initializer_list<Operand> operands)
{
    const heddle_op *op = nullptr;
    must(heddle_op_find(call.op, &op));
    must(heddle_shape_validate(op, call.shape));
    const bool cuda = call.place.is_cuda();
    const int index = cuda ? call.place.get_device_index() : 0;
    // heddle makes the tensors' GPU current, and asks the current one what it can; afterwards it is the caller's again.
    std::optional<torch::stable::accelerator::DeviceGuard> guard;
    if (cuda)
        guard.emplace(index);
    heddle_stream *stream = !cuda && is_small(op, call.shape) ? nullptr : stream_of(cuda, index);
    const heddle_rung *rung = rung_of(op, call, cuda ? HEDDLE_CUDA : HEDDLE_CPU);
    heddle_call made = {};
    made.shape = call.shape;
    made.stream = stream;
    place_operands(op, &made, operands);

    heddle_device_info info = {};
    info.threads = 1;
    if (rung->workspace && !cuda && stream)
        must(heddle_device_describe(heddle_stream_device(stream), &info));
    size_t bytes = rung->workspace ? rung->workspace(call.shape, info.threads) : 0;
    Tensor scratch = call.place;
    if (bytes > 0) {
        const size_t alignment = 256; // the CPU's allocator gives 64
        const int64_t size[] = {(int64_t)(bytes + alignment)};
        scratch = torch::stable::empty(size, ScalarType::Byte, std::nullopt, call.place.device());
        made.workspace = (void *)(((uintptr_t)scratch.data_ptr() + alignment - 1) / alignment * alignment);
    }
    if (!cuda) {
        must(heddle_launch(op, rung, &made));
        if (stream)
            must(heddle_stream_synchronize(stream));
        return;
    }
    must(heddle_launch(op, rung, &made));
}

std::string rungs(std::string name, std::string device)
{
    const heddle_op *op = nullptr;
    must(heddle_op_find(name.c_str(), &op));
    heddle_device_kind kind = device == "cuda" ? HEDDLE_CUDA : HEDDLE_CPU;
    std::string names;
    for (int i = 0; i < op->rungs; i++)
        if (heddle_rung_runs_on(&op->ladder[i], kind))
            names += std::string(op->ladder[i].name) + "\n";
    return names;
}

void check(const Tensor &tensor, const Tensor &place, ScalarType type, const char *op, const char *what)
{
    require(tensor.is_cpu() || tensor.is_cuda(), "heddle.", op, ": ", what, " is neither on the CPU nor on a CUDA GPU");
    require(tensor.is_cuda() == place.is_cuda() && tensor.get_device_index() == place.get_device_index(), "heddle.", op,
            ": ", what, " is on another device than the first tensor");
    require(tensor.scalar_type() == type, "heddle.", op, ": ", what, " must be ", torch::headeronly::toString(type),
            ", not ", torch::headeronly::toString(tensor.scalar_type()));
}

} // namespace heddle_torch
