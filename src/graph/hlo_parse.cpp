// From HLO text to its syntax: the only place of this module that knows ANTLR.
#include <HloLexer.h>
#include <HloParser.h>
#include <antlr4-runtime.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "entangle/support/text.h"
#include "hlo_syntax.h"

namespace entangle::graph::hlo {

using grammar::HloLexer;
using grammar::HloParser;
using support::Diagnostic;

const Attribute* Instruction::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

Text without_percent(Text name) {
  if (name.text.starts_with('%')) {
    name.text.remove_prefix(1);
    ++name.offset;
  }
  return name;
}

namespace {

// Brackets inside brackets beyond this are an error, so that no text overflows the stack.
constexpr int kDeepest = 200;
// A parser keeps what it made until its end: after so many instructions there is a new one.
constexpr std::size_t kInstructionsOfParser = 1000;

// Not derived from ANTLR's exceptions, which generated code catches.
struct Failure {
  Diagnostic diagnostic;
};

// What the tokens in question are called.
std::string described(const antlr4::misc::IntervalSet& expected, const antlr4::dfa::Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::ptrdiff_t type : expected.toList()) {
    const std::string literal = vocabulary.getLiteralName(static_cast<std::size_t>(type));
    if (literal.size() > 2) {
      words.push_back("`" + literal.substr(1, literal.size() - 2) + "`");
    } else if (static_cast<std::size_t>(type) == HloParser::WORD) {
      words.emplace_back("a name");
    } else if (static_cast<std::size_t>(type) == HloParser::INT) {
      words.emplace_back("a number");
    } else if (static_cast<std::size_t>(type) == HloParser::STRING) {
      words.emplace_back("a text in quotes");
    }
  }
  return words.empty() || words.size() > 5 ? std::string() : support::join_list(words, " or ");
}

class Parsing : public antlr4::BaseErrorListener {
 public:
  explicit Parsing(support::FileId file)
      : file_(file),
        text_(support::source_text(file)),
        input_(characters(text_)),
        lexer_(&input_),
        tokens_(&lexer_) {
    lexer_.removeErrorListeners();  // what is no token is UNKNOWN
  }

  Module run() {
    tokens_.fill();
    check_depth();
    renew();
    head(parser_->head());
    while (next() != antlr4::Token::EOF) {
      if (next() >= HloParser::FILE_NAMES && next() <= HloParser::STACK_FRAMES) {
        table(parser_->table());
      } else {
        computation();
      }
    }
    finish();
    return std::move(module_);
  }

  [[noreturn]] void syntaxError(antlr4::Recognizer* /*recognizer*/, antlr4::Token* token,
                                std::size_t /*line*/, std::size_t /*column*/, const std::string& /*message*/,
                                std::exception_ptr /*error*/) override {
    switch (token->getType()) {
      case HloParser::OPEN_STRING:
        fail("hlo-syntax", text(token), "this text is not closed");
      case HloParser::OPEN_COMMENT:
        fail("hlo-syntax", text(token), "this comment is not closed");
      case HloParser::UNKNOWN:
        if (static_cast<unsigned char>(text(token).text.front()) >= 0x80) {
          fail("hlo-syntax", text(token), "only comments and texts may hold other than ASCII characters");
        }
        break;
      default:
        break;
    }
    const std::string expected = described(parser_->getExpectedTokens(), parser_->getVocabulary());
    const std::string found = token->getType() == antlr4::Token::EOF
                                  ? "the end of the file"
                                  : "`" + std::string(text(token).text) + "`";
    fail("hlo-syntax", text(token),
         expected.empty() ? found + " is not expected here" : "expected " + expected + ", found " + found);
  }

 private:
  // One character per byte, so that offsets are byte offsets whatever the text holds. What is not ASCII means
  // nothing outside comments and texts.
  static std::string characters(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
      if (static_cast<unsigned char>(c) >= 0x80 || c == '\0') {
        c = '\x01';
      }
    }
    return result;
  }

  [[noreturn]] void fail(std::string id, const Text& at, std::string message, std::string suggestion = {}) {
    throw Failure{
        support::error("graph/" + std::move(id), span(at), std::move(message), std::move(suggestion))};
  }
  support::Span span(const Text& at) const {
    return support::span_at(file_, at.offset, std::max<std::size_t>(at.text.size(), 1));
  }

  Text text(const antlr4::Token* first, const antlr4::Token* last) const {
    const std::size_t begin = std::min(first->getStartIndex(), text_.size());
    const std::size_t end = last->getType() == antlr4::Token::EOF ? begin : last->getStopIndex() + 1;
    return {text_.substr(begin, end > begin ? end - begin : 0), static_cast<std::uint32_t>(begin)};
  }
  Text text(const antlr4::Token* token) const { return text(token, token); }
  Text text(const antlr4::ParserRuleContext* context) const { return text(context->start, context->stop); }

  std::size_t next() { return tokens_.LA(1); }

  void renew() {
    const std::size_t at = tokens_.index();
    parser_ = std::make_unique<HloParser>(&tokens_);
    tokens_.seek(at);
    parser_->removeErrorListeners();
    parser_->addErrorListener(this);
    parser_->setBuildParseTree(false);  // what is labelled is enough
    parser_->getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(
        antlr4::atn::PredictionMode::SLL);
  }

  void check_depth() {
    int depth = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      switch (tokens_.get(i)->getType()) {
        case HloParser::OPEN_ROUND:
        case HloParser::OPEN_SQUARE:
        case HloParser::OPEN_CURLY:
          if (++depth > kDeepest) {
            fail("hlo-syntax", text(tokens_.get(i)),
                 "nested more than " + std::to_string(kDeepest) + " deep");
          }
          break;
        case HloParser::CLOSE_ROUND:
        case HloParser::CLOSE_SQUARE:
        case HloParser::CLOSE_CURLY:
          depth -= depth > 0 ? 1 : 0;
          break;
        default:
          break;
      }
    }
  }

  std::vector<Attribute> attributes(const std::vector<HloParser::AttributeContext*>& contexts) {
    std::vector<Attribute> result;
    for (const HloParser::AttributeContext* context : contexts) {
      const Text name = text(context->name);
      if (std::ranges::find(result, name.text, &Attribute::name) != result.end()) {
        fail("duplicate-key", name, "`" + std::string(name.text) + "` stands twice here");
      }
      result.push_back({name.text, text(context->name, context->stop)});
      Text& value = result.back().value;
      const std::size_t begin = value.text.find('=') + 1;
      const std::string_view trimmed = support::trim(value.text.substr(begin));
      value = {trimmed, value.offset + static_cast<std::uint32_t>(trimmed.data() - value.text.data())};
    }
    return result;
  }

  void head(HloParser::HeadContext* context) {
    module_.name = text(context->name);
    module_.attributes = attributes(context->attributes);
  }

  void table(HloParser::TableContext* context) {
    Table unused;
    Table& rows = context->kind->getType() == HloParser::FILE_NAMES       ? module_.files
                  : context->kind->getType() == HloParser::FILE_LOCATIONS ? module_.locations
                  : context->kind->getType() == HloParser::STACK_FRAMES   ? module_.frames
                                                                          : unused;
    for (const HloParser::RowContext* row : context->rows) {
      rows.emplace(integer(text(row->number)), row->text != nullptr ? text(row->text) : text(row->fields));
    }
  }

  std::int64_t integer(const Text& number) {
    std::int64_t result = 0;
    const char* const end = number.text.data() + number.text.size();
    const auto [stop, error] = std::from_chars(number.text.data(), end, result);
    if (error != std::errc() || stop != end) {
      fail("bad-size", number, "`" + std::string(number.text) + "` is not an integer of 64 bits");
    }
    return result;
  }

  void sizes(const std::vector<HloParser::SizeContext*>& contexts, Shape& shape) {
    for (const HloParser::SizeContext* size : contexts) {
      if (size->unknown != nullptr) {
        fail("bad-size", text(size), "a size is a number, or `<=` and a number");
      }
      shape.sizes.push_back(integer(text(size->number)));
      shape.dynamic = shape.dynamic || size->bounded != nullptr;
    }
  }

  std::string_view inside(HloParser::LayoutContext* context) const {
    if (context == nullptr) {
      return {};
    }
    const std::string_view whole = text(context).text;
    return whole.substr(1, whole.size() - 2);
  }

  Shape shape(HloParser::ShapeContext* context) {
    Shape result;
    result.text = text(context);
    result.tuple = context->open != nullptr;
    for (HloParser::ShapeContext* part : context->parts) {
      result.parts.push_back(shape(part));
    }
    if (!result.tuple) {
      result.dtype = text(context->dtype).text;
      result.layout = inside(context->order);
      sizes(context->sizes, result);
    }
    return result;
  }

  Operand operand(HloParser::OperandContext* context) {
    Operand result;
    if (context->name != nullptr) {
      result.name = text(context->name);
      result.typed = context->array != nullptr;
    } else {
      result.name = text(context);
    }
    if (result.typed) {
      result.shape.text = text(context);
      result.shape.dtype = text(context->first).text;
      result.shape.layout = inside(context->order);
      sizes(context->sizes, result.shape);
    }
    result.name = without_percent(result.name);
    return result;
  }

  Instruction instruction(HloParser::InstructionContext* context) {
    Instruction result;
    result.name = without_percent(text(context->name));
    result.root = context->root != nullptr;
    result.shape = shape(context->type);
    result.opcode = text(context->opcode);
    const std::size_t begin = context->open->getStopIndex() + 1;
    result.arguments = {text_.substr(begin, context->close->getStartIndex() - begin),
                        static_cast<std::uint32_t>(begin)};
    if (result.opcode.text != "constant") {
      for (HloParser::OperandContext* one : context->operands) {
        result.operands.push_back(operand(one));
      }
    }
    result.attributes = attributes(context->attributes);
    return result;
  }

  void computation() {
    Computation result;
    const HloParser::ComputationContext* context = parser_->computation();
    result.name = without_percent(text(context->name));
    result.entry = context->entry != nullptr;
    while (next() != HloParser::CLOSE_CURLY) {
      if (result.instructions.size() % kInstructionsOfParser == kInstructionsOfParser - 1) {
        renew();
      }
      result.instructions.push_back(instruction(parser_->instruction()));
    }
    parser_->computationEnd();
    module_.computations.push_back(std::move(result));
  }

  // --- names and numbers

  void finish() {
    bool entry = false;
    for (std::uint32_t i = 0; i < module_.computations.size(); ++i) {
      Computation& computation = module_.computations[i];
      const auto [place, added] = module_.index.emplace(computation.name.text, i);
      if (!added) {
        twice("computations", computation.name, module_.computations[place->second].name);
      }
      if (computation.entry) {
        if (entry) {
          fail("hlo-computation", computation.name, "a second computation is marked `ENTRY`");
        }
        entry = true;
        module_.entry = i;
      }
      finish(computation);
    }
    if (!entry) {
      fail("hlo-computation", module_.name, "no computation of this module is marked `ENTRY`");
    }
  }

  [[noreturn]] void twice(const std::string& what, const Text& name, const Text& other) {
    Diagnostic error = support::error("graph/duplicate-name", span(name),
                                      "two " + what + " are named `" + std::string(name.text) + "`");
    error.notes.push_back({span(other), "the other one"});
    throw Failure{std::move(error)};
  }

  void finish(Computation& computation) {
    bool root = false;
    for (std::uint32_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      const auto [place, added] = computation.index.emplace(instruction.name.text, i);
      if (!added) {
        twice("instructions", instruction.name, computation.instructions[place->second].name);
      }
      if (instruction.root) {
        if (root) {
          fail("hlo-computation", instruction.name,
               "a second instruction of `" + std::string(computation.name.text) + "` is marked `ROOT`");
        }
        root = true;
        computation.root = i;
      }
      if (instruction.opcode.text == "parameter") {
        parameter(computation, i);
      }
    }
    if (!root) {
      fail("hlo-computation", computation.name,
           "no instruction of `" + std::string(computation.name.text) + "` is marked `ROOT`");
    }
    const auto hole = std::ranges::find(computation.parameters, kNone);
    if (hole != computation.parameters.end()) {
      fail("hlo-computation", computation.name,
           "`" + std::string(computation.name.text) + "` has no parameter " +
               std::to_string(hole - computation.parameters.begin()));
    }
  }

  void parameter(Computation& computation, std::uint32_t at) {
    const Instruction& instruction = computation.instructions[at];
    const std::string_view number = support::trim(instruction.arguments.text);
    std::uint32_t place = 0;
    const char* const end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, place);
    if (number.empty() || error != std::errc() || stop != end || place >= computation.instructions.size()) {
      fail("hlo-computation", instruction.name, "a parameter has its number in parentheses");
    }
    if (place >= computation.parameters.size()) {
      computation.parameters.resize(std::size_t{place} + 1, kNone);
    }
    if (computation.parameters[place] != kNone) {
      fail("hlo-computation", instruction.name, "a second parameter " + std::to_string(place));
    }
    computation.parameters[place] = at;
  }

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  support::FileId file_;
  std::string_view text_;
  antlr4::ANTLRInputStream input_;
  HloLexer lexer_;
  antlr4::CommonTokenStream tokens_;
  std::unique_ptr<HloParser> parser_;
  Module module_;
};

}  // namespace

support::Result<Module> parse(support::FileId file) {
  try {
    return Parsing(file).run();
  } catch (const Failure& failure) {
    return failure.diagnostic;
  }
}

}  // namespace entangle::graph::hlo
