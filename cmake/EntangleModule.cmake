# entangle_module(NAME [DEPENDS modules...] [LINK public libs...] [PRIVATE_LINK libs...])
#   One static library per folder of src/, named entangle_NAME. A module without sources yet is an empty interface library.
# entangle_library()
#   libentangle: the objects of every module in one archive; what an installed copy offers.
# entangle_program(FOLDER)
#   The program `entangle` at the top of the build folder; no target while FOLDER has no sources.
# entangle_library_hashes(MODULE)
#   Makes a source of the module from the rule library, by which the program knows the library's files.
# entangle_test(MODULE [libs...])
#   One doctest program per folder of tests/, linked with its module.
option(ENTANGLE_WERROR "Treat warnings in our own code as errors" ON)
set(ENTANGLE_WARNINGS -Wall -Wextra -Wpedantic)
if(ENTANGLE_WERROR)
  list(APPEND ENTANGLE_WARNINGS -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # These depend on what the optimiser saw and are often wrong inside the standard library: shown, never fatal.
  list(APPEND ENTANGLE_WARNINGS -Wno-restrict -Wno-error=maybe-uninitialized -Wno-error=array-bounds
       -Wno-error=stringop-overflow -Wno-error=stringop-overread -Wno-error=dangling-pointer -Wno-error=free-nonheap-object
       -Wno-error=null-dereference)
endif()
set_property(GLOBAL PROPERTY ENTANGLE_MODULES "")

function(entangle_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK;PRIVATE_LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(sources)
    add_library(entangle_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_compile_options(entangle_${name} PRIVATE ${ENTANGLE_WARNINGS})
    target_link_libraries(entangle_${name} PRIVATE $<BUILD_INTERFACE:range-v3::range-v3> ${ARG_PRIVATE_LINK})
    target_include_directories(entangle_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  else()
    add_library(entangle_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(entangle_${name} ${scope} ${PROJECT_SOURCE_DIR}/include)
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(entangle_${name} ${scope} entangle_${dependency})
  endforeach()
  target_link_libraries(entangle_${name} ${scope} ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY ENTANGLE_MODULES entangle_${name})
endfunction()

function(entangle_library)
  get_property(modules GLOBAL PROPERTY ENTANGLE_MODULES)
  set(objects "")
  foreach(target IN LISTS modules ITEMS entangle_grammar entangle_hlo_grammar)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      list(APPEND objects $<TARGET_OBJECTS:${target}>)
    endif()
  endforeach()
  add_library(libentangle STATIC ${objects})
  add_library(entangle::entangle ALIAS libentangle)
  set_target_properties(libentangle PROPERTIES OUTPUT_NAME entangle EXPORT_NAME entangle LINKER_LANGUAGE CXX)
  target_compile_features(libentangle PUBLIC cxx_std_20)
  target_include_directories(libentangle PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(libentangle PUBLIC ${ENTANGLE_EXTERNAL_LIBRARIES})
endfunction()

function(entangle_program folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  if(NOT sources)
    message(STATUS "No sources in ${folder}: the program is not built")
    return()
  endif()
  add_executable(entangle ${sources})
  target_compile_options(entangle PRIVATE ${ENTANGLE_WARNINGS})
  target_compile_definitions(entangle PRIVATE ENTANGLE_VERSION="${PROJECT_VERSION}")
  target_include_directories(entangle PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(entangle PRIVATE libentangle CLI11::CLI11 nlohmann_json::nlohmann_json)
  # Sanitizers bring an allocator of their own.
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_libraries(entangle PRIVATE mimalloc)
  endif()
  # Half the time of starting goes into relocating the C++ library.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(entangle PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  # By its build ID the program tells what was written by a build like itself.
  target_link_options(entangle PRIVATE LINKER:--build-id)
endfunction()

set(ENTANGLE_LIBRARY_PATTERNS ${PROJECT_SOURCE_DIR}/rules/*.rules ${PROJECT_SOURCE_DIR}/frameworks/*.rules)

function(entangle_library_hashes module)
  file(GLOB_RECURSE rules CONFIGURE_DEPENDS ${ENTANGLE_LIBRARY_PATTERNS})
  if(CMAKE_CROSSCOMPILING)
    # What is compiled cannot run: no file is known to be the library's.
    file(WRITE ${CMAKE_BINARY_DIR}/library_hashes.cpp
         "#include \"rules/library_hashes.h\"\n\nconst std::vector<std::uint64_t>& entangle::rules::library_hashes() {\n  static const std::vector<std::uint64_t> none;\n  return none;\n}\n")
  else()
    add_executable(library_hashes ${PROJECT_SOURCE_DIR}/cmake/library_hashes.cpp)
    target_include_directories(library_hashes PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_compile_options(library_hashes PRIVATE ${ENTANGLE_WARNINGS})
    set_target_properties(library_hashes PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tools)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/library_hashes.cpp
                       COMMAND library_hashes ${CMAKE_BINARY_DIR}/library_hashes.cpp ${rules}
                       DEPENDS library_hashes ${rules} COMMENT "Hashing the rule library" VERBATIM)
  endif()
  target_sources(entangle_${module} PRIVATE ${CMAKE_BINARY_DIR}/library_hashes.cpp)
endfunction()

# The rule library, compiled by the program, beside it and for the installed one.
function(entangle_compiled_library)
  if(NOT TARGET entangle OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  file(GLOB_RECURSE rules CONFIGURE_DEPENDS ${ENTANGLE_LIBRARY_PATTERNS})
  set(compiled ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/rules.compiled)
  add_custom_command(OUTPUT ${compiled}
                     COMMAND ${CMAKE_COMMAND} -E env --unset=ENTANGLE_RULES --unset=ENTANGLE_CACHE $<TARGET_FILE:entangle> compile ${compiled}
                     DEPENDS entangle ${rules} COMMENT "Compiling the rule library" VERBATIM)
  add_custom_target(compiled_library ALL DEPENDS ${compiled})
  install(FILES ${compiled} DESTINATION ${CMAKE_INSTALL_DATADIR}/entangle OPTIONAL)
endfunction()

function(entangle_test module)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${module}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${module} ${sources})
  target_compile_options(test_${module} PRIVATE ${ENTANGLE_WARNINGS})
  target_compile_definitions(test_${module} PRIVATE ENTANGLE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ENTANGLE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(test_${module} PRIVATE entangle_${module} entangle_test_main doctest::doctest ${ARGN})
  add_test(NAME ${module} COMMAND test_${module})
endfunction()
