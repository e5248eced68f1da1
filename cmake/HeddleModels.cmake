# The built-in models, as `NAME=FILE` for each examples/models/FILE.json: nn/models.c has their text from here, so that
# an example and the model of its name are one thing.
set(heddle_models cnn=cnn mlp=mlp lenet=lenet5 vgg=vgg resnet=resnet)

set(heddle_models_rows "")
foreach(model ${heddle_models})
  string(REGEX MATCH "^(.*)=(.*)$" model ${model})
  set(name ${CMAKE_MATCH_1})
  set(file ${PROJECT_SOURCE_DIR}/examples/models/${CMAKE_MATCH_2}.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\" \\\n        \"" text "${text}")
  string(APPEND heddle_models_rows " \\\n    each(\"${name}\", \\\n        \"${text}\")")
endforeach()
set(HEDDLE_GENERATED ${PROJECT_BINARY_DIR}/generated)
file(CONFIGURE OUTPUT ${HEDDLE_GENERATED}/built_in_models.h @ONLY CONTENT
"// Made by cmake/HeddleModels.cmake from examples/models. each(name, text)
#define HEDDLE_BUILT_IN_MODELS(each)@heddle_models_rows@
")
