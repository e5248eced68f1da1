// What an output was made of, as a rule that make and ninja read (-MD). The compiler says which files it opened; those
// that the simulator made are replaced by the user's files they stand for.
#pragma once

#include "build/compile.h"
#include "rewrite/rewrite.h"

// Adds the options by which the compiler writes its list, nothing where none is wanted. path: where it writes it, as
// long as the options are used.
void sim_depends_options(const sim_build_context *context, const sim_job *job, sim_arguments *call, sim_text *path);
// Adds the files of the compiler's list at `path` to job->depends. rewritten: what the job's source became; NULL:
// nothing was rewritten. False: the list cannot be read.
bool sim_depends_read(const sim_build_context *context, sim_job *job, const sim_rewritten *rewritten, const char *path);
// Writes the rules of all jobs: one per object with -c, else one for the program. False: result says why.
bool sim_depends_write(const sim_build_options *options, const sim_job *jobs, int count, sim_build_result *result);
