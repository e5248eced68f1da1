#!/bin/sh
# When the cuda device is part of a build, and with which optimisation: HEDDLE_CUDA and HEDDLE_CUDA_OPTIMISE, with nvcc and
# nvidia-smi played by small scripts.
#
#     cuda_option.sh CC
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
printf '#!/bin/sh\necho 9.0\n' >"$scratch/smi"
printf '#!/bin/sh\nexit 9\n' >"$scratch/no-smi" # as where there is no driver
printf '#!/bin/sh\n' >"$scratch/nvcc"
chmod +x "$scratch/smi" "$scratch/no-smi" "$scratch/nvcc"

says() { # WORDS OPTIONS...: configured so, it says this of the cuda device
    words=$1
    shift
    cmake -S "$root" -B "$scratch/build" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DHEDDLE_TESTS=OFF "$@" >"$scratch/log" 2>&1 || :
    if ! grep -q "$words" "$scratch/log"; then
        cat "$scratch/log"
        echo "not said with $*: $words"
        exit 1
    fi
}
compiler=$1
nvcc=$scratch/nvcc
says '^-- cuda device by .*nvcc, for 90$' -DHEDDLE_NVCC="$nvcc" -DHEDDLE_NVIDIA_SMI="$scratch/smi"
says 'no GPU found, and HEDDLE_CUDA is auto: built without the cuda device' -DHEDDLE_NVIDIA_SMI="$scratch/no-smi"
says '^-- cuda device by .*nvcc, for 90$' -DHEDDLE_CUDA=on
says 'nvcc, for 90 (HEDDLE_CUDA_OPTIMISE is off: its kernels are slow)$' -DHEDDLE_CUDA_OPTIMISE=off
says 'HEDDLE_CUDA is off: built without the cuda device' -DHEDDLE_CUDA=off -DHEDDLE_NVIDIA_SMI="$scratch/smi"
says 'nvcc of the CUDA toolkit not found: built without the cuda device' -DHEDDLE_CUDA=on -DHEDDLE_NVCC=OFF
says 'HEDDLE_CUDA is auto, on or off, not perhaps' -DHEDDLE_CUDA=perhaps
echo "the cuda device is built where nvcc and a GPU are, or where asked"
