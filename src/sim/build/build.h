// Builds a simulated program: CUDA source files, rewritten, compiled by the host's C++ compiler against the stand-in
// headers, linked with the simulator's runtime. Temporary files are removed whatever happens.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum sim_build_status {
    SIM_BUILD_FINE,
    SIM_BUILD_FAILED,      // the source is wrong: the messages say where
    SIM_BUILD_USAGE,       // wrong options
    SIM_BUILD_NO_COMPILER, // no host compiler, or the simulator's own files are missing
    SIM_BUILD_SYSTEM,      // no memory, no space, cannot write
} sim_build_status;

// Lists end with NULL; a NULL list is an empty one.
typedef struct sim_build_options {
    const char *const *files;   // .cu, .c, .cpp, .o, .a
    const char *const *include; // folders of -I
    const char *const *compile; // more options for the compiler: -D, -U, -std=, ...
    const char *const *link;    // and for the linker: -L, -l, ...
    const char *output;         // NULL: a.out, or with compile_only FILE.o
    const char *compiler;       // gcc, clang, or a path; NULL: gcc, else clang
    const char *depend_file;    // -MF; NULL: the output's name with .d
    const char *depend_target;  // -MT, -MQ, as make reads it; NULL: the output
    const char *objects;        // folder for objects of compile_only without `output`; NULL: here
    double seconds;             // each compiler may take; 0: no limit
    uint64_t memory;            // bytes that each compiler may use; 0: no limit
    const char *folder;         // for temporary files; NULL: $TMPDIR and the like
    bool unwatched;             // for speed: nothing is checked
    bool branches;              // count divergent branches, which makes the program slower
    bool quick;                 // optimise less; counters may differ from those of other builds
    bool shared;                // a loadable module instead of a program
    bool compile_only;          // -c
    bool archive;               // -lib: an archive of the objects instead of a program
    bool device_link;           // -dlink: an object with nothing in it, because device code is linked with the rest
    bool keep;                  // leaves the rewritten files and objects, and says where
    bool separate;              // -rdc=true: device code of all files is linked together
    bool all_cuda;              // -x cu: every source is CUDA
    bool depends;               // -MD: writes which files the output was made of, as a rule for make
    bool depends_phony;         // -MP: and a rule for each header, so that one may be deleted
    bool torch;                 // leave out host code that needs PyTorch; the files include sim/torch.h
    bool uninitialised;         // warn of local variables of device code that are read before they are set
    bool maybe_uninitialised;   // and of those that may be, on some path
} sim_build_options;

typedef enum sim_message_kind { SIM_MESSAGE_ERROR, SIM_MESSAGE_WARNING, SIM_MESSAGE_NOTE } sim_message_kind;

typedef struct sim_build_message {
    sim_message_kind kind;
    char *file; // the user's; NULL: about no file
    int line, column;
    char *text;
} sim_build_message;

typedef struct sim_build_result {
    sim_build_message *messages;
    int count, room;
    char *compiler; // that was used; NULL: none
} sim_build_result;

sim_build_status sim_build(const sim_build_options *options, sim_build_result *result);
void sim_build_result_free(sim_build_result *result);
// Adds a message to a result.
void sim_build_say(sim_build_result *result, sim_message_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// A message as a person reads it: file:line:column: error: text, with the line of the file and a mark under it.
// To be freed.
char *sim_build_message_text(const sim_build_message *message);

// Async-signal-safe: removes all temporary files and ends the compilers that run. For handlers of SIGINT and the like.
void sim_build_interrupted(void);

// Where the stand-in headers lie, to tell the simulator's lines from the user's, and the runtime, libsim.a. "":
// nowhere. Valid as long as the program.
const char *sim_build_headers(void);
const char *sim_build_runtime(void);

// Whether a C++ standard is older than C++17, which the stand-in headers are written in: C++17 is used instead.
bool sim_build_raises_standard(const char *name);

// Whether a file is compiled, by its ending; others go to the linker.
bool sim_build_is_source(const char *path);

// Names of the libraries whose part the runtime plays ("cudart", "cublas"), ended with NULL.
const char *const *sim_build_libraries(void);
