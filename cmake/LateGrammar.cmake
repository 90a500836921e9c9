# cmake -DFOLDER=… -DNAME=… -P LateGrammar.cmake: makes the generated lexer and parser read their tables when the first of each is
# made. As ANTLR 4.7 writes them they do so whenever a program starts, even one that parses nothing. Later versions of ANTLR
# do this by themselves.
foreach(name IN ITEMS ${NAME}Lexer ${NAME}Parser)
  set(file ${FOLDER}/${name}.cpp)
  file(READ ${file} text)
  if(text MATCHES "\n${name}::Initializer ${name}::_init;\n")
    string(REPLACE "\n${name}::Initializer ${name}::_init;\n" "\n" text "${text}")
    string(REGEX REPLACE "(\n${name}::${name}\\([^\n]*{\n)" "\\1  static const Initializer tables;\n" text "${text}")
    file(WRITE ${file} "${text}")
  endif()
endforeach()
