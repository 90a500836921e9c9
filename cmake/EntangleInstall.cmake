# Installs the program, libentangle with its headers and CMake package, the rules and the frameworks.
# share/entangle is where support/paths.cpp looks, relative to the program.
include(CMakePackageConfigHelpers)

if(TARGET entangle)
  install(TARGETS entangle RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS libentangle EXPORT entangle-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/entangle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(folder IN ITEMS rules frameworks)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${folder})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/entangle PATTERN "__pycache__" EXCLUDE)
  endif()
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/entangle)
install(EXPORT entangle-targets NAMESPACE entangle:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/entangle-config.cmake.in ${PROJECT_BINARY_DIR}/entangle-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/entangle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/entangle-config.cmake ${PROJECT_BINARY_DIR}/entangle-config-version.cmake DESTINATION ${package_dir})
