# Texts of the tree that become part of the library, each list as a header that has `each(name, text)` for every text.
set(HEDDLE_GENERATED ${PROJECT_BINARY_DIR}/generated)

# heddle_embed_add(ROWS NAME TEXT): appends a row to the list of that name.
function(heddle_embed_add rows name text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\" \\\n        \"" text "${text}")
  set(${rows} "${${rows}} \\\n    each(\"${name}\", \\\n        \"${text}\")" PARENT_SCOPE)
endfunction()

# heddle_embed_read(PATH TEXT): configures again when the file changes.
function(heddle_embed_read path text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} content)
  set(${text} "${content}" PARENT_SCOPE)
endfunction()

# --- the built-in models, as NAME=FILE for each examples/models/FILE.json: an example and the model of its name are one
set(heddle_models "")
foreach(model cnn=cnn mlp=mlp lenet=lenet5 vgg=vgg resnet=resnet mlp3=mlp3 wide-cnn=wide-cnn)
  string(REGEX MATCH "^(.*)=(.*)$" model ${model})
  set(name ${CMAKE_MATCH_1})
  heddle_embed_read(${PROJECT_SOURCE_DIR}/examples/models/${CMAKE_MATCH_2}.json text)
  heddle_embed_add(heddle_models ${name} "${text}")
endforeach()
file(CONFIGURE OUTPUT ${HEDDLE_GENERATED}/built_in_models.h @ONLY CONTENT
"// Made by cmake/HeddleEmbed.cmake from examples/models. each(name, text)
#define HEDDLE_BUILT_IN_MODELS(each)@heddle_models@
")

# --- the pages of `heddle explain`: a link to a program that stands in a line of its own becomes the program
set(heddle_pages_of_check "")
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/check/pages/*.md)
foreach(page ${pages})
  get_filename_component(name ${page} NAME_WE)
  heddle_embed_read(${page} text)
  foreach(program ${name}_wrong.cu ${name}_right.cu)
    heddle_embed_read(${PROJECT_SOURCE_DIR}/src/check/pages/${program} code)
    string(REPLACE "\n[${program}](${program})\n" "\n```cuda\n${code}```\n" text "${text}")
  endforeach()
  heddle_embed_add(heddle_pages_of_check ${name} "${text}")
endforeach()
file(CONFIGURE OUTPUT ${HEDDLE_GENERATED}/pages_of_check.h @ONLY CONTENT
"// Made by cmake/HeddleEmbed.cmake from src/check/pages. each(kind, text)
#define HEDDLE_CHECK_PAGES(each)@heddle_pages_of_check@
")

# heddle_embed_script(NAME MODULE...): modules of web/ as one script, each behind those that it imports.
function(heddle_embed_script name)
  set(script "")
  foreach(module ${ARGN})
    heddle_embed_read(${PROJECT_SOURCE_DIR}/web/${module}.js text)
    string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
    string(REGEX REPLACE "\nexport {[^\n]*" "\n" text "${text}")
    string(REGEX REPLACE "\nexport " "\n" text "${text}")
    string(APPEND script "${text}")
  endforeach()
  set(${name} "${script}" PARENT_SCOPE)
endfunction()

# --- the look of reports, and the colours of code in them
set(heddle_report "")
heddle_embed_read(${PROJECT_SOURCE_DIR}/web/style.css style)
heddle_embed_read(${PROJECT_SOURCE_DIR}/web/report.css text)
heddle_embed_add(heddle_report style "${style}\n${text}")
heddle_embed_script(script highlight)
heddle_embed_add(heddle_report script "${script}")
file(CONFIGURE OUTPUT ${HEDDLE_GENERATED}/look_of_reports.h @ONLY CONTENT
"// Made by cmake/HeddleEmbed.cmake from web/style.css, web/report.css and web/highlight.js. each(name, text)
#define HEDDLE_REPORT(each)@heddle_report@
")

# --- the pictures of `check --html`
set(heddle_pictures "")
set(heddle_picture_modules svg trace warp banks block bounds race tile streams pictures)
list(TRANSFORM heddle_picture_modules PREPEND pictures/)
heddle_embed_script(script ${heddle_picture_modules})
heddle_embed_add(heddle_pictures script "${script}")
heddle_embed_read(${PROJECT_SOURCE_DIR}/web/pictures/pictures.css text)
heddle_embed_add(heddle_pictures style "${text}")
file(CONFIGURE OUTPUT ${HEDDLE_GENERATED}/pictures_of_check.h @ONLY CONTENT
"// Made by cmake/HeddleEmbed.cmake from web/pictures. each(name, text)
#define HEDDLE_PICTURES(each)@heddle_pictures@
")
