// Objects of the program that graphs keep alive; graph memory's settings.
#include <stdlib.h>

#include "api/call.h"
#include "api/device.h"
#include "api/graph.h"

static cudaError_t create(cudaUserObject_t *object, void *data, cudaHostFn_t destroy, unsigned references)
{
    if (object == NULL || destroy == NULL || references == 0)
        return sim_fail(cudaErrorInvalidValue, "an object needs a place, a destroy function and a reference");
    *object = malloc(sizeof **object);
    if (*object == NULL)
        return sim_no_memory();
    **object = (struct CUuserObject_st){data, destroy, references};
    return cudaSuccess;
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy, unsigned int references,
                                 unsigned int flags)
{
    (void)flags;
    return SIM_CALL(create(object, data, destroy, references));
}

static cudaError_t retain(cudaUserObject_t object, unsigned count)
{
    if (object == NULL || count == 0)
        return sim_fail(cudaErrorInvalidValue, "there is nothing to retain");
    object->references += count;
    return cudaSuccess;
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count)
{
    return SIM_CALL(retain(object, count));
}

static cudaError_t release(cudaUserObject_t object, unsigned count)
{
    if (object == NULL || count == 0)
        return sim_fail(cudaErrorInvalidValue, "there is nothing to release");
    sim_user_object_release(object, count);
    return cudaSuccess;
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count)
{
    return SIM_CALL(release(object, count));
}

static cudaError_t graph_retain(cudaGraph_t handle, cudaUserObject_t object, unsigned count, unsigned flags)
{
    struct CUgraph_st *graph = sim_graph_of(handle);
    if (graph == NULL || object == NULL)
        return cudaErrorInvalidValue;
    sim_held_object *larger = realloc(graph->held, (graph->held_count + 1) * sizeof *larger);
    if (larger == NULL)
        return sim_no_memory();
    graph->held = larger;
    graph->held[graph->held_count++] = (sim_held_object){object, count};
    if (!(flags & cudaGraphUserObjectMove))
        object->references += count;
    return cudaSuccess;
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                      unsigned int flags)
{
    return SIM_CALL(graph_retain(graph, object, count, flags));
}

static cudaError_t graph_release(cudaGraph_t handle, cudaUserObject_t object, unsigned count)
{
    struct CUgraph_st *graph = sim_graph_of(handle);
    for (size_t i = 0; graph != NULL && i < graph->held_count; i++) {
        if (graph->held[i].object != object || graph->held[i].count < count)
            continue;
        graph->held[i].count -= count;
        if (graph->held[i].count == 0)
            graph->held[i] = graph->held[--graph->held_count];
        sim_user_object_release(object, count);
        return cudaSuccess;
    }
    return sim_fail(cudaErrorInvalidValue, "the graph does not hold this object");
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count)
{
    return SIM_CALL(graph_release(graph, object, count));
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return SIM_CALL(sim_device_check(device));
}

static cudaError_t get_graph_memory(int device, void *value)
{
    const cudaError_t error = sim_device_check(device);
    if (error == cudaSuccess && value != NULL)
        *(unsigned long long *)value = 0; // a graph's memory is counted with the rest
    return error;
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    (void)attribute;
    return SIM_CALL(get_graph_memory(device, value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    (void)attribute, (void)value;
    return SIM_CALL(sim_device_check(device));
}
