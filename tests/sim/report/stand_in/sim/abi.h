// Marks the folder above as one of stand-in headers, as include/sim/abi.h does in the simulator.
