# What comes out: libheddle.so and libheddle.a, made of every room but the command's, the command itself, and the pages
# that the command prints about itself.

set(heddle_library_rooms base device io data dist ops nn)
set(heddle_objects)
set(heddle_uses)
foreach(room ${heddle_library_rooms})
  get_target_property(type heddle_${room} TYPE)
  if(type STREQUAL "STATIC_LIBRARY") # a room without sources has no objects
    list(APPEND heddle_objects $<TARGET_OBJECTS:heddle_${room}>)
  endif()
  get_property(uses GLOBAL PROPERTY heddle_room_${room}_uses)
  list(APPEND heddle_uses ${uses})
endforeach()
list(REMOVE_DUPLICATES heddle_uses)

foreach(kind SHARED STATIC)
  string(TOLOWER heddle_${kind} target)
  add_library(${target} ${kind} ${heddle_objects})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME heddle LINKER_LANGUAGE C
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
endforeach()
set_target_properties(heddle_shared PROPERTIES EXPORT_NAME heddle VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
# Our own calls to our own functions need no detour through the dynamic linker.
target_link_options(heddle_shared PRIVATE -Wl,-Bsymbolic-functions)
if(NOT HEDDLE_SANITIZE) # the sanitizers' own functions come with the program
  target_link_options(heddle_shared PRIVATE -Wl,-z,defs)
endif()
target_link_libraries(heddle_shared PRIVATE $<BUILD_INTERFACE:heddle_flags> ${heddle_uses})

# The rooms are linked in, so that the command needs no library path and starts fast.
add_executable(heddle_command ${PROJECT_SOURCE_DIR}/src/cli/main.c)
set_target_properties(heddle_command PROPERTIES OUTPUT_NAME heddle RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_link_libraries(heddle_command PRIVATE heddle_flags heddle_cli)
target_link_options(heddle_command PRIVATE -Wl,--as-needed)

# The command knows its own options: manual page and completions are what it prints.
set(heddle_pages ${PROJECT_BINARY_DIR}/pages)
function(heddle_page file)
  add_custom_command(OUTPUT ${heddle_pages}/${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${heddle_pages}
    COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:heddle_command> help ${ARGN} >
      ${heddle_pages}/${file}
    DEPENDS heddle_command VERBATIM)
endfunction()
heddle_page(heddle.1 --manual)
heddle_page(heddle.bash --completion bash)
heddle_page(_heddle --completion zsh)
heddle_page(heddle.fish --completion fish)
add_custom_command(OUTPUT ${heddle_pages}/simcc.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${heddle_pages}
  COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 ${PROJECT_SOURCE_DIR}/scripts/simcc-manual
    $<TARGET_FILE:simcc> ${PROJECT_VERSION} > ${heddle_pages}/simcc.1
  DEPENDS simcc ${PROJECT_SOURCE_DIR}/scripts/simcc-manual VERBATIM)
add_custom_target(heddle_pages ALL
  DEPENDS ${heddle_pages}/heddle.1 ${heddle_pages}/simcc.1 ${heddle_pages}/heddle.bash ${heddle_pages}/_heddle ${heddle_pages}/heddle.fish)

# What a person needs who does not run the tests, and all that is installed.
add_custom_target(heddle_products DEPENDS heddle_shared heddle_static heddle_command heddle_pages sim simcc
  heddle_judges_sim)
get_property(heddle_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(module ${heddle_targets})
  if(module MATCHES "^heddle_module_")
    add_dependencies(heddle_products ${module})
  endif()
endforeach()
