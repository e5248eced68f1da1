// What Thrust and CUB (include/thrust, include/cub) ask of the runtime. Their algorithms are loops on the host over
// copies of the elements. One that waits for its result runs at once, and its accesses are copies in its stream. One
// that does not is work of its stream, as a kernel is: it reads and writes memory when the stream comes to it.
// Implemented in api/algorithms.c.
#pragma once

#include <stddef.h>

#include "sim/runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// The stream that algorithms which the calling thread of the host makes work in; 0 unless set.
cudaStream_t sim_library_stream(void);
void sim_library_stream_set(cudaStream_t stream);

// Whose memory a plain pointer is that the calling thread's algorithms are given: Thrust goes by the policy, and
// without one by the pointer's type.
enum { SIM_SYSTEM_HOST, SIM_SYSTEM_DEVICE };
int sim_library_system(void);
void sim_library_system_set(int system);
// The calling thread begins (1) or ends (-1) to work on elements of the device: functions of the program that it calls
// meanwhile run there, and may use its memory.
void sim_library_on_device(int change);

// Around what the work of a stream does: between the two the calling thread counts as host code, and the accesses of
// the program's functions as those of a kernel. `leave` takes what `enter` returned.
void *sim_library_enter(void);
void sim_library_leave(void *entered);
int sim_library_runs(void); // the calling thread is between the two
// There: brings elements from the memory that the work is given, and puts them back. some: not all are looked at.
void sim_library_read(void *to, const void *from, size_t bytes, int some);
void sim_library_write(void *to, const void *from, size_t bytes);
// There: the work uses so much of the temporary storage that it was given.
void sim_library_room(void *room, size_t bytes);

// The call was given too little temporary storage: reports that, and returns the call's error.
cudaError_t sim_library_short(const char *call, size_t given, size_t needed);
// Reports a result that overlaps what the same algorithm reads: its elements are taken in any order.
void sim_library_apart(const void *result, size_t bytes, const void *read, size_t read_bytes);
// A plain pointer in host code of an algorithm that runs on the device: reports memory of the host.
void sim_library_device_memory(const void *memory, size_t bytes);
// Elements that an algorithm on the host reads or writes itself.
void sim_library_from_host(void *to, const void *from, size_t bytes);
void sim_library_to_host(void *to, const void *from, size_t bytes);
// Elements as they are, of which an algorithm is about to change some.
void sim_library_peek(void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
