// Where the card's variables lie in the program: the rewriter puts __device__, __constant__ and __managed__ ones into
// sections of their own (sim/keywords.h). A program without any has none.
#pragma once

#include <stdbool.h>
#include <stdint.h>

extern char __start_sim_device[] __attribute__((weak));
extern char __stop_sim_device[] __attribute__((weak));
extern char __start_sim_constant[] __attribute__((weak));
extern char __stop_sim_constant[] __attribute__((weak));
extern char __start_sim_managed[] __attribute__((weak));
extern char __stop_sim_managed[] __attribute__((weak));

static inline bool sim_in_section(uintptr_t address, const char *start, const char *stop)
{
    return address - (uintptr_t)start < (uintptr_t)stop - (uintptr_t)start;
}

static inline bool sim_is_constant_variable(uintptr_t address)
{
    return sim_in_section(address, __start_sim_constant, __stop_sim_constant);
}

// A variable that the host has no part in.
static inline bool sim_is_cards_variable(uintptr_t address)
{
    return sim_in_section(address, __start_sim_device, __stop_sim_device) || sim_is_constant_variable(address);
}

static inline bool sim_is_managed_variable(uintptr_t address)
{
    return sim_in_section(address, __start_sim_managed, __stop_sim_managed);
}
