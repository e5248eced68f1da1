// What a device backend is: a struct of functions behind include/heddle/device.h. `cpu` is built in; `cuda` and `sim`
// are modules that provide the same struct. The layer above (open.c, device.c, stream.c) has checked that no argument
// is NULL, that streams, events and graphs of one call are of one device, and keeps the list of live allocations; a
// backend does the rest. Members marked optional may be NULL.
#pragma once

#include "device/allocations.h"
#include "device/device.h"
#include "heddle/device.h"

typedef struct heddle_backend heddle_backend;

// Each backend's own objects start with these.
struct heddle_device {
    const heddle_backend *backend;
    heddle_allocations allocations; // the upper layer's
};
struct heddle_stream {
    heddle_device *device;
};
struct heddle_event {
    heddle_device *device;
};
struct heddle_graph {
    heddle_device *device;
};

struct heddle_backend {
    heddle_device_kind kind;

    // `index` is the number behind the colon, 0 without one. Sets all of *device but its two base members.
    heddle_status (*open)(int index, int threads, heddle_device **device);
    // Closing is finish, which gives up captures, waits for all work and returns a failure that nobody has asked about;
    // then memory is freed, then close.
    heddle_status (*finish)(heddle_device *device);
    void (*close)(heddle_device *device);
    heddle_status (*describe)(heddle_device *device, heddle_device_info *info);
    heddle_status (*synchronize)(heddle_device *device);

    // bytes > 0, and freed with the same number.
    heddle_status (*alloc)(heddle_device *device, size_t bytes, void **memory);
    void (*free)(heddle_device *device, void *memory, size_t bytes);
    heddle_status (*alloc_pinned)(heddle_device *device, size_t bytes, void **memory);
    void (*free_pinned)(heddle_device *device, void *memory, size_t bytes);

    heddle_status (*stream_create)(heddle_device *device, heddle_stream_kind kind, int priority,
                                   heddle_stream **stream);
    // Optional, both: of a stream that another library made.
    heddle_status (*stream_wrap)(heddle_device *device, void *native, heddle_stream **stream);
    void *(*stream_native)(heddle_stream *stream);
    heddle_status (*stream_destroy)(heddle_stream *stream);
    heddle_status (*stream_synchronize)(heddle_stream *stream);
    heddle_status (*stream_query)(heddle_stream *stream, bool *done);
    heddle_status (*stream_wait)(heddle_stream *stream, heddle_event *event);
    heddle_status (*copy)(heddle_stream *stream, void *to, const void *from, size_t bytes); // bytes > 0
    heddle_status (*fill)(heddle_stream *stream, void *memory, uint8_t value, size_t bytes);
    heddle_status (*callback)(heddle_stream *stream, heddle_host_function *function, void *context);

    heddle_status (*event_create)(heddle_device *device, heddle_event **event);
    heddle_status (*event_destroy)(heddle_event *event);
    heddle_status (*event_record)(heddle_event *event, heddle_stream *stream);
    heddle_status (*event_synchronize)(heddle_event *event);
    heddle_status (*event_query)(heddle_event *event, bool *done);
    heddle_status (*event_elapsed)(heddle_event *start, heddle_event *end, double *milliseconds);

    heddle_status (*capture_begin)(heddle_stream *stream);
    heddle_status (*capture_end)(heddle_stream *stream, heddle_graph **graph);
    heddle_status (*graph_launch)(heddle_graph *graph, heddle_stream *stream);
    heddle_status (*graph_destroy)(heddle_graph *graph);

    // Optional: where operators run on the host.
    heddle_pool *(*pool)(heddle_device *device);
    heddle_status (*submit)(heddle_stream *stream, heddle_work *work, const void *arguments, size_t size);
    // Optional: the launcher of a rung that came with the device's module; NULL: it has none of that name.
    heddle_status (*(*launcher)(const char *op, const char *rung))(const heddle_call *call);
    // Optional: the compute capability of the card this thread used last, 90 for sm_90.
    int (*capability)(void);
    // Optional: the bytes of shared memory that a block of that card may have, where it asks for them.
    int (*shared_bytes)(void);
    // Optional: lines that a program has told the second-level cache to keep are kept no longer.
    heddle_status (*reset_cache)(heddle_device *device);
    // Optional: bytes of that cache that are set aside for such lines.
    heddle_status (*kept_cache)(heddle_device *device, size_t *bytes);
    // Optional: everything that is known of the device, as rows of text; returns how many there are, fills `most`.
    int (*properties)(heddle_device *device, heddle_device_property *rows, int most);
    // Optional: heddle_device_exercise.
    heddle_status (*exercise)(heddle_stream *stream, heddle_device_unit unit, void *memory, size_t bytes,
                              double *amount);
    // Optional: what of the vendor's libraries is missing, as one line each in `text`; "" when nothing is.
    void (*missing)(char *text, size_t size);
};

extern const heddle_backend heddle_backend_cpu;
