# Tests once more, on the devices that come as modules. On a real GPU only where it is asked for, by HEDDLE_TEST_CUDA=1
# in the environment when configuring: then a GPU that is missing is a failure.

# heddle_device_test(ROOM NAME DEVICE): tests/ROOM/test_NAME.c with DEVICE under test, as ROOM.NAME_DEVICE.
function(heddle_device_test room name device)
  set(test ${room}.${name}_${device})
  add_test(NAME ${test} COMMAND test_${room}_${name} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  set_tests_properties(${test} PROPERTIES TIMEOUT 600 ENVIRONMENT "HEDDLE_TEST_DEVICE=${device};${ARGN}")
endfunction()

# The ladders in two parts, which run beside each other: the convolutions take about as long as all the rest.
function(heddle_ladders_test device)
  foreach(part "ladders;-conv*" "ladders_conv;conv*")
    list(GET part 0 name)
    list(GET part 1 filter)
    set(test ops.${name}_${device})
    add_test(NAME ${test} COMMAND test_ops_ladders ${filter} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(${test} PROPERTIES TIMEOUT 600 ENVIRONMENT "HEDDLE_TEST_DEVICE=${device}")
  endforeach()
endfunction()

set(devices)
if(HEDDLE_SIM_MODULE)
  list(APPEND devices sim)
endif()
if(HEDDLE_CUDA_MODULE AND DEFINED ENV{HEDDLE_TEST_CUDA} AND "$ENV{HEDDLE_TEST_CUDA}")
  list(APPEND devices cuda)
endif()
foreach(device ${devices})
  heddle_device_test(device gpu ${device})
  heddle_device_test(device default ${device})
  heddle_device_test(bench pipeline ${device})
  heddle_device_test(bench out_of_core ${device})
  heddle_device_test(nn gpu ${device})
  heddle_device_test(nn whole_steps ${device})
  heddle_device_test(nn rows ${device})
  heddle_device_test(nn infer ${device})
  heddle_device_test(nn step_gradients ${device})
  heddle_device_test(nn layers ${device})
  heddle_ladders_test(${device})
  foreach(name cnn_step conv_blocks edges order products pytorch_values device_reference random fft conv_modes)
    heddle_device_test(ops ${name} ${device})
  endforeach()
endforeach()

# What breaks a real GPU under a run is built wherever it can be, and used where there is one.
add_library(test_gpu_fault MODULE ${CMAKE_CURRENT_SOURCE_DIR}/nn/faults/fault.c ${CMAKE_CURRENT_SOURCE_DIR}/nn/faults/lost.c)
target_link_libraries(test_gpu_fault PRIVATE heddle_flags Threads::Threads ${CMAKE_DL_LIBS})
# How it steps between CUDA's runtime and the driver needs neither. (A sanitizer's library would have to be loaded before.)
if(NOT HEDDLE_SANITIZE)
  set(faults ${CMAKE_CURRENT_SOURCE_DIR}/nn/faults)
  add_library(test_played_driver SHARED ${faults}/played_driver.c)
  set_target_properties(test_played_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/played_driver)
  add_executable(test_played_runtime ${faults}/played_runtime.c)
  foreach(target test_played_driver test_played_runtime)
    target_link_libraries(${target} PRIVATE heddle_flags ${CMAKE_DL_LIBS})
  endforeach()
  add_dependencies(test_played_runtime test_played_driver test_gpu_fault)
  add_test(NAME nn.lost_card COMMAND test_played_runtime)
  set_tests_properties(nn.lost_card PROPERTIES TIMEOUT 60 ENVIRONMENT
    "LD_PRELOAD=$<TARGET_FILE:test_gpu_fault>;LD_LIBRARY_PATH=${CMAKE_CURRENT_BINARY_DIR}/played_driver;HEDDLE_FAULT=lost;HEDDLE_FAULT_AFTER=${CMAKE_CURRENT_BINARY_DIR}/lost_card_now")
endif()
if(cuda IN_LIST devices)
  add_test(NAME nn.gpu_faults_cuda COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/nn/faults/gpu_faults.sh $<TARGET_FILE:heddle_command>
    $<TARGET_FILE:test_gpu_fault>)
  set_tests_properties(nn.gpu_faults_cuda PROPERTIES TIMEOUT 600)
endif()

# What is chosen for a card whose blocks have 99 KiB of shared memory.
if(HEDDLE_SIM_MODULE)
  heddle_device_test(ops cards sim SIM_GPU=rtx4090)
endif()

# A module with broken rungs in it, to see that they are found.
if(HEDDLE_SIM_MODULE)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/faulty)
  file(MAKE_DIRECTORY ${folder})
  heddle_sim_module(test_module_faulty ${folder}/libheddle-sim.so ${CMAKE_CURRENT_SOURCE_DIR}/ops/faulty.cu
    ${CMAKE_CURRENT_SOURCE_DIR}/bench/wrong.cu)
  heddle_device_test(ops findings sim HEDDLE_MODULES=${folder})
endif()
