# heddle for NVIDIA GPUs: as cpu.Dockerfile, with the cuda device and the rungs of cuBLAS, cuDNN, cuRAND and cuFFT. It runs where
# the NVIDIA container toolkit gives it a GPU. Build it from the top of the sources:
#
#     docker build -f packaging/docker/cuda.Dockerfile -t heddle:cuda .
#
# ARCHITECTURES: compute capabilities to compile for, with semicolons; each takes minutes.
ARG CUDA=12.9.1
FROM nvidia/cuda:${CUDA}-cudnn-devel-ubuntu24.04 AS build
ARG ARCHITECTURES=80;90
WORKDIR /heddle
COPY scripts/setup scripts/packages scripts/
RUN scripts/setup build sim
COPY . .
RUN scripts/build build -DHEDDLE_PACKAGE=ON -DHEDDLE_TESTS=OFF -DHEDDLE_WERROR=OFF -DHEDDLE_CUDA=on \
        "-DHEDDLE_CUDA_ARCHITECTURES=${ARCHITECTURES}" heddle_products \
    && cmake --install build --prefix /usr/local --strip
RUN packaging/docker/runtime-packages /usr/local >/usr/local/runtime-packages

ARG CUDA
FROM nvidia/cuda:${CUDA}-cudnn-runtime-ubuntu24.04
COPY --from=build /usr/local/bin/heddle /usr/local/bin/simcc /usr/local/bin/
COPY --from=build /usr/local/lib /usr/local/lib
COPY --from=build /usr/local/include/heddle /usr/local/include/heddle
COPY --from=build /usr/local/share /usr/local/share
COPY --from=build /usr/local/runtime-packages /usr/local/runtime-packages
# hadolint ignore=SC2046,DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends g++ binutils ca-certificates $(cat /usr/local/runtime-packages) \
    && rm -rf /var/lib/apt/lists/* /usr/local/runtime-packages \
    && ldconfig \
    && useradd --create-home heddle
USER heddle
WORKDIR /work
ENTRYPOINT ["heddle"]
CMD ["help"]
