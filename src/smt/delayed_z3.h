// Z3, loaded when it is first asked something: most programs are checked without it, and relocating the
// library takes as long as checking a small model.
//
// z3++.h calls the functions of Z3 by their unqualified names from inside namespace z3. The objects of the
// same names defined there are found first, and each looks its function up when it is first called. A
// function that is used and not listed here is found by the linker, and the library loaded at the start.
#pragma once

#include <z3.h>

#include <atomic>

namespace entangle::smt {

// The address of a function of Z3. Throws where there is no such library.
void* function_of_z3(const char* name);

template <class F>
class DelayedZ3;

template <class R, class... A>
class DelayedZ3<R (*)(A...)> {
 public:
  using Function = R (*)(A...);

  constexpr explicit DelayedZ3(const char* name) : name_(name) {}

  Function function() const {
    Function known = function_.load(std::memory_order_acquire);
    if (known == nullptr) {
      known = reinterpret_cast<Function>(function_of_z3(name_));
      function_.store(known, std::memory_order_release);
    }
    return known;
  }
  R operator()(A... arguments) const { return function()(arguments...); }

 private:
  const char* name_;
  mutable std::atomic<Function> function_ = nullptr;
};

}  // namespace entangle::smt

namespace z3 {

#define ENTANGLE_Z3(name) inline constinit entangle::smt::DelayedZ3<decltype(&::name)> name{#name};
ENTANGLE_Z3(Z3_ast_vector_dec_ref)
ENTANGLE_Z3(Z3_ast_vector_get)
ENTANGLE_Z3(Z3_ast_vector_inc_ref)
ENTANGLE_Z3(Z3_ast_vector_push)
ENTANGLE_Z3(Z3_ast_vector_size)
ENTANGLE_Z3(Z3_dec_ref)
ENTANGLE_Z3(Z3_del_config)
ENTANGLE_Z3(Z3_del_context)
ENTANGLE_Z3(Z3_get_app_decl)
ENTANGLE_Z3(Z3_get_ast_kind)
ENTANGLE_Z3(Z3_get_decl_kind)
ENTANGLE_Z3(Z3_get_error_code)
ENTANGLE_Z3(Z3_get_error_msg)
ENTANGLE_Z3(Z3_get_numeral_string)
ENTANGLE_Z3(Z3_get_sort)
ENTANGLE_Z3(Z3_get_sort_kind)
ENTANGLE_Z3(Z3_get_version)
ENTANGLE_Z3(Z3_inc_ref)
ENTANGLE_Z3(Z3_interrupt)
ENTANGLE_Z3(Z3_is_eq_ast)
ENTANGLE_Z3(Z3_mk_add)
ENTANGLE_Z3(Z3_mk_and)
ENTANGLE_Z3(Z3_mk_app)
ENTANGLE_Z3(Z3_mk_ast_vector)
ENTANGLE_Z3(Z3_mk_bool_sort)
ENTANGLE_Z3(Z3_mk_bvsdiv)
ENTANGLE_Z3(Z3_mk_bvsle)
ENTANGLE_Z3(Z3_mk_bvslt)
ENTANGLE_Z3(Z3_mk_bvsmod)
ENTANGLE_Z3(Z3_mk_config)
ENTANGLE_Z3(Z3_mk_const)
ENTANGLE_Z3(Z3_mk_context_rc)
ENTANGLE_Z3(Z3_mk_div)
ENTANGLE_Z3(Z3_mk_eq)
ENTANGLE_Z3(Z3_mk_exists_const)
ENTANGLE_Z3(Z3_mk_false)
ENTANGLE_Z3(Z3_mk_forall_const)
ENTANGLE_Z3(Z3_mk_fpa_div)
ENTANGLE_Z3(Z3_mk_fpa_leq)
ENTANGLE_Z3(Z3_mk_fpa_lt)
ENTANGLE_Z3(Z3_mk_fpa_rna)
ENTANGLE_Z3(Z3_mk_fpa_rne)
ENTANGLE_Z3(Z3_mk_fpa_rtn)
ENTANGLE_Z3(Z3_mk_fpa_rtp)
ENTANGLE_Z3(Z3_mk_fpa_rtz)
ENTANGLE_Z3(Z3_mk_func_decl)
ENTANGLE_Z3(Z3_mk_implies)
ENTANGLE_Z3(Z3_mk_int2real)
ENTANGLE_Z3(Z3_mk_int_sort)
ENTANGLE_Z3(Z3_mk_ite)
ENTANGLE_Z3(Z3_mk_le)
ENTANGLE_Z3(Z3_mk_lt)
ENTANGLE_Z3(Z3_mk_mod)
ENTANGLE_Z3(Z3_mk_mul)
ENTANGLE_Z3(Z3_mk_not)
ENTANGLE_Z3(Z3_mk_numeral)
ENTANGLE_Z3(Z3_mk_or)
ENTANGLE_Z3(Z3_mk_params)
ENTANGLE_Z3(Z3_mk_real_sort)
ENTANGLE_Z3(Z3_mk_simple_solver)
ENTANGLE_Z3(Z3_mk_string_symbol)
ENTANGLE_Z3(Z3_mk_true)
ENTANGLE_Z3(Z3_model_dec_ref)
ENTANGLE_Z3(Z3_model_eval)
ENTANGLE_Z3(Z3_model_inc_ref)
ENTANGLE_Z3(Z3_model_to_string)
ENTANGLE_Z3(Z3_params_dec_ref)
ENTANGLE_Z3(Z3_params_inc_ref)
ENTANGLE_Z3(Z3_params_set_bool)
ENTANGLE_Z3(Z3_params_set_uint)
ENTANGLE_Z3(Z3_set_ast_print_mode)
ENTANGLE_Z3(Z3_set_error_handler)
ENTANGLE_Z3(Z3_solver_assert)
ENTANGLE_Z3(Z3_solver_check)
ENTANGLE_Z3(Z3_solver_check_assumptions)
ENTANGLE_Z3(Z3_solver_dec_ref)
ENTANGLE_Z3(Z3_solver_get_model)
ENTANGLE_Z3(Z3_solver_get_reason_unknown)
ENTANGLE_Z3(Z3_solver_get_statistics)
ENTANGLE_Z3(Z3_solver_get_unsat_core)
ENTANGLE_Z3(Z3_solver_inc_ref)
ENTANGLE_Z3(Z3_solver_pop)
ENTANGLE_Z3(Z3_solver_push)
ENTANGLE_Z3(Z3_solver_set_params)
ENTANGLE_Z3(Z3_stats_dec_ref)
ENTANGLE_Z3(Z3_stats_get_double_value)
ENTANGLE_Z3(Z3_stats_get_key)
ENTANGLE_Z3(Z3_stats_get_uint_value)
ENTANGLE_Z3(Z3_stats_inc_ref)
ENTANGLE_Z3(Z3_stats_is_uint)
ENTANGLE_Z3(Z3_stats_size)
#undef ENTANGLE_Z3

}  // namespace z3

#include <z3++.h>
