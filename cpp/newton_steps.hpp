// Newton steps on the free coefficients of a problem, between the pair steps of a cost path.
//
// Minimise 1/2 b'Kb + sum_i phi_i(b_i) over the coefficients that are strictly inside a piece of
// their phi_i, within the ends of these pieces, and with their sum kept where there is an equality.
// Two methods (see cost_path.hpp): conjugate gradients on a face of the box, then a projection, as
// long as these converge in few products; else a Cholesky factorisation of the kernel matrix of the
// free coefficients, solved again without each coefficient that meets a bound on the way. A step is
// made only if it lowers the objective. Kernel values are read in single precision.
#pragma once
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "problem.hpp"

namespace mercer {

class NewtonSteps {
 public:
  /// `row`: a row of the kernel matrix over all variables, padded with zeros to a multiple of
  /// slot_align. `storage`: memory for the matrix of the free variables.
  NewtonSteps(const Problem& problem, Solution& solution, const std::vector<double>& diag,
              Buffer<float>& storage, std::function<const float*(Index)> row)
      : p_(problem), sol_(solution), diag_(diag), storage_(storage), row_(std::move(row)) {}

  /// Before the pair steps of a problem.
  void begin();
  /// Takes note of pair steps.
  void count(Index steps) { since_ += steps; }
  /// Pair steps until the next step is considered.
  Index wait() const { return wait_ - since_; }
  /// Whether the pair steps since the last step, which may be those of the problem before, have
  /// cost more than the next one will, for as many free variables as there are now.
  bool due();
  /// Moves the coefficients of the solution and its values, which are exact before. `tol`: of the
  /// violation that pair steps are to reach.
  void step(double tol);

  int on_faces = 0, factorised = 0;  ///< steps of either method

 private:
  /// A linear function of the free variables that a step must not change: one of them, or the sum.
  struct Constraint {
    Index variable;              ///< -1: the sum
    std::vector<double> column;  ///< its coefficients times the inverse, under those before it

    double of(const std::vector<double>& v) const {
      return variable < 0 ? std::accumulate(v.begin(), v.end(), 0.0) : v[variable];
    }
  };

  bool factorises() const;
  bool is_free(Index i) const;
  void newton_step();
  void factorise();
  void substitute(std::vector<double>& v) const;
  void confine(std::vector<double>& v) const;
  void keep_sum(std::vector<double>& target) const;
  bool move_if_better(const std::vector<double>& target);
  double curvature(Index i) const;
  double end_of(Index i, double d) const;
  void face_steps(double tol);
  void gather_free();
  template <class Condition>
  void drop(Condition condition);
  bool conjugate_gradients(Index columns, double tol);
  bool projected_step();
  void project(double part, std::vector<double>& target) const;
  double centred(std::vector<double>& v) const;

  const Problem& p_;
  Solution& sol_;
  const std::vector<double>& diag_;  ///< k(x, x) of the variables
  Buffer<float>& storage_;
  std::function<const float*(Index)> row_;
  Index since_ = 0, wait_ = 0;       ///< pair steps since the last step, until the next
  bool ill_conditioned_ = false;     ///< whether conjugate gradients ran out of products
  std::vector<Index> free_, place_;  ///< the free variables, and their places in their matrix
  std::vector<double> delta_, direction_;
  std::vector<const float*> pointers_, free_rows_, factor_;  ///< rows of the Cholesky factor
  std::vector<Constraint> constraints_;                      ///< of the step
};

}  // namespace mercer
