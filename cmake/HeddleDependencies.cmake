# What heddle links: required ones first, then optional ones, each behind a target that is empty when it is missing.
# A missing optional library is a line in `heddle doctor`, never a build failure.

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)

function(heddle_required target module package)
  pkg_check_modules(${target}_pc REQUIRED IMPORTED_TARGET ${module})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE PkgConfig::${target}_pc)
endfunction()

function(heddle_optional target module macro)
  add_library(${target} INTERFACE)
  pkg_check_modules(${target}_pc QUIET IMPORTED_TARGET ${module})
  if(${target}_pc_FOUND)
    target_link_libraries(${target} INTERFACE PkgConfig::${target}_pc)
    target_compile_definitions(${target} INTERFACE ${macro}=1)
    message(STATUS "${module} ${${target}_pc_VERSION}")
  else()
    message(STATUS "${module} not found: built without it")
  endif()
endfunction()

heddle_required(heddle_cjson libcjson libcjson-dev)
heddle_optional(heddle_blas openblas HEDDLE_HAVE_OPENBLAS)
heddle_optional(heddle_fftw fftw3f HEDDLE_HAVE_FFTW)
heddle_optional(heddle_curl libcurl HEDDLE_HAVE_CURL)
heddle_optional(heddle_crypto libcrypto HEDDLE_HAVE_CRYPTO)
heddle_optional(heddle_png libpng HEDDLE_HAVE_PNG)
heddle_optional(heddle_jpeg libjpeg HEDDLE_HAVE_JPEG)
heddle_optional(heddle_dw libdw HEDDLE_HAVE_LIBDW)
