# The modules that bring a device: libheddle-sim.so and libheddle-cuda.so, both made of the same CUDA sources, by the
# simulator's compiler and by nvcc. Each is left out where its compiler is missing; the library loads what is there.
include(GNUInstallDirs)

file(GLOB heddle_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/device/cuda/*.cu
  ${PROJECT_SOURCE_DIR}/src/ops/*/*.cu)
# What calls a vendor's library goes into a module of its own, so that a machine without that library keeps the rest:
# src/ops/*/cublas.cu and cublas_lt.cu into libheddle-cublas.so, cudnn*.cu into libheddle-cudnn.so, and so on.
foreach(vendor cutlass cublas cudnn curand cufft)
  set(heddle_${vendor}_sources ${heddle_cuda_sources})
  list(FILTER heddle_${vendor}_sources INCLUDE REGEX "/${vendor}[^/]*\\.cu$")
  list(FILTER heddle_cuda_sources EXCLUDE REGEX "/${vendor}[^/]*\\.cu$")
endforeach()
# Hopper's own instructions: compiled for sm_90a alone, and nothing for the simulator.
set(heddle_hopper_sources ${heddle_cuda_sources})
list(FILTER heddle_hopper_sources INCLUDE REGEX "(wgmma|_tma)[^/]*\\.cu$")
set(heddle_sim_sources ${heddle_cuda_sources})
list(FILTER heddle_sim_sources EXCLUDE REGEX "(wgmma|_tma)[^/]*\\.cu$")
# cuRAND's device API is a header, and the simulator has one of that name.
list(APPEND heddle_sim_sources ${PROJECT_SOURCE_DIR}/src/ops/random/curand_device.cu)
set(heddle_cuda_includes -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src)

# Where the library looks for them when installed, seen from the command.
file(RELATIVE_PATH heddle_modules_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/heddle)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/device/module.c PROPERTIES
  COMPILE_DEFINITIONS HEDDLE_MODULES_FROM_PROGRAM="${heddle_modules_from_program}")
# The same for the pages, and seen from the library too.
file(RELATIVE_PATH heddle_pages_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_DATADIR}/doc/heddle/docs)
file(RELATIVE_PATH heddle_pages_from_library /${CMAKE_INSTALL_LIBDIR} /${CMAKE_INSTALL_DATADIR}/doc/heddle/docs)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/place.c PROPERTIES COMPILE_DEFINITIONS
  "HEDDLE_PAGES_FROM_PROGRAM=\"${heddle_pages_from_program}\";HEDDLE_PAGES_FROM_LIBRARY=\"${heddle_pages_from_library}\"")

file(RELATIVE_PATH heddle_course_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_DATADIR}/heddle/course) # the same

file(RELATIVE_PATH heddle_peers_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_DATADIR}/heddle/peers)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cli/peers.c PROPERTIES
  COMPILE_DEFINITIONS HEDDLE_PEERS_FROM_PROGRAM="${heddle_peers_from_program}")

# "src/ops/matmul/01_naive.cu" becomes FOLDER/ops_matmul_01_naive.o, and FOLDER/matmul.cu FOLDER/matmul.o
function(heddle_object_of source folder object)
  get_filename_component(place ${source} DIRECTORY)
  if(place STREQUAL folder)
    get_filename_component(name ${source} NAME)
  else()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${source})
  endif()
  string(REGEX REPLACE "[^A-Za-z0-9_]" "_" name ${name})
  string(REGEX REPLACE "_cu$" ".o" name ${name})
  set(${object} ${folder}/${name} PARENT_SCOPE)
endfunction()

# --- sim -------------------------------------------------------------------------------------------------------------
set(HEDDLE_SIM_MODULE OFF)
find_program(HEDDLE_SIM_COMPILER NAMES g++ clang++ DOC "C++ compiler for the simulated GPU's kernels")

option(HEDDLE_CUDA_OPTIMISE "optimise CUDA kernels; off compiles large ones in less than half the time, and all run slowly" ON)
set(heddle_sim_home)
set(heddle_sim_flags)
# simcc takes half the time then. Its kernels take a twentieth more, and some counters differ.
if(NOT HEDDLE_CUDA_OPTIMISE)
  list(APPEND heddle_sim_flags --quick)
endif()
if(HEDDLE_PACKAGE) # debug information names temporary files, and the identity of the module would hold it
  set(heddle_sim_home SIM_HOME=${PROJECT_BINARY_DIR}/sim)
  list(APPEND heddle_sim_flags -Xlinker --strip-debug,-z,relro,-z,now)
endif()

# heddle_sim_module(TARGET FILE): FILE, made of all CUDA sources. With sources behind it: made of that one's objects, and of
# these.
function(heddle_sim_module target file)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir)
  file(MAKE_DIRECTORY ${folder})
  set(compile ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${heddle_sim_home} $<TARGET_FILE:simcc> --shared
    --compiler ${HEDDLE_SIM_COMPILER} ${heddle_sim_flags})
  set(objects)
  set(sources ${ARGN})
  if(NOT sources)
    set(sources ${heddle_sim_sources})
  endif()
  foreach(source ${sources})
    heddle_object_of(${source} ${folder} object)
    list(APPEND objects ${object})
    add_custom_command(OUTPUT ${object}
      COMMAND ${compile} -c -DHEDDLE_SIM_MODULE=1 ${heddle_cuda_includes} -MD -MF ${object}.d ${source} -o ${object}
      DEPENDS ${source} simcc DEPFILE ${object}.d COMMENT "Building simulated CUDA object ${object}" VERBATIM)
  endforeach()
  if(ARGN)
    set(others ${heddle_sim_objects})
    set(made_by heddle_module_sim)
  else()
    set(heddle_sim_objects ${objects} PARENT_SCOPE)
  endif()
  add_custom_command(OUTPUT ${file} COMMAND ${compile} ${others} ${objects} -Xlinker -z,defs -o ${file}
    DEPENDS ${others} ${made_by} ${objects} simcc sim COMMENT "Linking simulated CUDA module ${file}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${file})
endfunction()

if(NOT HEDDLE_SIM_COMPILER)
  message(STATUS "no g++ or clang++: built without the sim device")
elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "cross-compiling: built without the sim device")
else()
  set(HEDDLE_SIM_MODULE ON)
  message(STATUS "sim device by ${HEDDLE_SIM_COMPILER}")
  heddle_sim_module(heddle_module_sim ${PROJECT_BINARY_DIR}/libheddle-sim.so)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/libheddle-sim.so DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
endif()

# --- judges ------------------------------------------------------------------------------------------------------------
# What the course's judges share, for src/learn/object.c, with copies of what it is made of. Without debug
# information, which names folders that are nowhere else, and which nobody asks for: findings are about the learner's code.
set(heddle_judges)
if(HEDDLE_SIM_MODULE)
  set(folder ${PROJECT_BINARY_DIR}/sim/judges)
  set(source ${PROJECT_SOURCE_DIR}/course/include)
  file(MAKE_DIRECTORY ${folder})
  set(heddle_judges ${folder}/learn.o ${folder}/learn.h ${folder}/learn.cu)
  add_custom_command(OUTPUT ${heddle_judges}
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${heddle_sim_home} $<TARGET_FILE:simcc>
      --compiler ${HEDDLE_SIM_COMPILER} -c -DLEARN_SIMULATED -MD -MF ${folder}/learn.d ${source}/learn.cu
      -o ${folder}/learn.o
    COMMAND ${CMAKE_STRIP} --strip-debug ${folder}/learn.o
    COMMAND ${CMAKE_COMMAND} -E copy ${source}/learn.h ${source}/learn.cu ${folder}
    DEPENDS simcc ${source}/learn.h ${source}/learn.cu DEPFILE ${folder}/learn.d
    COMMENT "Building what the course's judges share" VERBATIM)
  install(FILES ${heddle_judges} DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle/sim/judges)
endif()
add_custom_target(heddle_judges_sim ALL DEPENDS ${heddle_judges})

# --- cuda ------------------------------------------------------------------------------------------------------------
set(HEDDLE_CUDA auto CACHE STRING "the cuda device: auto (where nvcc and a GPU are found), on (where nvcc is found), off")
set_property(CACHE HEDDLE_CUDA PROPERTY STRINGS auto on off)
if(NOT HEDDLE_CUDA MATCHES "^(auto|on|off)$")
  message(FATAL_ERROR "HEDDLE_CUDA is auto, on or off, not ${HEDDLE_CUDA}")
endif()
set(HEDDLE_CUDA_MODULE OFF)
find_program(HEDDLE_NVCC NAMES nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin
  DOC "compiler of CUDA kernels")

# The GPU that is here, else Ampere and Hopper.
set(architectures 80 90)
set(gpu_found FALSE)
find_program(HEDDLE_NVIDIA_SMI NAMES nvidia-smi)
if(HEDDLE_NVIDIA_SMI)
  execute_process(COMMAND ${HEDDLE_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${found}")
  if(NOT failed AND found)
    list(TRANSFORM found REPLACE "\\." "")
    list(REMOVE_DUPLICATES found)
    list(SORT found COMPARE NATURAL)
    set(architectures ${found})
    set(gpu_found TRUE)
  endif()
endif()
set(HEDDLE_CUDA_ARCHITECTURES ${architectures} CACHE STRING
  "compute capabilities that kernels are compiled for; later cards compile the last one's PTX")

set(heddle_cuda_code)
foreach(architecture ${HEDDLE_CUDA_ARCHITECTURES})
  list(APPEND heddle_cuda_code -gencode arch=compute_${architecture},code=sm_${architecture})
endforeach()
list(GET HEDDLE_CUDA_ARCHITECTURES -1 latest)
list(APPEND heddle_cuda_code -gencode arch=compute_${latest},code=compute_${latest})
set(heddle_hopper_code -gencode arch=compute_90a,code=sm_90a)
# Kernels over rows work beside products by wgmma: elsewhere nothing calls them.
set(heddle_rows_code ${heddle_cuda_code})
if(90 IN_LIST HEDDLE_CUDA_ARCHITECTURES)
  set(heddle_rows_code -gencode arch=compute_90,code=sm_90)
endif()

# A machine without a GPU compiles kernels and never runs them: there, optimising them takes most of the time of the large
# ones, for nothing. nvcc before 12.9 has no option for that. Its level 1 is the least that works: at 0, template parameters
# are not yet the constants that inline assembly needs.
if(HEDDLE_CUDA_OPTIMISE)
  set(heddle_cuda_optimisation -O3 -lineinfo)
  set(heddle_cuda_remark)
else()
  set(heddle_cuda_optimisation -O1 -Xcicc -O1 -Xptxas -O1 -DHEDDLE_CUDA_UNOPTIMISED=1)
  if(HEDDLE_NVCC)
    execute_process(COMMAND ${HEDDLE_NVCC} --help OUTPUT_VARIABLE help ERROR_QUIET)
    if(help MATCHES "--Ofast-compile ")
      set(heddle_cuda_optimisation -Xcompiler -Og --Ofast-compile=max -DHEDDLE_CUDA_UNOPTIMISED=1)
    endif()
  endif()
  set(heddle_cuda_remark " (HEDDLE_CUDA_OPTIMISE is off: its kernels are slow)")
endif()

# heddle_cuda_join(SOURCES FOLDER JOINED): where kernels are not optimised, nvcc spends most of its time on its own
# headers, a second per file. There, files that define only what they register are compiled as one, each in a namespace of
# its own, until a unit has UNIT_BYTES of source. What is for Hopper stays alone: simcc compiles all other files one by one,
# and notices an include that is missing. Files with CUB come first, into one unit: its headers take eight seconds.
set(UNIT_BYTES 100000)
function(heddle_cuda_join sources folder joined)
  set(macro "#define")
  set(function "(heddle_[a-z0-9_]+|cudaError_t|void|int|bool|HEDDLE_API|extern) ")
  set(variable "const .* heddle_")
  set(with_cub ${sources})
  list(FILTER with_cub INCLUDE REGEX "/cub\\.cu$")
  list(PREPEND sources ${with_cub})
  list(REMOVE_DUPLICATES sources)
  set(result)
  set(units 0)
  set(bytes ${UNIT_BYTES})
  foreach(source ${sources})
    file(STRINGS ${source} alone REGEX "^(${macro}|${function}|${variable})")
    if(HEDDLE_CUDA_OPTIMISE OR alone OR source IN_LIST heddle_hopper_sources)
      list(APPEND result ${source})
      continue()
    endif()
    file(SIZE ${source} size)
    math(EXPR bytes "${bytes} + ${size}")
    if(bytes GREATER UNIT_BYTES)
      math(EXPR units "${units} + 1")
      set(bytes ${size})
    endif()
    file(STRINGS ${source} headers REGEX "^#include")
    list(APPEND headers_${units} ${headers})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/src ${source})
    string(MAKE_C_IDENTIFIER ${name} name)
    string(APPEND bodies_${units} "namespace ${name} {\n#include \"${source}\"\n}\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source}) # for its includes
  endforeach()
  foreach(unit RANGE 1 ${units})
    if(DEFINED bodies_${unit})
      list(REMOVE_DUPLICATES headers_${unit})
      list(JOIN headers_${unit} "\n" headers)
      file(CONFIGURE OUTPUT ${folder}/joined_${unit}.cu CONTENT "${headers}\n${bodies_${unit}}" @ONLY)
      list(APPEND result ${folder}/joined_${unit}.cu)
    endif()
  endforeach()
  set(${joined} ${result} PARENT_SCOPE)
endfunction()

# heddle_cuda_module(TARGET FILE SOURCES... [LINK FLAGS...]): FILE by nvcc.
function(heddle_cuda_module target file)
  cmake_parse_arguments(PARSE_ARGV 2 module "" "" "SOURCES;LINK;NEEDS")
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.dir)
  file(MAKE_DIRECTORY ${folder})
  set(warnings -Xcompiler -Wall,-Wextra)
  if(HEDDLE_WERROR)
    list(APPEND warnings -Werror all-warnings)
  endif()
  set(objects)
  heddle_cuda_join("${module_SOURCES}" ${folder} sources)
  foreach(source ${sources})
    heddle_object_of(${source} ${folder} object)
    list(APPEND objects ${object})
    set(code ${heddle_cuda_code})
    if(source IN_LIST heddle_hopper_sources)
      set(code ${heddle_hopper_code})
    elseif(source MATCHES "/rows_[a-z_]*[/.]" AND NOT source MATCHES "/rows_conv[/.]")
      set(code ${heddle_rows_code})
    endif()
    # What only calls the runtime needs none of the passes for kernels.
    set(language)
    file(STRINGS ${source} kernels REGEX "__global__|<<<" LIMIT_COUNT 1)
    if(source MATCHES "/src/(device/cuda|ops/cuda|dist)/" AND NOT kernels)
      set(language -x c++)
    endif()
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${HEDDLE_NVCC} ${language} -std=c++17 ${heddle_cuda_optimisation} ${code} ${warnings}
        -Xcompiler -fPIC,-fvisibility=hidden ${heddle_cuda_includes} -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "Building CUDA object ${object}" VERBATIM)
  endforeach()
  add_custom_command(OUTPUT ${file} COMMAND ${HEDDLE_NVCC} -shared ${objects} ${module_LINK} -Xlinker -z,defs -o ${file}
    DEPENDS ${objects} ${module_NEEDS} COMMENT "Linking CUDA module ${file}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${file})
  install(PROGRAMS ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
endfunction()

# heddle_vendor_module(NAME HEADER LIBRARY MORE...): libheddle-NAME.so of the sources grouped above, where the vendor's
# header and library are found: beside nvcc, where HEDDLE_VENDOR_ROOT says, or where the system keeps them.
set(HEDDLE_VENDOR_ROOT "" CACHE PATH "folder with include/ and lib/ of NVIDIA's libraries, when not beside nvcc")
function(heddle_vendor_module name header library)
  if(NOT heddle_${name}_sources)
    return()
  endif()
  get_filename_component(nvcc ${HEDDLE_NVCC} REALPATH)
  get_filename_component(toolkit ${nvcc}/../.. ABSOLUTE)
  find_path(HEDDLE_${name}_INCLUDE ${header} HINTS ${HEDDLE_VENDOR_ROOT} ${toolkit} PATH_SUFFIXES include
    targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include)
  find_library(HEDDLE_${name}_LIBRARY ${library} HINTS ${HEDDLE_VENDOR_ROOT} ${toolkit} PATH_SUFFIXES lib64 lib
    targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib)
  if(NOT HEDDLE_${name}_INCLUDE OR NOT HEDDLE_${name}_LIBRARY)
    message(STATUS "${header} or its library not found: built without ${name}'s rungs")
    return()
  endif()
  message(STATUS "${name}'s rungs by ${HEDDLE_${name}_LIBRARY}")
  # The system's own folders must not be named: that would change their order.
  if(NOT HEDDLE_${name}_INCLUDE IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
    list(APPEND heddle_cuda_includes -I${HEDDLE_${name}_INCLUDE})
  endif()
  # libheddle-cuda.so is always loaded before, and found by its name; the vendor's library where it stands now.
  get_filename_component(folder ${HEDDLE_${name}_LIBRARY} DIRECTORY)
  heddle_cuda_module(heddle_module_${name} ${PROJECT_BINARY_DIR}/libheddle-${name}.so SOURCES ${heddle_${name}_sources}
    LINK ${PROJECT_BINARY_DIR}/libheddle-cuda.so ${HEDDLE_${name}_LIBRARY} ${ARGN} -L${folder}
      -Xlinker -rpath,${folder} -Xlinker -soname,libheddle-${name}.so
    NEEDS heddle_module_cuda ${PROJECT_BINARY_DIR}/libheddle-cuda.so)
endfunction()

# CUTLASS is headers alone: where HEDDLE_CUTLASS or the environment's CUTLASS_PATH says, in Python's nvidia-cutlass, or
# where the system keeps them.
set(HEDDLE_CUTLASS "" CACHE PATH "folder of CUTLASS, with include/cutlass in it")
function(heddle_cutlass_module)
  find_program(HEDDLE_PYTHON NAMES python3 DOC "asked where nvidia-cutlass keeps its headers")
  set(package)
  if(HEDDLE_PYTHON AND NOT HEDDLE_CUTLASS)
    execute_process(COMMAND ${HEDDLE_PYTHON} -c
      "import importlib.util as u; print(u.find_spec('cutlass_library').submodule_search_locations[0])"
      OUTPUT_VARIABLE package ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  find_path(HEDDLE_cutlass_INCLUDE cutlass/gemm/device/gemm.h HINTS ${HEDDLE_CUTLASS} $ENV{CUTLASS_PATH} ${package}/source
    PATH_SUFFIXES include)
  if(NOT HEDDLE_cutlass_INCLUDE)
    message(STATUS "cutlass/gemm/device/gemm.h not found: built without cutlass's rungs")
    return()
  endif()
  message(STATUS "cutlass's rungs by ${HEDDLE_cutlass_INCLUDE}")
  list(APPEND heddle_cuda_includes -isystem ${HEDDLE_cutlass_INCLUDE})
  heddle_cuda_module(heddle_module_cutlass ${PROJECT_BINARY_DIR}/libheddle-cutlass.so SOURCES ${heddle_cutlass_sources}
    LINK ${PROJECT_BINARY_DIR}/libheddle-cuda.so -Xlinker -soname,libheddle-cutlass.so
    NEEDS heddle_module_cuda ${PROJECT_BINARY_DIR}/libheddle-cuda.so)
endfunction()

if(HEDDLE_CUDA STREQUAL off)
  message(STATUS "HEDDLE_CUDA is off: built without the cuda device")
elseif(NOT HEDDLE_NVCC)
  message(STATUS "nvcc of the CUDA toolkit not found: built without the cuda device")
elseif(HEDDLE_CUDA STREQUAL auto AND NOT gpu_found)
  message(STATUS "no GPU found, and HEDDLE_CUDA is auto: built without the cuda device")
elseif(CMAKE_CROSSCOMPILING)
  message(STATUS "cross-compiling: built without the cuda device")
else()
  set(HEDDLE_CUDA_MODULE ON)
  message(STATUS "cuda device by ${HEDDLE_NVCC}, for ${HEDDLE_CUDA_ARCHITECTURES}${heddle_cuda_remark}")
  heddle_cuda_module(heddle_module_cuda ${PROJECT_BINARY_DIR}/libheddle-cuda.so SOURCES ${heddle_cuda_sources}
    LINK -Xlinker -soname,libheddle-cuda.so)
  heddle_vendor_module(cublas cublas_v2.h cublas -lcublasLt)
  heddle_vendor_module(cudnn cudnn.h cudnn)
  heddle_cutlass_module()
  heddle_vendor_module(curand curand_kernel.h curand)
  heddle_vendor_module(cufft cufft.h cufft)
endif()

# --- NVTX -------------------------------------------------------------------------------------------------------------
# Headers alone, of the CUDA toolkit: ranges in nsys with the names of layers and operators.
add_library(heddle_nvtx INTERFACE)
if(HEDDLE_NVCC)
  get_filename_component(nvcc ${HEDDLE_NVCC} REALPATH)
  get_filename_component(toolkit ${nvcc}/../.. ABSOLUTE)
endif()
find_path(HEDDLE_NVTX_INCLUDE nvtx3/nvToolsExt.h HINTS ${toolkit} PATH_SUFFIXES include
  targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include)
if(HEDDLE_NVTX_INCLUDE)
  # Only this folder of the toolkit: its other headers are not for our own code.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/nvtx)
  file(CREATE_LINK ${HEDDLE_NVTX_INCLUDE}/nvtx3 ${PROJECT_BINARY_DIR}/nvtx/nvtx3 SYMBOLIC)
  target_include_directories(heddle_nvtx SYSTEM INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/nvtx>)
  target_compile_definitions(heddle_nvtx INTERFACE HEDDLE_HAVE_NVTX=1)
else()
  message(STATUS "nvtx3 not found: built without NVTX ranges")
endif()

# --- tracing -----------------------------------------------------------------------------------------------------------
# libheddle-cupti.so: what `heddle trace` has the CUDA driver load into a program, and `heddle train --profile` loads.
if(HEDDLE_CUDA_MODULE)
  get_filename_component(nvcc ${HEDDLE_NVCC} REALPATH)
  get_filename_component(toolkit ${nvcc}/../.. ABSOLUTE)
  find_path(HEDDLE_cupti_INCLUDE cupti.h HINTS ${toolkit} ${toolkit}/extras/CUPTI PATH_SUFFIXES include
    targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include)
  find_library(HEDDLE_cupti_LIBRARY cupti HINTS ${toolkit} ${toolkit}/extras/CUPTI PATH_SUFFIXES lib64 lib
    targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib)
  if(NOT HEDDLE_cupti_INCLUDE OR NOT HEDDLE_cupti_LIBRARY)
    message(STATUS "cupti.h or its library not found: built without `heddle trace`")
  else()
    message(STATUS "`heddle trace` by ${HEDDLE_cupti_LIBRARY}")
    add_library(heddle_module_cupti MODULE ${PROJECT_SOURCE_DIR}/src/profile/module_cupti.c)
    target_include_directories(heddle_module_cupti SYSTEM PRIVATE ${HEDDLE_cupti_INCLUDE} ${toolkit}/include)
    target_link_libraries(heddle_module_cupti PRIVATE $<BUILD_INTERFACE:heddle_flags> ${HEDDLE_cupti_LIBRARY}
      ${CMAKE_DL_LIBS})
    # CUPTI is found where it stands now.
    get_filename_component(folder ${HEDDLE_cupti_LIBRARY} DIRECTORY)
    set_target_properties(heddle_module_cupti PROPERTIES OUTPUT_NAME heddle-cupti C_VISIBILITY_PRESET hidden
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} BUILD_RPATH ${folder} INSTALL_RPATH ${folder})
    install(TARGETS heddle_module_cupti LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
  endif()
endif()

# --- several processes -----------------------------------------------------------------------------------------------
# libheddle-nccl.so and libheddle-mpi.so: everything that calls NCCL and MPI.
if(HEDDLE_CUDA_MODULE)
  set(heddle_nccl_sources ${PROJECT_SOURCE_DIR}/src/dist/module_nccl.cu)
  heddle_vendor_module(nccl nccl.h nccl)
endif()
if(NOT CMAKE_CROSSCOMPILING) # what is found would be this machine's
  find_package(MPI QUIET COMPONENTS C)
endif()
if(NOT MPI_C_FOUND)
  message(STATUS "MPI not found: built for one process")
else()
  message(STATUS "MPI by ${MPI_C_LIBRARIES}")
  add_library(heddle_module_mpi MODULE ${PROJECT_SOURCE_DIR}/src/dist/module_mpi.c)
  target_link_libraries(heddle_module_mpi PRIVATE $<BUILD_INTERFACE:heddle_flags> MPI::MPI_C)
  set_target_properties(heddle_module_mpi PROPERTIES OUTPUT_NAME heddle-mpi
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  install(TARGETS heddle_module_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle)
endif()

# Everything that the cuda device and what goes with it is made of.
if(HEDDLE_CUDA_MODULE)
  add_custom_target(heddle_modules_cuda)
  foreach(name cuda cublas cudnn cutlass curand cufft cupti nccl)
    if(TARGET heddle_module_${name})
      add_dependencies(heddle_modules_cuda heddle_module_${name})
    endif()
  endforeach()
endif()
