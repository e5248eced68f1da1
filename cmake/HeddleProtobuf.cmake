# protobuf-c: the runtime library and the compiler of messages are two packages, and both are needed. Without them the
# files that read or write such messages say so when they are called.
if(NOT TARGET heddle_protobuf)
  find_program(HEDDLE_PROTOC_C protoc-c)
  if(HEDDLE_PROTOC_C)
    heddle_optional(heddle_protobuf libprotobuf-c HEDDLE_HAVE_PROTOBUF)
  else()
    add_library(heddle_protobuf INTERFACE)
    message(STATUS "protoc-c not found: built without protobuf")
  endif()
endif()

# heddle_messages(ROOM FILE): src/ROOM/FILE, a description of protobuf messages, becomes C code of the room.
if(NOT COMMAND heddle_messages)
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
endif()
