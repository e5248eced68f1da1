// The runtime API's copies between pointers: 1-D, 2-D, 3-D, between devices, and of device variables. Those with arrays
// are in array.c.
#include <ctype.h>
#include <string.h>

#include "api/call.h"
#include "api/copy.h"
#include "api/kernel_memory.h"
#include "api/pointer.h"
#include "api/variable.h"
#include "program/program.h"
#include "sim/texture.h"

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const sim_copy_request request = sim_copy_flat(to, from, bytes, kind);
    return SIM_CALL(sim_copy_now(&request));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const sim_copy_request request = sim_copy_flat(to, from, bytes, kind);
    return sim_current != NULL ? sim_kernel_copy(to, from, bytes, kind, stream, SIM_CALLER)
                               : SIM_CALL(sim_copy_in(&request, stream));
}

static cudaError_t check_devices(int to, int from)
{
    if (to == 0 && from == 0)
        return cudaSuccess;
    return sim_fail(cudaErrorInvalidDevice, "there is only device 0, not %d", to != 0 ? to : from);
}

static cudaError_t copy_peer(const sim_copy_request *request, int to_device, int from_device)
{
    const cudaError_t error = check_devices(to_device, from_device);
    return error == cudaSuccess ? sim_copy_now(request) : error;
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    const sim_copy_request request = sim_copy_flat(to, from, bytes, cudaMemcpyDeviceToDevice);
    return SIM_CALL(copy_peer(&request, to_device, from_device));
}

static cudaError_t copy_peer_in(const sim_copy_request *request, int to_device, int from_device, cudaStream_t stream)
{
    const cudaError_t error = check_devices(to_device, from_device);
    return error == cudaSuccess ? sim_copy_in(request, stream) : error;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t stream)
{
    const sim_copy_request request = sim_copy_flat(to, from, bytes, cudaMemcpyDeviceToDevice);
    return SIM_CALL(copy_peer_in(&request, to_device, from_device, stream));
}

static sim_copy_request plane(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind)
{
    return (sim_copy_request){to,     from, to_pitch, to_pitch * height, from_pitch, from_pitch * height, width,
                              height, 1,    kind};
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    const sim_copy_request request = plane(to, to_pitch, from, from_pitch, width, height, kind);
    return SIM_CALL(sim_copy_now(&request));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const sim_copy_request request = plane(to, to_pitch, from, from_pitch, width, height, kind);
    return SIM_CALL(sim_copy_in(&request, stream));
}

// --- 3-D ------------------------------------------------------------------------------------------------------------

// Positions and widths are in bytes for pointers, in elements for arrays; with an array on either side the extent's
// width is in elements.
static uint8_t *corner(struct cudaArray *array, const struct cudaPitchedPtr *pointer, const struct cudaPos *at,
                       size_t *pitch, size_t *slice)
{
    if (array != NULL) {
        *pitch = array->pitch;
        *slice = array->slice;
        return (uint8_t *)array->data + at->z * array->slice + at->y * array->pitch + at->x * array->element;
    }
    *pitch = pointer->pitch;
    *slice = pointer->pitch * pointer->ysize;
    return (uint8_t *)pointer->ptr + at->z * *slice + at->y * *pitch + at->x;
}

cudaError_t sim_copy_rows(sim_copy_request *request, const struct cudaMemcpy3DParms *parameters)
{
    if (parameters == NULL)
        return sim_fail(cudaErrorInvalidValue, "the parameters are NULL");
    if ((parameters->srcArray == NULL) == (parameters->srcPtr.ptr == NULL) ||
        (parameters->dstArray == NULL) == (parameters->dstPtr.ptr == NULL))
        return sim_fail(cudaErrorInvalidValue,
                        "source and destination must each be an array or a pointer, one of the two");
    struct cudaArray *array = parameters->srcArray != NULL ? parameters->srcArray : parameters->dstArray;
    *request = (sim_copy_request){.height = parameters->extent.height,
                                  .depth = parameters->extent.depth,
                                  .width = parameters->extent.width * (array != NULL ? array->element : 1),
                                  .kind = parameters->kind};
    request->to =
        corner(parameters->dstArray, &parameters->dstPtr, &parameters->dstPos, &request->to_pitch, &request->to_slice);
    request->from = corner(parameters->srcArray, &parameters->srcPtr, &parameters->srcPos, &request->from_pitch,
                           &request->from_slice);
    return cudaSuccess;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *parameters)
{
    sim_copy_request request;
    const cudaError_t error = sim_copy_rows(&request, parameters);
    return error == cudaSuccess ? sim_copy_now(&request) : error;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *parameters)
{
    return SIM_CALL(copy_3d(parameters));
}

static cudaError_t copy_3d_in(const struct cudaMemcpy3DParms *parameters, cudaStream_t stream)
{
    sim_copy_request request;
    const cudaError_t error = sim_copy_rows(&request, parameters);
    return error == cudaSuccess ? sim_copy_in(&request, stream) : error;
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *parameters, cudaStream_t stream)
{
    return SIM_CALL(copy_3d_in(parameters, stream));
}

static struct cudaMemcpy3DParms of_peers(const struct cudaMemcpy3DPeerParms *parameters)
{
    return (struct cudaMemcpy3DParms){.srcArray = parameters->srcArray,
                                      .srcPos = parameters->srcPos,
                                      .srcPtr = parameters->srcPtr,
                                      .dstArray = parameters->dstArray,
                                      .dstPos = parameters->dstPos,
                                      .dstPtr = parameters->dstPtr,
                                      .extent = parameters->extent,
                                      .kind = cudaMemcpyDeviceToDevice};
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *parameters)
{
    const struct cudaMemcpy3DParms same = of_peers(parameters);
    return SIM_CALL(copy_3d(&same));
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *parameters, cudaStream_t stream)
{
    const struct cudaMemcpy3DParms same = of_peers(parameters);
    return SIM_CALL(copy_3d_in(&same, stream));
}

// --- device variables -----------------------------------------------------------------------------------------------

// What is asked of a symbol.
typedef enum use { USE_READ, USE_WRITTEN, USE_NAMED } use;

static bool is_writable(const void *symbol)
{
    const sim_module *module = sim_module_self();
    return (uintptr_t)symbol - module->data_lo < module->data_hi - module->data_lo;
}

static bool is_identifier(const char *text)
{
    size_t i = 0;
    while (isalnum((unsigned char)text[i]) || text[i] == '_')
        i++;
    return i > 0 && text[i] == '\0' && !isdigit((unsigned char)text[0]);
}

// CUDA 4 took a variable's name in quotes. A literal has no name of its own and cannot be written to. A constant that
// holds text loses its name where a compiler has merged it with an equal literal: so text that names no variable, of
// which the whole is read, is taken for one.
static bool is_string(const char *symbol, size_t size, use wanted, size_t bytes)
{
    sim_symbol named;
    if (size < 2 || strnlen(symbol, size) != size - 1 || is_writable(symbol))
        return false;
    if (sim_symbol_at((uintptr_t)symbol, &named) && named.start == (uintptr_t)symbol)
        return false;
    if (wanted == USE_WRITTEN || sim_symbol_is_variable(symbol))
        return true;
    return wanted == USE_READ && is_identifier(symbol) && bytes != size && bytes != size - 1;
}

// A variable lies in the program itself. What does not is a pointer that was given in its place: &counter.
static cudaError_t check_variable(const void *symbol, use wanted, size_t bytes)
{
    const sim_module *module = sim_module_self();
    const uintptr_t address = (uintptr_t)symbol;
    const void *start;
    size_t size;
    if (symbol == NULL)
        return sim_fail(cudaErrorInvalidSymbol, "the symbol is NULL");
    if (address < module->image_lo || address >= module->image_hi)
        return sim_fail(cudaErrorInvalidSymbol, "this is not a device variable");
    if (sim_symbol_find(symbol, &start, &size) && is_string(start, size, wanted, bytes))
        return sim_fail(cudaErrorInvalidSymbol, "\"%s\" is a string: pass the variable itself, without quotes",
                        (const char *)start);
    return cudaSuccess;
}

static cudaError_t check_symbol(const void *symbol, size_t bytes, size_t offset, use wanted)
{
    const void *start;
    size_t size;
    const cudaError_t error = check_variable(symbol, wanted, bytes);
    if (error != cudaSuccess)
        return error;
    if (!sim_symbol_find(symbol, &start, &size))
        return cudaSuccess;
    if (offset + bytes > size)
        return sim_fail_as(SIM_OUT_OF_BOUNDS, SIM_ERROR, cudaErrorInvalidValue, (uintptr_t)start + offset, bytes,
                           "bytes %zu to %zu of a variable that has %zu", offset, offset + bytes, size);
    return cudaSuccess;
}

static sim_copy_request to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                  enum cudaMemcpyKind kind)
{
    return sim_copy_flat((uint8_t *)(uintptr_t)symbol + offset, from, bytes, kind);
}

static sim_copy_request from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    return sim_copy_flat(to, (const uint8_t *)symbol + offset, bytes, kind);
}

static cudaError_t symbol_now(const void *symbol, size_t offset, const sim_copy_request *request, use wanted)
{
    const cudaError_t error = check_symbol(symbol, request->width, offset, wanted);
    return error == cudaSuccess ? sim_copy_now(request) : error;
}

static cudaError_t symbol_in(const void *symbol, size_t offset, const sim_copy_request *request, use wanted,
                             cudaStream_t stream)
{
    const cudaError_t error = check_symbol(symbol, request->width, offset, wanted);
    return error == cudaSuccess ? sim_copy_in(request, stream) : error;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    const sim_copy_request request = to_symbol(symbol, from, bytes, offset, kind);
    return SIM_CALL(symbol_now(symbol, offset, &request, USE_WRITTEN));
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    const sim_copy_request request = from_symbol(to, symbol, bytes, offset, kind);
    return SIM_CALL(symbol_now(symbol, offset, &request, USE_READ));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const sim_copy_request request = to_symbol(symbol, from, bytes, offset, kind);
    return SIM_CALL(symbol_in(symbol, offset, &request, USE_WRITTEN, stream));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const sim_copy_request request = from_symbol(to, symbol, bytes, offset, kind);
    return SIM_CALL(symbol_in(symbol, offset, &request, USE_READ, stream));
}

SIM_API(cudaGetSymbolAddress, (void **memory, const void *symbol), (memory, symbol))
{
    if (memory == NULL)
        return sim_fail(cudaErrorInvalidSymbol, "the output argument for the address is NULL");
    const cudaError_t error = check_variable(symbol, USE_NAMED, 0);
    if (error != cudaSuccess)
        return error;
    const void *start;
    size_t bytes;
    sim_symbol named;
    if (sim_symbol_find(symbol, &start, &bytes))
        sim_variable_addressed(start, bytes);
    else if (sim_symbol_at((uintptr_t)symbol, &named)) // its address was given, as a const void *
        sim_variable_addressed(symbol, named.start + named.bytes - (uintptr_t)symbol);
    *memory = (void *)(uintptr_t)symbol;
    return cudaSuccess;
}

SIM_API(cudaGetSymbolSize, (size_t * bytes, const void *symbol), (bytes, symbol))
{
    const void *start;
    const cudaError_t error = check_variable(symbol, USE_NAMED, 0);
    if (error != cudaSuccess)
        return error;
    if (bytes == NULL || !sim_symbol_find(symbol, &start, bytes))
        return sim_fail(cudaErrorInvalidSymbol, "no device variable is known there");
    return cudaSuccess;
}
