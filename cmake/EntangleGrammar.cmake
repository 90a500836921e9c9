# Generates the lexers and parsers of grammar/ with the ANTLR tool and builds them as entangle_grammar (the rule language) and
# entangle_hlo_grammar (HLO text).
find_program(ANTLR4_EXECUTABLE antlr4 REQUIRED)
find_path(ANTLR4_INCLUDE_DIR antlr4-runtime.h PATH_SUFFIXES antlr4-runtime REQUIRED)
find_library(ANTLR4_RUNTIME_LIBRARY antlr4-runtime REQUIRED)
include(EntangleAntlrVersion)

# entangle_generated_grammar(TARGET NAME): the library TARGET from grammar/NAME.g4.
function(entangle_generated_grammar target name)
  set(grammar ${PROJECT_SOURCE_DIR}/grammar/${name}.g4)
  set(generated ${PROJECT_BINARY_DIR}/grammar)
  set(outputs ${generated}/${name}Lexer.cpp ${generated}/${name}Parser.cpp)
  # What includes the headers is compiled again in the build that makes them anew, not in the next one.
  add_custom_command(
    OUTPUT ${outputs}
    BYPRODUCTS ${generated}/${name}Lexer.h ${generated}/${name}Parser.h
    COMMAND ${ANTLR4_EXECUTABLE} -Dlanguage=Cpp -no-visitor -no-listener -Werror -package entangle::grammar -Xexact-output-dir
            -o ${generated} ${grammar}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${generated} -DNAME=${name} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/LateGrammar.cmake
    DEPENDS ${grammar} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/LateGrammar.cmake COMMENT "ANTLR ${name}.g4" VERBATIM)
  add_library(${target} STATIC ${outputs})
  target_include_directories(${target} SYSTEM PUBLIC ${generated} ${ANTLR4_INCLUDE_DIR})
  # Code written by the distribution's tool assumes that u8"" is made of char.
  target_compile_options(${target} PRIVATE -w PUBLIC -fno-char8_t)
  target_link_libraries(${target} PUBLIC ${ANTLR4_RUNTIME_LIBRARY})
endfunction()

entangle_generated_grammar(entangle_grammar Rules)
# The generated parser is derived from src/rules/parser_base.h.
target_include_directories(entangle_grammar PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
entangle_generated_grammar(entangle_hlo_grammar Hlo)
