# The files of web/ as part of the room `web`, byte for byte: the assembler takes each in. CodeMirror, the editor of the
# learning page, comes from the system's libjs-codemirror; without it the page uses a plain editor of our own.
find_path(HEDDLE_CODEMIRROR lib/codemirror.js PATHS /usr/share/javascript/codemirror NO_DEFAULT_PATH
  DOC "folder of CodeMirror 5, with lib/codemirror.js in it")
file(GLOB_RECURSE heddle_assets CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/web ${PROJECT_SOURCE_DIR}/web/*.html
  ${PROJECT_SOURCE_DIR}/web/*.css ${PROJECT_SOURCE_DIR}/web/*.js ${PROJECT_SOURCE_DIR}/web/*.svg)
list(FILTER heddle_assets EXCLUDE REGEX "^site\\.") # of the static site
list(TRANSFORM heddle_assets PREPEND ${PROJECT_SOURCE_DIR}/web/ OUTPUT_VARIABLE heddle_asset_files)
if(HEDDLE_CODEMIRROR)
  message(STATUS "CodeMirror in ${HEDDLE_CODEMIRROR}")
  foreach(file lib/codemirror.js lib/codemirror.css mode/clike/clike.js addon/edit/matchbrackets.js)
    list(APPEND heddle_assets codemirror/${file})
    list(APPEND heddle_asset_files ${HEDDLE_CODEMIRROR}/${file})
  endforeach()
else()
  message(STATUS "libjs-codemirror not found: the learning page has a plain editor")
endif()

set(heddle_asset_bytes "")
set(heddle_asset_rows "")
set(heddle_asset_index 0)
foreach(name file IN ZIP_LISTS heddle_assets heddle_asset_files)
  # The compiler's cache does not see what the assembler takes in: a changed file has to change the source.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(SHA256 ${file} heddle_asset_hash)
  string(APPEND heddle_asset_bytes "ASSET(${heddle_asset_index}, \"${file}\") // ${heddle_asset_hash}\n")
  string(APPEND heddle_asset_rows "    {\"${name}\", asset_${heddle_asset_index}, asset_end_${heddle_asset_index}},\n")
  math(EXPR heddle_asset_index "${heddle_asset_index} + 1")
endforeach()
set(heddle_assets_source ${HEDDLE_GENERATED}/web_assets.c)
file(CONFIGURE OUTPUT ${heddle_assets_source} @ONLY CONTENT
"// Made by cmake/HeddleAssets.cmake.
#include \"web/assets.h\"
#define ASSET(index, file)                                                              \\
    extern const unsigned char asset_##index[] __attribute__((visibility(\"hidden\")));   \\
    extern const unsigned char asset_end_##index[] __attribute__((visibility(\"hidden\"))); \\
    __asm__(\".pushsection .rodata\\nasset_\" #index \":\\n.incbin \\\"\" file \"\\\"\\nasset_end_\" #index \":\\n.popsection\\n\");
@heddle_asset_bytes@
extern const heddle_web_asset heddle_web_assets[];
const heddle_web_asset heddle_web_assets[] = {
@heddle_asset_rows@    {0},
};
")
