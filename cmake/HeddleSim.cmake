# The simulated GPU: libsim.a, the runtime that is linked into every simulated program; heddle_source, the reader of C++;
# heddle_simbuild, the rewriter and compiler driver as a library; simcc, the driver as a command. It knows nothing of
# heddle and takes nothing from it but the warnings.

# --- the runtime -----------------------------------------------------------------------------------------------------
set(sim_root ${PROJECT_SOURCE_DIR}/src/sim)
# Its layers, lowest first. A layer calls those below it and no other: each is linked with what is below into a shared
# object that may leave nothing undefined, so an arrow up does not build.
set(sim_layers machine program findings memory race progress watch report core api)
set(sim_objects)
foreach(layer ${sim_layers})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${sim_root}/${layer}/*.c)
  if(layer STREQUAL "machine")
    list(PREPEND sources ${sim_root}/machine/begin.c) # first in the archive
    list(REMOVE_DUPLICATES sources)
  endif()
  add_library(sim_${layer} OBJECT ${sources})
  set_target_properties(sim_${layer} PROPERTIES C_STANDARD 11 C_EXTENSIONS ON)
  target_include_directories(sim_${layer} PRIVATE ${sim_root} ${sim_root}/include)
  # Compiled for speed in every kind of build, and never with a sanitizer: the hooks must not call hooks. Without debug
  # information, which every simulated program would be linked with: that takes two fifths of the time to link.
  target_compile_options(sim_${layer} PRIVATE -O3 -g0 -fPIC -Wall -Wextra -Wshadow -Wstrict-prototypes -Wpointer-arith
    -fno-sanitize=all -fno-math-errno $<$<BOOL:${HEDDLE_WERROR}>:-Werror>)
  list(APPEND sim_objects $<TARGET_OBJECTS:sim_${layer}>)
  add_library(sim_up_to_${layer} SHARED ${sim_objects})
  set_target_properties(sim_up_to_${layer} PROPERTIES LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim/layers)
  target_link_options(sim_up_to_${layer} PRIVATE -Wl,-z,defs -fno-sanitize=all)
  target_link_libraries(sim_up_to_${layer} PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
  list(APPEND sim_layer_checks sim_up_to_${layer})
endforeach()
add_library(sim STATIC ${sim_objects})
set_target_properties(sim PROPERTIES LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
add_dependencies(sim ${sim_layer_checks})

# --- the reader of C++ -------------------------------------------------------------------------------------------------
file(GLOB source_sources CONFIGURE_DEPENDS ${sim_root}/source/*.c)
add_library(heddle_source STATIC ${source_sources})
target_include_directories(heddle_source PUBLIC ${sim_root})
target_link_libraries(heddle_source PRIVATE $<BUILD_INTERFACE:heddle_flags>)

# --- the driver ------------------------------------------------------------------------------------------------------
include(GNUInstallDirs)
file(GLOB simbuild_sources CONFIGURE_DEPENDS ${sim_root}/rewrite/*.c ${sim_root}/build/*.c)
list(FILTER simbuild_sources EXCLUDE REGEX "/main\\.c$")
list(APPEND simbuild_sources ${sim_root}/report/rules.c) # what a person does not want to see, for readers of reports
list(APPEND simbuild_sources ${sim_root}/api/chip_table.c) # the names that --gpu takes, for shell completion
add_library(heddle_simbuild STATIC ${simbuild_sources})
target_include_directories(heddle_simbuild PUBLIC ${sim_root})
target_link_libraries(heddle_simbuild PRIVATE $<BUILD_INTERFACE:heddle_flags> PUBLIC heddle_source Threads::Threads ${CMAKE_DL_LIBS})
# Where headers and runtime lie: in the build tree, and, seen from the program, when installed.
file(RELATIVE_PATH sim_home_from_program /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/heddle/sim)
if(HEDDLE_PACKAGE) # simcc finds them by SIM_HOME (HeddleModules) until it is installed
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/sim)
  file(CREATE_LINK ${sim_root}/include ${PROJECT_BINARY_DIR}/sim/include SYMBOLIC)
  target_compile_definitions(heddle_simbuild PRIVATE SIM_BUILD_HEADERS="${CMAKE_INSTALL_FULL_LIBDIR}/heddle/sim/include"
    SIM_BUILD_RUNTIME="${CMAKE_INSTALL_FULL_LIBDIR}/heddle/sim/libsim.a")
else()
  target_compile_definitions(heddle_simbuild PRIVATE SIM_BUILD_HEADERS="${sim_root}/include"
    SIM_BUILD_RUNTIME="${PROJECT_BINARY_DIR}/sim/libsim.a")
endif()
target_compile_definitions(heddle_simbuild PRIVATE SIM_HOME_FROM_PROGRAM="${sim_home_from_program}")

add_executable(simcc ${sim_root}/build/main.c)
set_target_properties(simcc PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(simcc PRIVATE heddle_simbuild heddle_flags)

# heddle_sim_program(PROGRAM OPTIONS AND SOURCES... [DEPENDS more...]): PROGRAM by simcc, made again when a file that it was
# made of changes.
function(heddle_sim_program program)
  cmake_parse_arguments(PARSE_ARGV 1 program "" "" "DEPENDS")
  add_custom_command(OUTPUT ${program} COMMAND simcc ${program_UNPARSED_ARGUMENTS} -MD -MF ${program}.d -o ${program}
    DEPENDS simcc sim ${program_DEPENDS} DEPFILE ${program}.d COMMENT "Building simulated program ${program}" VERBATIM)
endfunction()
