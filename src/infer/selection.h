// Selection: the part of both programs that a local problem is made of.
//
// It holds the operator in question, the definitions of operands that could not be resolved, the relations of
// those that could, the layout definitions of everything it mentions (on both sides), and the distributed
// operators reachable from there within a number of compute steps. Classes and applications are listed in an
// order that depends on the structure of the programs only: equal parts of a program give equal lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joint.h"

namespace entangle::infer {

class Selection {
 public:
  explicit Selection(Joint& joint) : joint_(joint), position_(joint.ids()), included_(joint.ids()) {
    classes_.reserve(kUsual);
    applications_.reserve(kUsual);
    operand_places_.reserve(2 * kUsual);
  }

  // Adds a class of the joint graph with its relations and its layout definitions. An operand class also
  // brings its own definition as a concatenation or sum of tensors, if it has one.
  void add_operand(TermId joint_id);
  // Adds an application of the joint graph (a term id as first built).
  void add_definition(TermId term);
  // Adds all definitions of the resolved classes present, `levels` deep.
  void reopen(int levels);
  // Which distributed operators are added: all that can be reached; `alike`: of these only applications of
  // the same operators as the definitions, what they are computed from and what is computed from them; `own`:
  // without the latter.
  enum class Window : std::uint8_t { all, alike, own };
  // Adds the distributed operators reachable within `steps` compute steps from the tensors present.
  void add_window(std::uint32_t steps, Window window = Window::all);

  Joint& joint() const { return joint_; }
  // Canonical joint classes in order of arrival.
  const std::vector<TermId>& classes() const { return classes_; }
  // Applications in order of arrival, and how many classes were present when each arrived: its own and those
  // of its operands are among them, at these places.
  struct Application {
    TermId term = kNoTerm;
    std::uint32_t classes = 0;
    std::uint32_t place = 0;
    std::uint32_t operands = 0;  // the first of their places: see places_of_operands
  };
  const std::vector<Application>& applications() const { return applications_; }
  std::span<const std::uint32_t> places_of_operands(const Application& application) const {
    const Application* next = &application + 1;
    const std::size_t end =
        next == applications_.data() + applications_.size() ? operand_places_.size() : next->operands;
    return std::span(operand_places_).subspan(application.operands, end - application.operands);
  }
  // Their terms, ascending.
  std::vector<TermId> included() const;
  // The place in classes() of a class that is present.
  std::size_t position(TermId joint_id) const;
  // When all is selected: takes note of applications of the distributed program with the operator and
  // attributes of this one that may be used; of those with the same operands but for the places (the last
  // operand) of the first.
  void take_like(TermId term, const std::function<bool(TermId)>& may_be_used);
  // Of each class, in the order of classes(), one of these: kNoTerm where there is none.
  const std::vector<TermId>& like() const { return like_; }
  bool reopened() const { return reopened_; }
  // Distributed operators in the window, ids as first built.
  const std::vector<TermId>& window() const { return window_; }

 private:
  static constexpr std::size_t kUsual = 64;  // classes, applications

  std::uint32_t add_class(TermId joint_id);
  void include(TermId term);
  // Of a class that is constant or computed from constants: how it is.
  void include_constants(TermId joint_id);
  void drain();
  // Whether the application is of the operator of a definition.
  bool is_like_definitions(TermId term) const {
    return std::ranges::find(defined_by_, joint_.graph().original(term).op) != defined_by_.end();
  }
  // Whether the application is a part of a tensor of the ranks, or one laid out in another way, and all that
  // was made from it is known as something else (of parts that were put together: a view of the whole).
  bool leads_nowhere(TermId term) const;
  // The distributed applications within `steps` compute steps, operands before their users.
  std::vector<TermId> reachable(std::uint32_t steps, Window window) const;
  void keep_alike(std::vector<TermId>& terms, Window window) const;

  Joint& joint_;
  std::vector<TermId> like_;
  std::vector<TermId> classes_;
  IdMap position_;
  std::vector<Application> applications_;
  std::vector<std::uint32_t> operand_places_;
  IdSet included_;
  std::size_t drained_ = 0;              // of classes_: layout definitions were added
  std::vector<rules::OpId> defined_by_;  // operators of the definitions added: few
  bool any_free_ = false;                // whether one of these definitions takes no step
  std::vector<TermId> window_;
  bool reopened_ = false;
};

}  // namespace entangle::infer
