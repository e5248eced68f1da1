// Which word a thread last passed on by an atomic, and which it last looked at: where two racing threads have the same
// one between them, a lock or flag was meant to order them and only a fence is missing. It decides what advice a race
// comes with, never whether it is one.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// A thread is named by the stamp of its barrier interval, which belongs to one block, and its number in the block.
void sim_handed_gave(uint32_t stamp, unsigned thread, uintptr_t word);
void sim_handed_took(uint32_t stamp, unsigned thread, uintptr_t word);
// Whether the later thread took a word, other than `address`, that the earlier one gave.
bool sim_handed_between(uint32_t earlier_stamp, unsigned earlier, uint32_t later_stamp, unsigned later,
                        uintptr_t address);
