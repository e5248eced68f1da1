// Where the runtime's code begins in a program: the first file of the archive, which the link asks for by this name, so
// that everything below it in the program's code is the program's own.
__asm__(".text\n"
        ".globl sim_runtime_begins\n"
        "sim_runtime_begins:\n");
