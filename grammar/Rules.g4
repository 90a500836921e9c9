// The rule language (docs/rule-language.md).
//
// Every decision is made by one token of lookahead, so that the generated parser never simulates the automaton. Therefore binary
// operators are a flat chain here: which binds tighter is decided by the table in src/rules/tree.cpp. Two things are told to the
// token stream before parsing (src/rules/tokens.cpp): LET_IN is the `in` that ends the value of a `let`; a keyword that begins a
// declaration or a clause is a NAME elsewhere. Everything that src/rules/tree.cpp needs is labelled: no parse tree is kept.
grammar Rules;

options { superClass = ParserBase; }
@parser::postinclude {
#include "rules/parser_base.h"
namespace entangle::grammar { using rules::ParserBase; }
}
tokens { LET_IN }

declaration
  : theInclusion=inclusion | theAcceptance=acceptance | theOperation=operation | theDefinition=definition | theFunction=function
  | theLaw=law | theLemma=lemma | thePredicate=predicate | theLowering=lowering | theTransfer=transfer
  ;

inclusion : 'include' path=STRING ';' ;
acceptance : 'accept' level=NAME ';' ;
operation : 'op' name=NAME params=parameters (':' flags+=NAME (',' flags+=NAME)*)? (';' | '{' clauses+=clause* '}') ;
definition : 'def' name=NAME params=parameters '=' body=expr ';' ;
function : 'function' name=NAME '(' (params+=NAME (',' params+=NAME)*)? ')' ';' ;
law : 'law' name=NAME '(' (params+=NAME (',' params+=NAME)*)? ')' ':' statement=expr ('when' condition=expr)? ';' ;
lemma
  : normalise='normalise'? kind=('lemma' | 'axiom') name=NAME variable=operatorVariable? params=parameters ':'
    ('given' given+=expr (',' given+=expr)* left=namedExpr ('=>' right=expr)? | statement=expr ('=>' right=expr)?)
    tails+=lemmaTail* ';'
  ;
lemmaTail : kind='when' value=expr | kind='trigger' value=expr | kind='because' reason=STRING ;
operatorVariable : '<' name=NAME ':' words+=NAME+ ('->' result=NAME)? '>' ;
predicate : 'predicate' name=NAME params=parameters '=' body=expr ';' ;
lowering
  : kind=('lower' | 'collective') name=frameworkName params=parameters ('when' conditions+=expr)? ':' body=expr ('when' conditions+=expr)? ';'
  ;
transfer : kind=('send' | 'recv') name=frameworkName params=parameters ';' ;

parameters : '(' (before+=parameter (',' before+=parameter)*)? (semicolon=';' (after+=parameter (',' after+=parameter)*)?)? ')' ;
parameter : name=NAME (':' type=typeName)? ('=' value=expr)? ;
typeName : base=NAME ('(' of=NAME ')')? suffixes+=('*' | '+' | '?' | '!')* ;

clause
  : kind='let' name=NAME '=' value=expr ';'
  | kind='require' value=expr ';'
  | kind='shape' value=expr ';'
  | kind='dtype' value=expr ';'
  | kind='value' name=NAME '=>' value=expr ';'
  | kind='maps' name=NAME range=axisRange? ':' value=expr '<-' operands+=axisOperand (',' operands+=axisOperand)* ';'
  | kind='reduces' reduction=NAME name=NAME range=axisRange? ':' operands+=axisOperand (',' operands+=axisOperand)* ';'
  | kind='linear' names+=NAME (',' names+=NAME)* ('when' value=expr)? ';'
  | kind='because' reason=STRING ';'
  ;
axisRange : '(' name=NAME '<' bound=expr ('if' filter=expr)? ')' ;
axisOperand : name=NAME '.' (plain=NAME | plain=INT | '(' axis=expr ')') ;

frameworkName : quoted=STRING | namePart+ ;
namePart : NAME | INT | DECIMAL | '.' | '..' | ':' | '/' | '-' | keyword ;
keyword
  : 'if' | 'then' | 'else' | 'let' | 'in' | LET_IN | 'for' | 'forall' | 'exists' | 'and' | 'or' | 'not' | 'floordiv' | 'mod'
  | 'with' | 'without' | 'when' | 'given' | 'trigger' | 'because'
  ;

expr : prefixes+=('-' | '*' | 'not')* (special=keyworded | operand=postfix rest=tail?) ;
namedExpr : name=NAME suffixes+=suffix* rest=tail? ;
tail
  : binary=('or' | 'and' | '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '++' | '+' | '-' | '*' | '/' | 'floordiv' | 'mod') right=expr
  | with='with' '[' at=expr ']' '=' right=expr
  | without='without' right=expr
  ;
keyworded
  : kind='if' first=expr 'then' second=expr 'else' third=expr
  | kind='let' names+=NAME '=' first=expr LET_IN second=expr
  | kind=('forall' | 'exists') names+=NAME (at='@' names+=NAME | (',' names+=NAME)* 'in' first=expr (',' more+=binding)*) ':' second=expr
  ;
binding : names+=NAME (',' names+=NAME)* 'in' over=expr ;

postfix
  : (word=NAME | number=(INT | DECIMAL) | quoted=STRING
    | round='(' entries+=expr (',' entries+=expr)* ')'
    | square='[' (entries+=expr (each=comprehension | (',' entries+=expr)*))? ']'
    ) suffixes+=suffix*
  ;
suffix
  : kind='.' (member=(NAME | INT | DECIMAL | STRING) | word=keyword | '(' computed=expr ')')
  | kind='[' (entries+=expr (colon=':' end=expr? | (',' entries+=expr)*) | colon=':' end=expr?) ']'
  | kind='(' (items+=item (',' items+=item)*)? ('|' others+=NAME ('@' others+=NAME)? '=>' other=expr)?
    (semicolon=';' (attributes+=item (',' attributes+=item)*)?)? ')'
  ;
item : dots='..' | first=expr (kind=('=' | ':' | 'if') second=expr | each=comprehension)? ;
comprehension : 'for' from=binding ('if' condition=expr)? ;

leaf : value=expr EOF ;

// Keywords at the beginning of declarations and clauses.
INCLUDE : 'include' ;
ACCEPT : 'accept' ;
OP : 'op' ;
DEF : 'def' ;
FUNCTION : 'function' ;
LAW : 'law' ;
LEMMA : 'lemma' ;
AXIOM : 'axiom' ;
NORMALISE : 'normalise' ;
PREDICATE : 'predicate' ;
LOWER : 'lower' ;
COLLECTIVE : 'collective' ;
SEND : 'send' ;
RECV : 'recv' ;
REQUIRE : 'require' ;
SHAPE : 'shape' ;
DTYPE : 'dtype' ;
VALUE : 'value' ;
MAPS : 'maps' ;
REDUCES : 'reduces' ;
LINEAR : 'linear' ;
// Keywords everywhere.
LET : 'let' ;
IN : 'in' ;
FOR : 'for' ;
FORALL : 'forall' ;
EXISTS : 'exists' ;
IF : 'if' ;
THEN : 'then' ;
ELSE : 'else' ;
OR : 'or' ;
AND : 'and' ;
NOT : 'not' ;
FLOORDIV : 'floordiv' ;
MOD : 'mod' ;
WITH : 'with' ;
WITHOUT : 'without' ;
WHEN : 'when' ;
GIVEN : 'given' ;
TRIGGER : 'trigger' ;
BECAUSE : 'because' ;
ASSIGN : '=' ;
IMPLIES : '=>' ;
ARROW : '->' ;
FROM : '<-' ;
AT : '@' ;
BAR : '|' ;
QUESTION : '?' ;
CHANGED : '!' ;
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
