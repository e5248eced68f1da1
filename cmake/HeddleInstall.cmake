# Where the products go: headers, libraries, command, pkg-config and CMake package files, manual page, completions.
# Both package files find the rest from where they are, so an installed tree can be moved.
include(HeddleProducts)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS heddle_shared EXPORT heddle-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS heddle_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS heddle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# --- the simulated GPU ------------------------------------------------------------------------------------------------
install(TARGETS simcc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS sim ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle/sim)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/sim/include DESTINATION ${CMAKE_INSTALL_LIBDIR}/heddle/sim)

# --- the course --------------------------------------------------------------------------------------------------------
install(DIRECTORY ${PROJECT_SOURCE_DIR}/course DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle
  PATTERN __pycache__ EXCLUDE PATTERN "*.pyc" EXCLUDE PATTERN a.out EXCLUDE)

# --- examples ---------------------------------------------------------------------------------------------------------
# Beside the pages, as in the sources: both name them by the same path.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heddle USE_SOURCE_PERMISSIONS
  PATTERN __pycache__ EXCLUDE PATTERN "*.pyc" EXCLUDE PATTERN a.out EXCLUDE)

# --- the programs that measure PyTorch and JAX -------------------------------------------------------------------------
include(HeddlePeers)
install(FILES ${heddle_peers} DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/peers)

# --- pkg-config ------------------------------------------------------------------------------------------------------
# `pkg-config --static` is for libheddle.a with everything else shared. Listing modules as Requires.private instead would
# draw in all that those need to be linked statically themselves, which few machines have.
set(heddle_libs_private)
foreach(target heddle_cjson heddle_blas heddle_curl heddle_crypto heddle_png heddle_jpeg heddle_protobuf)
  list(APPEND heddle_libs_private ${${target}_pc_LDFLAGS})
endforeach()
list(APPEND heddle_libs_private -lz -lm -pthread)
list(REMOVE_DUPLICATES heddle_libs_private)
list(JOIN heddle_libs_private " " heddle_libs_private)
file(RELATIVE_PATH heddle_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/packaging/heddle.pc.in ${PROJECT_BINARY_DIR}/heddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# --- find_package(heddle) --------------------------------------------------------------------------------------------
set(heddle_package ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
configure_package_config_file(${PROJECT_SOURCE_DIR}/packaging/heddle-config.cmake.in
  ${PROJECT_BINARY_DIR}/heddle-config.cmake INSTALL_DESTINATION ${heddle_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heddle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heddle-config.cmake ${PROJECT_BINARY_DIR}/heddle-config-version.cmake
  DESTINATION ${heddle_package})
install(EXPORT heddle-targets NAMESPACE heddle:: DESTINATION ${heddle_package})

# --- pages -----------------------------------------------------------------------------------------------------------
install(FILES ${heddle_pages}/heddle.1 ${heddle_pages}/simcc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${heddle_pages}/heddle.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME heddle)
install(FILES ${heddle_pages}/_heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${heddle_pages}/heddle.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Messages name pages of docs/ by where they are installed: src/base/place.c. Links into the sources would lead nowhere.
file(GLOB_RECURSE heddle_documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.svg)
add_custom_command(OUTPUT ${heddle_pages}/doc/README.md
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/installed-pages ${heddle_pages}/doc
  DEPENDS ${PROJECT_SOURCE_DIR}/scripts/installed-pages ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
    ${heddle_documents} VERBATIM)
add_custom_target(heddle_documents ALL DEPENDS ${heddle_pages}/doc/README.md)
add_dependencies(heddle_products heddle_documents)
install(DIRECTORY ${heddle_pages}/doc/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heddle)
