# Generates the rule language's lexer and parser with the ANTLR tool and builds them as entangle_grammar.
find_program(ANTLR4_EXECUTABLE antlr4 REQUIRED)
find_path(ANTLR4_INCLUDE_DIR antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(ANTLR4_RUNTIME_LIBRARY antlr4-runtime REQUIRED)
include(EntangleAntlrVersion)

set(grammar ${PROJECT_SOURCE_DIR}/grammar/Rules.g4)
set(generated ${PROJECT_BINARY_DIR}/grammar)
if(EXISTS ${grammar})
  set(outputs ${generated}/RulesLexer.cpp ${generated}/RulesParser.cpp ${generated}/RulesVisitor.cpp ${generated}/RulesBaseVisitor.cpp)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${ANTLR4_EXECUTABLE} -Dlanguage=Cpp -visitor -no-listener -Werror -package entangle::grammar -Xexact-output-dir -o ${generated} ${grammar}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${generated} -P ${CMAKE_CURRENT_LIST_DIR}/LateGrammar.cmake
    DEPENDS ${grammar} ${CMAKE_CURRENT_LIST_DIR}/LateGrammar.cmake COMMENT "ANTLR Rules.g4" VERBATIM)
  add_library(entangle_grammar STATIC ${outputs})
  target_include_directories(entangle_grammar SYSTEM PUBLIC ${generated} ${ANTLR4_INCLUDE_DIR})
  # The generated parser is derived from src/rules/parser_base.h.
  target_include_directories(entangle_grammar PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  # Code written by the distribution's tool assumes that u8"" is made of char.
  target_compile_options(entangle_grammar PRIVATE -w PUBLIC -fno-char8_t)
  target_link_libraries(entangle_grammar PUBLIC ${ANTLR4_RUNTIME_LIBRARY})
else()
  add_library(entangle_grammar INTERFACE)
endif()
