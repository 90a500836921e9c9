// The rule language (docs/rule-language.md).
//
// Every decision is made by one token of lookahead, so that the generated parser never simulates the automaton. Therefore binary
// operators are a flat chain here: which binds tighter is decided by the table in src/rules/tree.cpp. LET_IN is the `in` that ends the
// value of a `let`; the token stream is told before parsing (src/rules/parser.cpp).
grammar Rules;

tokens { LET_IN }

declaration
  : inclusion | acceptance | operation | derived | function | law | lemma | predicate | lowering | transfer
  ;

inclusion : 'include' STRING ';' ;
acceptance : 'accept' word ';' ;
operation : 'op' word parameters flags? (';' | '{' clause* '}') ;
flags : ':' word (',' word)* ;
derived : 'def' word parameters '=' expr ';' ;
function : 'function' word '(' words? ')' ';' ;
law : 'law' word '(' words? ')' ':' expr ('when' expr)? ';' ;
lemma
  : 'normalise'? ('lemma' | 'axiom') word operatorVariable? parameters ':' (premises namedEquation | equation) lemmaTail* ';'
  ;
predicate : 'predicate' word parameters '=' expr ';' ;
lowering : ('lower' | 'collective') frameworkName parameters condition? ':' expr condition? ';' ;
transfer : ('send' | 'recv') frameworkName parameters ';' ;

words : word (',' word)* ;
condition : 'when' expr ;

parameters : '(' parameterGroup? (';' parameterGroup?)? ')' ;
parameterGroup : parameter (',' parameter)* ;
parameter : word (':' type)? ('=' expr)? ;
type : word ('(' word ')')? typeSuffix* ;
typeSuffix : '*' | '+' | '?' ;

clause
  : 'let' word '=' expr ';'                                               # letClause
  | 'require' expr ';'                                                    # requireClause
  | 'shape' expr ';'                                                      # shapeClause
  | 'dtype' expr ';'                                                      # dtypeClause
  | 'value' word '=>' expr ';'                                            # valueClause
  | 'maps' word axisRange? ':' expr '<-' axisOperand (',' axisOperand)* ';'  # mapsClause
  | 'reduces' word word axisRange? ':' axisOperand (',' axisOperand)* ';' # reducesClause
  | 'linear' words ('when' expr)? ';'                                     # linearClause
  | 'because' STRING ';'                                                  # becauseClause
  ;
axisRange : '(' word '<' expr ('if' expr)? ')' ;
axisOperand : word '.' (word | INT | '(' expr ')') ;

operatorVariable : '<' word ':' word+ ('->' word)? '>' ;
premises : 'given' expr (',' expr)* ;
equation : expr ('=>' expr)? ;
namedEquation : namedExpr ('=>' expr)? ;
lemmaTail : 'when' expr | 'trigger' expr | 'because' STRING ;

frameworkName : STRING | namePart+ ;
namePart : word | keyword | INT | DECIMAL | '.' | '..' | ':' | '/' | '-' ;
keyword
  : 'if' | 'then' | 'else' | 'let' | 'in' | LET_IN | 'for' | 'forall' | 'exists' | 'and' | 'or' | 'not' | 'floordiv' | 'mod'
  | 'with' | 'without' | 'when' | 'given' | 'trigger' | 'because'
  ;

expr : prefix* (keyworded | postfix tail?) ;
namedExpr : word suffix* tail? ;
prefix : '-' | '*' | 'not' ;
tail
  : binary expr
  | 'with' '[' expr ']' '=' expr
  | 'without' expr
  ;
binary
  : 'or' | 'and' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '++' | '+' | '-' | '*' | '/' | 'floordiv' | 'mod'
  ;
keyworded
  : 'if' expr 'then' expr 'else' expr                                     # conditional
  | 'let' word '=' expr LET_IN expr                                       # letIn
  | ('forall' | 'exists') word ('@' word | (',' word)* 'in' expr (',' binding)*) ':' expr  # quantified
  ;
binding : word (',' word)* 'in' expr ;

postfix : primary suffix* ;
primary
  : word | INT | DECIMAL | STRING
  | '(' expr (',' expr)* ')'
  | '[' (expr (comprehension | (',' expr)*))? ']'
  ;
suffix
  : '.' (word | keyword | INT | DECIMAL | STRING | '(' expr ')')          # member
  | '[' (expr (':' expr? | (',' expr)*) | ':' expr?) ']'                  # subscript
  | '(' items? others? attributes? ')'                                    # call
  ;
attributes : ';' items? ;
others : '|' word ('@' word)? '=>' expr ;
items : item (',' item)* ;
item : '..' | expr ('=' expr | ':' expr | comprehension | 'if' expr)? ;
comprehension : 'for' binding ('if' expr)? ;

// Keywords that begin a declaration or a clause are ordinary names elsewhere.
word
  : NAME
  | 'include' | 'accept' | 'op' | 'def' | 'function' | 'law' | 'lemma' | 'axiom' | 'normalise' | 'predicate' | 'lower' | 'collective'
  | 'send' | 'recv' | 'require' | 'shape' | 'dtype' | 'value' | 'maps' | 'reduces' | 'linear'
  ;

leaf : expr EOF ;

LET : 'let' ;
IN : 'in' ;
FOR : 'for' ;
FORALL : 'forall' ;
EXISTS : 'exists' ;
OR : 'or' ;
AND : 'and' ;
NOT : 'not' ;
ASSIGN : '=' ;
IMPLIES : '=>' ;
ARROW : '->' ;
AT : '@' ;
EQUAL : '==' ;
NOT_EQUAL : '!=' ;
LESS : '<' ;
LESS_EQUAL : '<=' ;
GREATER : '>' ;
GREATER_EQUAL : '>=' ;
APPEND : '++' ;
PLUS : '+' ;
MINUS : '-' ;
STAR : '*' ;
SLASH : '/' ;
FLOORDIV : 'floordiv' ;
MOD : 'mod' ;
COLON : ':' ;
SEMICOLON : ';' ;
COMMA : ',' ;
DOT : '.' ;
DOTS : '..' ;
OPEN_ROUND : '(' ;
CLOSE_ROUND : ')' ;
OPEN_SQUARE : '[' ;
CLOSE_SQUARE : ']' ;
OPEN_CURLY : '{' ;
CLOSE_CURLY : '}' ;
NAME : [A-Za-z_] [A-Za-z0-9_]* ;
INT : [0-9]+ ;
DECIMAL : [0-9]+ ('.' [0-9]+ EXPONENT? | EXPONENT) ;
fragment EXPONENT : [eE] [+-]? [0-9]+ ;
STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* '"' ;
OPEN_STRING : '"' (~["\\\r\n] | '\\' ~[\r\n])* ;
SPACE : [ \t\r\n]+ -> skip ;
LINE_COMMENT : '//' ~[\r\n]* -> skip ;
COMMENT : '/*' .*? '*/' -> skip ;
OPEN_COMMENT : '/*' ;
UNKNOWN : . ;
