# Ends the configuration when the ANTLR tool and the ANTLR C++ runtime do not fit together (ANTLR4_EXECUTABLE,
# ANTLR4_RUNTIME_LIBRARY, ANTLR4_INCLUDE_DIR are set).
#
# ANTLR 4.10 changed the serialised form of its automata: a parser generated before it does not start on a runtime from it on,
# nor the reverse. Better said now than by an exception at start-up.
execute_process(COMMAND ${ANTLR4_EXECUTABLE} OUTPUT_VARIABLE banner ERROR_VARIABLE banner)
string(REGEX MATCH "Version ([0-9]+\\.[0-9]+(\\.[0-9]+)?)" found "${banner}")
set(tool_version ${CMAKE_MATCH_1})
get_filename_component(runtime_file ${ANTLR4_RUNTIME_LIBRARY} REALPATH)
string(REGEX MATCH "antlr4-runtime(\\.so)?\\.([0-9]+\\.[0-9]+(\\.[0-9]+)?)" found "${runtime_file}")
set(runtime_version ${CMAKE_MATCH_2})
if(NOT runtime_version)  # a static library has no version in its name; this header came with 4.10
  if(EXISTS ${ANTLR4_INCLUDE_DIR}/atn/SerializedATNView.h)
    set(runtime_version "4.10")
  else()
    set(runtime_version "4.9")
  endif()
endif()
if(NOT tool_version)
  message(FATAL_ERROR "${ANTLR4_EXECUTABLE} does not say its version; it printed:\n${banner}")
endif()
message(STATUS "ANTLR tool ${tool_version}, C++ runtime ${runtime_version}")
if((tool_version VERSION_LESS 4.10 AND runtime_version VERSION_GREATER_EQUAL 4.10)
   OR (tool_version VERSION_GREATER_EQUAL 4.10 AND runtime_version VERSION_LESS 4.10))
  message(FATAL_ERROR
    "The ANTLR tool (${ANTLR4_EXECUTABLE}, version ${tool_version}) and the ANTLR C++ runtime (${ANTLR4_RUNTIME_LIBRARY}, "
    "version ${runtime_version}) do not fit together: both must be older than 4.10, or both 4.10 or newer. "
    "Point -DANTLR4_EXECUTABLE= at a tool of the runtime's version, or -DANTLR4_RUNTIME_LIBRARY= and -DANTLR4_INCLUDE_DIR= "
    "at a runtime of the tool's version. (Debian 12 has a pair that works: tool 4.7.2, runtime 4.9.)")
endif()
