#!/bin/sh
# The operators and devices know the simulated GPU by CUDA's own API alone: no file of src/ops or src/device includes a
# header of src/sim or uses a name of it (sim_..., SIM_...). Checks first that a file which does would be found.
#
#     simulator_arrows.sh SOURCE_FOLDER
set -eu
sources=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# FILE:LINE:TEXT of each include of the simulator and each name of it.
arrows() { # FOLDER...
    grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]*/)?sim/|(^|[^A-Za-z0-9_])(sim|SIM)_[A-Za-z0-9_]+' \
        --include='*.c' --include='*.h' --include='*.cu' --include='*.inc' "$@" || test $? -eq 1
}

printf '%s\n' '#include "sim/core/options.h"' '#include <sim/mma.h>' '#include "../sim/include/sim/ptx.h"' \
    'sim_program_uses |= 2;' '#if defined(SIM_WATCHED)' '#if defined(HEDDLE_SIM_MODULE)' 'int heddle_sim_there;' \
    '#include "simple/sim.h"' >"$scratch/bad.cu"
found=$(arrows "$scratch" | wc -l)
if [ "$found" -ne 5 ]; then
    echo "this check finds $found arrows where there are 5"
    exit 1
fi

files=$(find "$sources/ops" "$sources/device" -name '*.cu' | wc -l)
if [ "$files" -lt 10 ]; then
    echo "$sources/ops and $sources/device hold only $files CUDA sources"
    exit 1
fi
found=$(arrows "$sources/ops" "$sources/device")
if [ -n "$found" ]; then
    echo "the simulator is reached by other ways than CUDA's API:"
    echo "$found"
    exit 1
fi
echo "$files CUDA sources of ops and device: none knows the simulator"
