// The end of the program, and of the device.
#ifndef SIM_EXIT_H
#define SIM_EXIT_H

void sim_exit_start(void); // with the first call

#endif
