// HLO text: modules as XLA prints and reads them.
//
// What stands inside brackets is only bracketed here: src/graph/hlo_values.h reads numbers, lists, windows and groups from the text
// between them. Almost every decision is made by one token of lookahead; a layout is told from the body of a computation, both of
// which begin with `{`, by what follows. The pieces of a module are parsed one by one (src/graph/hlo_parse.cpp).
grammar Hlo;

head : 'HloModule' name=WORD (',' attributes+=attribute)* ;
// Which files and lines `stack_frame_id` means.
table : kind=('FileNames' | 'FunctionNames' | 'FileLocations' | 'StackFrames') rows+=row* ;
row : number=INT (text=STRING | fields=curly) ;

computation : entry='ENTRY'? name=WORD signature? '{' ;
signature : '(' (parameter (',' parameter)*)? ')' '->' shape ;
parameter : WORD ':' shape ;
computationEnd : '}' (',' attributes+=attribute)* ;

instruction
  : root='ROOT'? name=WORD '=' type=shape opcode=WORD open='(' (operands+=operand (',' operands+=operand)*)? close=')'
    (',' attributes+=attribute)*
  ;
shape
  : open='(' (parts+=shape (',' parts+=shape)*)? ')'
  | dtype=WORD '[' (sizes+=size (',' sizes+=size)*)? ']' order=layout?
  ;
size : bounded='<='? number=INT | unknown=WORD ;
layout : '{' ((INT | ':') piece*)? '}' ;
// The name of an instruction, with or without its shape in front; the value of a constant; the number of a parameter.
operand
  : first=word (arguments=round | array='[' (sizes+=size (',' sizes+=size)*)? ']' order=layout? name=WORD?)? literal=curly?
  | literal=curly
  | tuple=round name=WORD?
  | text=STRING
  ;
attribute : name=WORD '=' value ;
value : word ('->' word)? | STRING | curly | squares | round ;
squares : square ('<=' square TRANSPOSED?)? ;

word : WORD | INT ;
curly : '{' piece* '}' ;
square : '[' piece* ']' ;
round : '(' piece* ')' ;
piece : WORD | TRANSPOSED | INT | STRING | curly | square | round | ',' | '=' | ':' | '->' | '<=' | OTHER ;

MODULE : 'HloModule' ;
ENTRY : 'ENTRY' ;
ROOT : 'ROOT' ;
FILE_NAMES : 'FileNames' ;
FUNCTION_NAMES : 'FunctionNames' ;
FILE_LOCATIONS : 'FileLocations' ;
STACK_FRAMES : 'StackFrames' ;
ARROW : '->' ;
AT_MOST : '<=' ;
COMMA : ',' ;
ASSIGN : '=' ;
COLON : ':' ;
OPEN_ROUND : '(' ;
CLOSE_ROUND : ')' ;
OPEN_SQUARE : '[' ;
CLOSE_SQUARE : ']' ;
OPEN_CURLY : '{' ;
CLOSE_CURLY : '}' ;
OTHER : [*<>/;|&^~'`+-] ;
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
OPEN_STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* ;
SPACE : [ \t\r\n]+ -> skip ;
COMMENT : '/*' .*? '*/' -> skip ;
OPEN_COMMENT : '/*' ;
LINE_COMMENT : '//' ~[\r\n]* -> skip ;
INT : [0-9]+ ;
// One token, since an instruction may end with it: the next one begins with a name, which is not to be taken for its `T`.
TRANSPOSED : 'T' [ \t]* '(' [ \t]* [0-9] [0-9, \t]* ')' ;
// Names, numbers, and what is made of both: `%add.5`, `-1e-05`, `3x3`, `0_1x-1_1`, `b01f_01io`.
WORD : [-+]? [A-Za-z0-9_.%$@#?!]+ ('-' [A-Za-z0-9_.]+ | '+' [0-9]+)* ;
UNKNOWN : . ;
