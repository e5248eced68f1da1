// Running what streams hold.
#pragma once

#include "api/stream.h"

// Run, and let the host wait. They return the fault that broke the device, if one did.
cudaError_t sim_run_until(sim_operation *operation);
// The host knows from then on that all up to `clock` is over.
cudaError_t sim_wait_until(sim_operation *operation, const sim_order_clock *clock);
cudaError_t sim_stream_wait(struct CUstream_st *stream);
cudaError_t sim_device_wait(void);
bool sim_stream_step(struct CUstream_st *stream); // runs one operation that the stream needs; false: it has none left

// Something is queued: it runs at the latest when the program ends, or has made no call for long.
void sim_run_queued_later(void);
// The host has polled for long: what is queued runs in another thread. Without the lock.
void sim_run_queued_now(void);
// Host code uses a word outside the card's memory through volatile or by an atomic.
void sim_run_queued_if_polled(uintptr_t address, bool write);
