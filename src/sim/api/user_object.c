// Objects of the program that graphs keep alive; graph memory's settings.
#include <stdlib.h>

#include "api/call.h"
#include "api/device.h"
#include "api/graph.h"

SIM_API(cudaUserObjectCreate,
        (cudaUserObject_t * object, void *data, cudaHostFn_t destroy, unsigned int references, unsigned int flags),
        (object, data, destroy, references, flags))
{
    (void)flags;
    if (object == NULL || destroy == NULL || references == 0)
        return sim_fail(cudaErrorInvalidValue, "an object needs a place, a destroy function and a reference");
    *object = malloc(sizeof **object);
    if (*object == NULL)
        return sim_no_memory();
    **object = (struct CUuserObject_st){data, destroy, references};
    return cudaSuccess;
}

SIM_API(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count), (object, count))
{
    if (object == NULL || count == 0)
        return sim_fail(cudaErrorInvalidValue, "nothing to retain");
    object->references += count;
    return cudaSuccess;
}

SIM_API(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count), (object, count))
{
    if (object == NULL || count == 0)
        return sim_fail(cudaErrorInvalidValue, "nothing to release");
    sim_user_object_release(object, count);
    return cudaSuccess;
}

SIM_API(cudaGraphRetainUserObject,
        (cudaGraph_t handle, cudaUserObject_t object, unsigned int count, unsigned int flags),
        (handle, object, count, flags))
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

SIM_API(cudaGraphReleaseUserObject, (cudaGraph_t handle, cudaUserObject_t object, unsigned int count),
        (handle, object, count))
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

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    return SIM_CALL(sim_device_check(device));
}

SIM_API(cudaDeviceGetGraphMemAttribute, (int device, enum cudaGraphMemAttributeType attribute, void *value),
        (device, attribute, value))
{
    (void)attribute;
    const cudaError_t error = sim_device_check(device);
    if (error == cudaSuccess && value != NULL)
        *(unsigned long long *)value = 0; // a graph's memory is counted with the rest
    return error;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    (void)attribute, (void)value;
    return SIM_CALL(sim_device_check(device));
}
