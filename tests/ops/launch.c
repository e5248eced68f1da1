// Running a rung on the device under test: on cpu with the call as it is, on sim and cuda with its operands copied
// there and back. Everything else in the harness looks at host memory only.

#include <stdlib.h>
#include <string.h>

#include "device/module.h"
#include "harness.h"
#include "under_test.h"

enum {
    GUARD_BYTES = 256,     // on cuda, on both sides of an operand
    ALIGNMENT_BYTES = 256, // an operand lies as far from a multiple of it as on the host
    GUARD_VALUE = 0xa5,
    POISON_VALUE = 0xff,
    WORKSPACE = HARNESS_OPERANDS,
};

static heddle_device *device;
static heddle_stream *stream;

const char *harness_device_name(void)
{
    return device_under_test("cpu");
}

static heddle_status open_device(void);

// CUTLASS is headers that few machines have; a build without them is whole, and `heddle doctor` says what it lacks. Any
// other rung that is in a table must be there.
static bool is_built(const heddle_rung *rung)
{
    if (!rung->gpu_only || strcmp(rung->gpu_only, "CUTLASS") != 0 || open_device() != HEDDLE_OK)
        return true;
    for (int i = 0; i < heddle_op_count(); i++) {
        const heddle_op *op = heddle_op_at(i);
        if (rung >= op->ladder && rung < op->ladder + op->rungs)
            return heddle_module_has_rung(HEDDLE_CUDA, op->name, rung);
    }
    return true;
}

// What the card can run is known once its module is loaded. Where that fails every launch does, and says so.
static bool is_for_card(heddle_device_kind kind, const heddle_rung *rung)
{
    static bool loaded;
    if (kind == HEDDLE_CPU)
        return true;
    loaded = loaded || open_device() == HEDDLE_OK;
    return !loaded || heddle_module_can_run(kind, rung);
}

bool harness_runs(const heddle_rung *rung)
{
    const char *own = getenv("HEDDLE_TEST_OWN_RUNGS"); // a vendor's kernels are not ours to sanitise
    if (own && own[0] && rung->tier == HEDDLE_VENDOR)
        return false;
    const char *only = getenv("HEDDLE_TEST_RUNG"); // one at a time, where a tool makes all of them take too long
    if (only && only[0] && strcmp(only, rung->name) != 0)
        return false;
    static const heddle_device_kind kinds[] = {HEDDLE_CPU, HEDDLE_CUDA, HEDDLE_SIM};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(harness_device_name(), heddle_device_kind_name(kinds[i])) == 0)
            return heddle_rung_runs_on(rung, kinds[i]) && is_built(rung) && is_for_card(kinds[i], rung);
    return false;
}

bool harness_has_rung(const heddle_op *op)
{
    for (int r = 0; r < op->rungs; r++)
        if (harness_runs(&op->ladder[r]))
            return true;
    return false;
}

bool harness_is_reference(const heddle_rung *rung)
{
    return strcmp(rung->name, "cpu_reference") == 0;
}

bool harness_compares(const heddle_op *op)
{
    for (int r = 0; r < op->rungs; r++)
        if (harness_runs(&op->ladder[r]) && !harness_is_reference(&op->ladder[r]))
            return true;
    return false;
}

static void close_device(void)
{
    heddle_stream_destroy(stream);
    heddle_device_close(device);
    stream = NULL;
    device = NULL;
}

static heddle_status open_device(void)
{
    if (device)
        return HEDDLE_OK;
    HEDDLE_TRY(heddle_device_open(harness_device_name(), 0, &device));
    HEDDLE_TRY(heddle_stream_create(device, 0, &stream));
    static bool registered;
    if (!registered)
        atexit(close_device);
    registered = true;
    return HEDDLE_OK;
}

// --- operands on the device -----------------------------------------------------------------------------------------

typedef struct device_operand {
    const void *host; // what it is a copy of; NULL: left out, or the workspace
    unsigned char *memory;
    size_t before, bytes, after; // unused bytes around it: to be off alignment, and guards
    bool on_host;                // the rung wants it in host memory: it is pinned there
} device_operand;

// The simulator itself sees an access outside an allocation, if there is nothing around it; a GPU may not.
static size_t guard_bytes(void)
{
    return heddle_device_get_kind(device) == HEDDLE_SIM ? 0 : GUARD_BYTES;
}

static heddle_status create_pinned(device_operand *operand)
{
    size_t size = operand->before + operand->bytes + operand->after;
    HEDDLE_TRY(heddle_alloc_pinned(device, size, (void **)&operand->memory));
    if (size == 0)
        return HEDDLE_OK;
    memset(operand->memory, GUARD_VALUE, size);
    memcpy(operand->memory + operand->before, operand->host, operand->bytes);
    return HEDDLE_OK;
}

static heddle_status create_operand(device_operand *operand, const void *host, size_t bytes)
{
    operand->host = host;
    operand->before = guard_bytes() + (uintptr_t)host % ALIGNMENT_BYTES;
    operand->bytes = bytes;
    operand->after = guard_bytes();
    if (operand->on_host)
        return create_pinned(operand);
    HEDDLE_TRY(heddle_alloc(device, operand->before + bytes + operand->after, (void **)&operand->memory));
    if (guard_bytes() > 0)
        HEDDLE_TRY(heddle_fill(stream, operand->memory, GUARD_VALUE, operand->before + bytes + operand->after));
    if (bytes == 0)
        return HEDDLE_OK;
    return host ? heddle_copy(stream, operand->memory + operand->before, host, bytes)
                : heddle_fill(stream, operand->memory + operand->before, POISON_VALUE, bytes);
}

// Operands that are one array on the host are one on the device.
static const device_operand *same_array(const device_operand *operands, int count, const void *host)
{
    for (int i = 0; i < count; i++)
        if (operands[i].host == host)
            return &operands[i];
    return NULL;
}

static heddle_status upload(const heddle_op *op, const heddle_rung *rung, heddle_call *call, device_operand *operands)
{
    for (int i = 0; i < op->operand_count; i++) {
        int slot;
        bool output = heddle_operand_slot(op, i, &slot);
        const void *host = output ? call->output[slot] : call->input[slot];
        if (!host)
            continue;
        const device_operand *same = same_array(operands, i, host);
        operands[i].on_host = op->operands[i].on_host;
        size_t bytes = heddle_operand_bytes(op, i, call->shape);
        if (!same)
            HEDDLE_TRY(create_operand(&operands[i], host, bytes));
        else
            operands[i].bytes = bytes;
        const device_operand *used = same ? same : &operands[i];
        void *memory = used->memory ? used->memory + used->before : NULL;
        if (output)
            call->output[slot] = memory;
        else
            call->input[slot] = memory;
    }
    size_t workspace = rung->workspace ? rung->workspace(call->shape, 0) : 0;
    call->workspace = NULL;
    if (workspace == 0)
        return HEDDLE_OK;
    HEDDLE_TRY(create_operand(&operands[WORKSPACE], NULL, workspace));
    call->workspace = operands[WORKSPACE].memory + operands[WORKSPACE].before;
    return HEDDLE_OK;
}

static heddle_status check_guards(const device_operand *operand, const char *name)
{
    if (!operand->memory || guard_bytes() == 0)
        return HEDDLE_OK;
    size_t size = operand->before + operand->bytes + operand->after;
    unsigned char *copy = malloc(size);
    heddle_status status = heddle_copy(stream, copy, operand->memory, size);
    if (status == HEDDLE_OK)
        status = heddle_stream_synchronize(stream);
    for (size_t i = 0; status == HEDDLE_OK && i < size; i++)
        if ((i < operand->before || i >= operand->before + operand->bytes) && copy[i] != GUARD_VALUE)
            status = heddle_fail(HEDDLE_DEVICE, "wrote outside '%s', %zu bytes from its start", name,
                                 i > operand->before ? i - operand->before : operand->before - i);
    free(copy);
    return status;
}

static heddle_status check_unchanged(const device_operand *operand, const char *name)
{
    unsigned char *copy = malloc(operand->bytes + 1);
    heddle_status status = heddle_copy(stream, copy, operand->memory + operand->before, operand->bytes);
    if (status == HEDDLE_OK)
        status = heddle_stream_synchronize(stream);
    if (status == HEDDLE_OK && memcmp(copy, operand->host, operand->bytes) != 0)
        status = heddle_fail(HEDDLE_DEVICE, "changed input '%s'", name);
    free(copy);
    return status;
}

static bool is_output(const heddle_op *op, const heddle_call *call, const void *memory)
{
    int slot;
    for (int i = 0; i < op->operand_count; i++)
        if (heddle_operand_slot(op, i, &slot) && call->output[slot] == memory)
            return true;
    return false;
}

static heddle_status download(const heddle_op *op, const heddle_call *host, const heddle_call *call,
                              const device_operand *operands)
{
    for (int i = 0; i < op->operand_count; i++) {
        const device_operand *operand = &operands[i];
        const char *name = op->operands[i].name;
        int slot;
        if (heddle_operand_slot(op, i, &slot))
            HEDDLE_TRY(
                heddle_copy(stream, host->output[slot], call->output[slot], call->output[slot] ? operand->bytes : 0));
        else if (operand->memory && !is_output(op, host, operand->host))
            HEDDLE_TRY(check_unchanged(operand, name));
        HEDDLE_TRY(check_guards(operand, name));
    }
    HEDDLE_TRY(check_guards(&operands[WORKSPACE], "workspace"));
    return heddle_stream_synchronize(stream);
}

static heddle_status launch_there(const heddle_op *op, const heddle_rung *rung, const heddle_call *host)
{
    device_operand operands[HARNESS_OPERANDS + 1] = {{0}};
    unsigned char shape[HEDDLE_MAX_SHAPE_BYTES];
    heddle_call call = *host;
    HEDDLE_TRY(open_device());
    call.stream = stream;
    heddle_status status = upload(op, rung, &call, operands);
    if (status == HEDDLE_OK) {
        memcpy(shape, host->shape, op->shape_size);
        call.shape = shape;
        status = heddle_launch(op, rung, &call);
        memset(shape, 0xff, sizeof shape); // the caller's may be gone before the kernel runs
    }
    if (status == HEDDLE_OK)
        status = heddle_stream_synchronize(stream);
    if (status == HEDDLE_OK)
        status = download(op, host, &call, operands);
    for (int i = 0; i <= HARNESS_OPERANDS; i++)
        operands[i].on_host ? heddle_free_pinned(device, operands[i].memory) : heddle_free(device, operands[i].memory);
    return status;
}

heddle_status harness_launch(const heddle_op *op, const heddle_rung *rung, const heddle_call *call)
{
    return rung->device == HEDDLE_CPU ? heddle_launch(op, rung, call) : launch_there(op, rung, call);
}
