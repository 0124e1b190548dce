//===- parser.cpp - PTX text to syntax tree ---------------------------------===//
//
// Modules, functions and statements; variables are in declaration_parser.cpp, operands in operand_parser.cpp.
// Debug information (.file, .loc, .section) and tuning directives that no machine needs are read over.
//
#include "runtime/drivers/sim/ptx/parser.h"

#include "runtime/drivers/sim/ptx/declaration_parser.h"

namespace quaver::sim::ptx {
namespace {

constexpr int kMaxScopes = 64;

class Parser {
public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  StatusOr<Module> run() {
    header();
    while (!tokens_.at_end())
      item();
    if (!tokens_.ok())
      return tokens_.status();
    return std::move(module_);
  }

private:
  void header() {
    if (!tokens_.take_dot("version"))
      return tokens_.fail("'.version', with which a PTX module begins");
    const Token version = tokens_.next(); // "8.0" reads as a decimal number
    const size_t dot = version.text.find('.');
    auto number = [](std::string_view digits) {
      uint32_t n = 0;
      for (char c : digits)
        n = std::min(n * 10 + uint32_t(c - '0'), 100000u);
      return n;
    };
    if (version.kind != Token::Kind::kFloat || dot == std::string_view::npos ||
        version.text.find_first_not_of("0123456789.") != std::string_view::npos)
      return tokens_.fail_at(version.at,
                             str_cat("expected a version such as 8.0, found '", version.text, "'"));
    module_.version_major = number(version.text.substr(0, dot));
    module_.version_minor = number(version.text.substr(dot + 1));
    if (!tokens_.take_dot("target"))
      return tokens_.fail("'.target'");
    module_.target = tokens_.expect_word("a target such as sm_90a");
    while (tokens_.take(","))
      tokens_.expect_word("a target option");
    if (tokens_.take_dot("address_size"))
      module_.address_bits = uint32_t(operands_.integer("an address size", 32, 64));
    if (tokens_.ok() && module_.address_bits != 64)
      tokens_.fail_at(version.at, "this machine has 64-bit addresses; the module's .address_size is 32");
  }

  void item() {
    if (skip_debug() || pragma())
      return;
    const Token &first = tokens_.peek();
    if (first.kind != Token::Kind::kDot)
      return tokens_.fail("a directive such as .visible, .entry, .func or .global");
    Variable linkage;
    for (;;) {
      if (tokens_.take_dot("visible"))
        linkage.is_visible = true;
      else if (tokens_.take_dot("extern"))
        linkage.is_extern = true;
      else if (tokens_.take_dot("weak") || tokens_.take_dot("common"))
        linkage.is_weak = true;
      else
        break;
    }
    const Token directive = tokens_.next();
    if (directive.kind == Token::Kind::kDot && (directive.text == "entry" || directive.text == "func"))
      return function(linkage, directive);
    const std::optional<Space> space =
        directive.kind == Token::Kind::kDot ? space_of_directive(directive.text) : std::nullopt;
    if (directive.kind == Token::Kind::kDot && directive.text == "alias")
      return tokens_.fail_at(directive.at, "'.alias' is not supported: call the function by its own name");
    if (!space || *space == Space::kReg || *space == Space::kParam || *space == Space::kLocal)
      return tokens_.fail_at(
          directive.at,
          str_cat("expected .entry, .func, .global, .const or .shared, found '.", directive.text, "'"));
    declarations_.declaration(linkage, *space, module_.variables);
  }

  // .file, .loc: to the end of their line. .section: to its closing brace.
  bool skip_debug() {
    if (tokens_.is_dot("section")) {
      while (!tokens_.at_end() && !tokens_.is("{"))
        tokens_.next();
      int depth = 0;
      while (!tokens_.at_end()) {
        const Token t = tokens_.next();
        depth += t.text == "{" ? 1 : t.text == "}" ? -1 : 0;
        if (depth == 0)
          return true;
      }
      tokens_.fail("'}' that ends this section");
      return true;
    }
    if (!tokens_.is_dot("file") && !tokens_.is_dot("loc"))
      return false;
    const uint32_t line = tokens_.peek().at.line;
    while (!tokens_.at_end() && tokens_.peek().at.line == line)
      tokens_.next();
    return true;
  }

  bool pragma() {
    if (!tokens_.take_dot("pragma"))
      return false;
    do
      if (tokens_.next().kind != Token::Kind::kString && tokens_.ok())
        tokens_.fail("a string after '.pragma'");
    while (tokens_.take(","));
    tokens_.expect(";");
    return true;
  }

  void three(uint32_t out[3]) {
    for (int i = 0; i < 3; ++i)
      out[i] = i == 0 || tokens_.take(",") ? uint32_t(operands_.integer("a number", 1, 1u << 31)) : 1;
  }

  void function(const Variable &linkage, const Token &directive) {
    Function f;
    f.is_entry = directive.text == "entry";
    f.is_extern = linkage.is_extern;
    f.is_visible = linkage.is_visible;
    f.is_weak = linkage.is_weak;
    if (tokens_.take_dot("attribute")) {
      while (!tokens_.at_end() && !tokens_.is(")"))
        tokens_.next();
      tokens_.expect(")");
    }
    if (!f.is_entry && tokens_.is("("))
      f.results = declarations_.parameters();
    f.at = tokens_.peek().at;
    f.name = tokens_.expect_word("the name of a function");
    if (tokens_.is("("))
      f.parameters = declarations_.parameters();
    while (tokens_.peek().kind == Token::Kind::kDot)
      if (!tuning_directive(f))
        return;
    if (!tokens_.take(";")) {
      f.has_body = true;
      scope(f.body);
    }
    if (tokens_.ok())
      module_.functions.push_back(std::move(f));
  }

  bool tuning_directive(Function &f) {
    if (pragma())
      return tokens_.ok();
    const Token t = tokens_.next();
    if (t.text == "maxntid")
      three(f.max_threads);
    else if (t.text == "reqntid")
      three(f.required_threads);
    else if (t.text == "reqnctapercluster")
      three(f.cluster);
    else if (t.text == "noreturn")
      f.is_noreturn = true;
    else if (t.text == "maxnreg" || t.text == "minnctapersm" || t.text == "maxnctapersm" ||
             t.text == "maxclusterrank" || t.text == "abi_preserve" || t.text == "abi_preserve_control")
      operands_.integer("a number", 0, 1u << 31);
    else if (t.text != "unified" && t.text != "explicitcluster" && t.text != "blocksareclusters") {
      tokens_.fail_at(t.at, str_cat("expected '{', ';' or a directive of a function, found '.", t.text, "'"));
      return false;
    }
    return tokens_.ok();
  }

  void scope(Scope &out) {
    if (++scopes_ > kMaxScopes)
      return tokens_.fail_at(tokens_.peek().at, "scopes nested too deep");
    tokens_.expect("{");
    while (!tokens_.at_end() && !tokens_.is("}"))
      statement(out);
    tokens_.expect("}");
    --scopes_;
  }

  void statement(Scope &out) {
    if (skip_debug() || pragma() || tokens_.take(";"))
      return;
    const Token &first = tokens_.peek();
    if (tokens_.is("{")) {
      auto inner = std::make_unique<Scope>();
      scope(*inner);
      out.statements.emplace_back(std::move(inner));
    } else if (first.kind == Token::Kind::kWord && tokens_.is(":", 1)) {
      label(out);
    } else if (first.kind == Token::Kind::kDot) {
      Variable linkage;
      linkage.is_extern = tokens_.take_dot("extern");
      const Token directive = tokens_.peek();
      const std::optional<Space> space = space_of_directive(directive.text);
      if (!space)
        return tokens_.fail("an instruction or a declaration");
      tokens_.next();
      std::vector<Variable> variables;
      declarations_.declaration(linkage, *space, variables);
      for (Variable &v : variables)
        out.statements.emplace_back(std::move(v));
    } else {
      instruction(out);
    }
  }

  void label(Scope &out) {
    const Token name = tokens_.next();
    tokens_.expect(":");
    TargetList list{name.at, name.text, {}};
    if (tokens_.take_dot("branchtargets") || tokens_.take_dot("calltargets")) {
      do
        list.targets.push_back(tokens_.expect_word("a label"));
      while (tokens_.take(","));
      tokens_.expect(";");
      out.statements.emplace_back(std::move(list));
    } else if (tokens_.take_dot("callprototype")) { // its types are those of the function that is called
      if (tokens_.is("("))
        declarations_.parameters();
      tokens_.expect_word("'_'");
      if (tokens_.is("("))
        declarations_.parameters();
      tokens_.take_dot("noreturn");
      tokens_.expect(";");
      out.statements.emplace_back(std::move(list));
    } else {
      out.statements.emplace_back(Label{name.at, name.text});
    }
  }

  void instruction(Scope &out) {
    Instruction in;
    const char *begin = tokens_.peek().text.data();
    in.at = tokens_.peek().at;
    if (tokens_.take("@")) {
      Guard guard;
      guard.at = tokens_.peek().at;
      guard.negated = tokens_.take("!");
      guard.name = tokens_.expect_word("a predicate");
      in.guard = guard;
      in.at = tokens_.peek().at;
    }
    in.opcode = tokens_.expect_word("an instruction");
    while (tokens_.peek().kind == Token::Kind::kDot)
      in.modifiers.push_back(tokens_.next().text);
    if (!tokens_.is(";") && !tokens_.is("}"))
      do
        in.operands.push_back(operands_.operand(/*lists=*/in.opcode == "call"));
      while (tokens_.take(","));
    const char *end = tokens_.peek().text.data();
    tokens_.expect(";");
    if (!tokens_.ok())
      return;
    in.text = std::string_view(begin, size_t(end - begin));
    while (!in.text.empty() && (in.text.back() == ' ' || in.text.back() == '\t' || in.text.back() == '\n'))
      in.text.remove_suffix(1);
    out.statements.emplace_back(std::move(in));
  }

  TokenStream tokens_;
  OperandParser operands_{tokens_};
  DeclarationParser declarations_{tokens_, operands_};
  Module module_;
  int scopes_ = 0;
};

} // namespace

StatusOr<Module> parse(std::string_view text) {
  QUAVER_ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(text));
  return Parser(std::move(tokens)).run();
}

} // namespace quaver::sim::ptx
