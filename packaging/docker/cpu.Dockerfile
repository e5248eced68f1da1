# heddle for a CPU: the command, the simulated GPU, the library and the course, without build tools but for the C++ compiler
# that checks need. Build it from the top of the sources:
#
#     docker build -f packaging/docker/cpu.Dockerfile -t heddle .
#
# BASE: the image of Debian or Ubuntu to begin with, such as one of your own mirror.
ARG BASE=debian:bookworm-slim
# hadolint ignore=DL3006
FROM ${BASE} AS build
WORKDIR /heddle
# First what changes seldom: the packages. scripts/setup removes nothing, and its lists stay in this stage.
COPY scripts/setup scripts/packages scripts/
RUN scripts/setup build sim
COPY . .
RUN scripts/build build -DHEDDLE_PACKAGE=ON -DHEDDLE_TESTS=OFF -DHEDDLE_WERROR=OFF -DHEDDLE_CUDA=off heddle_products \
    && cmake --install build --prefix /usr/local --strip
# What is linked, as packages, for the next stage.
RUN packaging/docker/runtime-packages /usr/local >/usr/local/runtime-packages

# hadolint ignore=DL3006
FROM ${BASE}
COPY --from=build /usr/local /usr/local
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
