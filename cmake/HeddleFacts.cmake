# What `heddle version` says about this build: the commit, the kind of build, its sanitizers. Only src/cli/version.c
# includes it, so a new commit compiles one file.

# git archive writes the commit into packaging/commit; in a checkout git knows it, and its log changes with every commit.
file(STRINGS ${PROJECT_SOURCE_DIR}/packaging/commit heddle_commit LIMIT_COUNT 1)
if(NOT heddle_commit MATCHES "^[0-9a-f]+$")
  set(heddle_commit "")
endif()
find_program(HEDDLE_GIT NAMES git DOC "asked for the commit, and what changed last")
if(HEDDLE_GIT AND NOT heddle_commit AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND ${HEDDLE_GIT} rev-parse HEAD --git-path logs/HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND answer MATCHES "^([0-9a-f]+)\n([^\n]+)\n$")
    set(heddle_commit ${CMAKE_MATCH_1})
    get_filename_component(log ${CMAKE_MATCH_2} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS ${log})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
    endif()
  endif()
endif()
set(heddle_sanitizers "")
if(HEDDLE_SANITIZE)
  set(heddle_sanitizers "address, undefined")
endif()
set(heddle_codemirror "")
if(HEDDLE_CODEMIRROR)
  file(STRINGS ${HEDDLE_CODEMIRROR}/lib/codemirror.js heddle_codemirror REGEX "CodeMirror\\.version = " LIMIT_COUNT 1)
  string(REGEX REPLACE ".*\"([^\"]*)\".*" "\\1" heddle_codemirror "${heddle_codemirror}")
endif()
file(CONFIGURE OUTPUT ${HEDDLE_GENERATED}/build_facts.h @ONLY CONTENT
"// Made by cmake/HeddleFacts.cmake. Empty: not known, or none.
#define HEDDLE_COMMIT \"@heddle_commit@\"
#define HEDDLE_BUILD_TYPE \"@CMAKE_BUILD_TYPE@\"
#define HEDDLE_SANITIZERS \"@heddle_sanitizers@\"
#define HEDDLE_CODEMIRROR \"@heddle_codemirror@\"
")
