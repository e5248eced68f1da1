# How our own code is compiled, and what a room is.

add_library(heddle_flags INTERFACE)
target_compile_options(heddle_flags INTERFACE
  -Wall -Wextra -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation> -fvisibility=hidden
  -ffp-contract=fast -fno-math-errno -fno-trapping-math)
target_compile_definitions(heddle_flags INTERFACE _GNU_SOURCE HEDDLE_VERSION="${PROJECT_VERSION}")
target_include_directories(heddle_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
if(HEDDLE_WERROR)
  target_compile_options(heddle_flags INTERFACE -Werror)
endif()
if(HEDDLE_SANITIZE)
  target_compile_options(heddle_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  # gcc warns of variables that only the instrumented code could leave unset.
  target_compile_options(heddle_flags INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(heddle_flags INTERFACE -fsanitize=address,undefined)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON) # for clang-tidy and cppcheck
set(CMAKE_C_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")

# heddle_room(NAME ROOMS lower... USES libraries...): every .c under src/NAME, as the static library heddle_NAME.
# A room without sources yet is an interface over the rooms below it.
# main.c is the command's own (HeddleProducts), so that tests can link the room around it; module_NAME.c is of a shared
# object that is loaded where it can be (HeddleModules).
function(heddle_room name)
  cmake_parse_arguments(room "" "" "ROOMS;USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  list(FILTER sources EXCLUDE REGEX "/(main|module_[^/]*)\\.c$")
  set_property(GLOBAL PROPERTY heddle_room_${name}_uses ${room_USES})
  list(TRANSFORM room_ROOMS PREPEND heddle_)
  if(sources)
    add_library(heddle_${name} STATIC ${sources})
    target_link_libraries(heddle_${name} PRIVATE $<BUILD_INTERFACE:heddle_flags> PUBLIC ${room_ROOMS} ${room_USES})
  else()
    add_library(heddle_${name} INTERFACE)
    target_link_libraries(heddle_${name} INTERFACE ${room_ROOMS} ${room_USES})
  endif()
endfunction()

# heddle_messages(ROOM FILE): src/ROOM/FILE, a description of protobuf messages, becomes C code of the room. Without
# protobuf-c it is left out.
function(heddle_messages room file)
  if(NOT heddle_protobuf_pc_FOUND)
    return()
  endif()
  get_filename_component(name ${file} NAME_WE)
  set(folder ${HEDDLE_GENERATED}/${room})
  set(made ${folder}/${name}.pb-c.c ${folder}/${name}.pb-c.h)
  add_custom_command(OUTPUT ${made}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${HEDDLE_PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR}/src/${room} --c_out=${folder} ${file}
    DEPENDS ${PROJECT_SOURCE_DIR}/src/${room}/${file} VERBATIM)
  set_source_files_properties(${folder}/${name}.pb-c.c PROPERTIES COMPILE_OPTIONS -w)
  target_sources(heddle_${room} PRIVATE ${made})
  target_include_directories(heddle_${room} PUBLIC ${HEDDLE_GENERATED})
endfunction()
