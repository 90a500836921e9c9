# Generates the rule language's lexer and parser with the ANTLR tool and builds them as entangle_grammar.
find_program(ANTLR4_EXECUTABLE antlr4 REQUIRED)
find_path(ANTLR4_INCLUDE_DIR antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(ANTLR4_RUNTIME_LIBRARY antlr4-runtime REQUIRED)

# ANTLR 4.10 changed the serialised form of its automata: a parser generated before it does not start on a runtime from it on,
# nor the reverse. Better said now than by an exception at start-up.
execute_process(COMMAND ${ANTLR4_EXECUTABLE} OUTPUT_VARIABLE banner ERROR_VARIABLE banner)
string(REGEX MATCH "Version ([0-9]+\\.[0-9]+(\\.[0-9]+)?)" found "${banner}")
set(tool_version ${CMAKE_MATCH_1})
get_filename_component(runtime_file ${ANTLR4_RUNTIME_LIBRARY} REALPATH)
string(REGEX MATCH "antlr4-runtime[^/]*\\.([0-9]+\\.[0-9]+(\\.[0-9]+)?)" found "${runtime_file}")
set(runtime_version ${CMAKE_MATCH_1})
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

set(grammar ${PROJECT_SOURCE_DIR}/grammar/Rules.g4)
set(generated ${PROJECT_BINARY_DIR}/grammar)
if(EXISTS ${grammar})
  set(outputs ${generated}/RulesLexer.cpp ${generated}/RulesParser.cpp ${generated}/RulesVisitor.cpp ${generated}/RulesBaseVisitor.cpp)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${ANTLR4_EXECUTABLE} -Dlanguage=Cpp -visitor -no-listener -Werror -package entangle::grammar -Xexact-output-dir -o ${generated} ${grammar}
    DEPENDS ${grammar} COMMENT "ANTLR Rules.g4" VERBATIM)
  add_library(entangle_grammar STATIC ${outputs})
  target_include_directories(entangle_grammar SYSTEM PUBLIC ${generated} ${ANTLR4_INCLUDE_DIR})
  # Code written by the distribution's tool assumes that u8"" is made of char.
  target_compile_options(entangle_grammar PRIVATE -w PUBLIC -fno-char8_t)
  target_link_libraries(entangle_grammar PUBLIC ${ANTLR4_RUNTIME_LIBRARY})
else()
  add_library(entangle_grammar INTERFACE)
endif()
