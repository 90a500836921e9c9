# Everything the distribution provides. The list of what an installed libentangle needs is at the end.
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(range-v3 REQUIRED)
if(BUILD_TESTING)
  find_package(doctest REQUIRED)
endif()
find_library(ENTANGLE_Z3_LIBRARY z3 REQUIRED)
include(EntangleGrammar)
set(ENTANGLE_EXTERNAL_LIBRARIES
    fmt::fmt yaml-cpp simdjson::simdjson gmpxx gmp
    $<BUILD_INTERFACE:${ENTANGLE_Z3_LIBRARY}> $<INSTALL_INTERFACE:z3>
    $<BUILD_INTERFACE:${ANTLR4_RUNTIME_LIBRARY}> $<INSTALL_INTERFACE:antlr4-runtime>)
