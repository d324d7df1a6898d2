// Programs and what their leaves take their values from, as tuples and dictionaries.
#pragma once
#include <algorithm>

#include "bindings/arrays.hpp"
#include "evaluator.hpp"
#include "sequences/kernels.hpp"

namespace mercer {

/// The entries of a tuple that a Python class wrote; nanobind itself reads beyond the end.
struct Entries {
  nb::tuple tuple;
  nb::handle operator[](size_t k) const {
    if (k >= tuple.size()) throw nb::value_error("the native form of a kernel has too few entries");
    return tuple[k];
  }
};

/// ("table", grid, step, first, below, beyond, coefficients by falling power x pieces).
inline Table parse_table(const nb::tuple& t) {
  const auto grid = nb::cast<std::string>(t[1]);
  const auto c = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig>>(t[6]);
  Table table;
  TableView<double>& s = table.shape;
  s.grid = grid == "octaves" ? Grid::octaves : (grid == "root" ? Grid::root : Grid::even);
  s.factor = nb::cast<double>(t[2]);
  s.first = nb::cast<double>(t[3]);
  s.below = nb::cast<double>(t[4]);
  s.beyond = nb::cast<double>(t[5]);
  s.degree = static_cast<int>(c.shape(0)) - 1;
  s.pieces = static_cast<Index>(c.shape(1));
  table.coefficients.assign(c.data(), c.data() + c.size());
  return table;
}

inline Program parse_program(nb::list code, int n_leaves, int n_aux) {
  Program p;
  p.n_leaves = n_leaves;
  p.n_aux = n_aux;
  for (nb::handle h : code) {
    nb::tuple t = nb::cast<nb::tuple>(h);
    const auto name = nb::cast<std::string>(t[0]);
    Instruction i{};
    if (name == "leaf")
      i = {Op::leaf, nb::cast<int>(t[1]), 0, 0};
    else if (name == "const")
      i = {Op::constant, 0, nb::cast<double>(t[1]), 0};
    else if (name == "affine")
      i = {Op::affine, 0, nb::cast<double>(t[1]), nb::cast<double>(t[2])};
    else if (name == "exp")
      i = {Op::exp, 0, nb::cast<double>(t[1]), nb::cast<double>(t[2])};
    else if (name == "tanh")
      i = {Op::tanh, 0, 0, 0};
    else if (name == "powi")
      i = {Op::powi, nb::cast<int>(t[1]), 0, 0};
    else if (name == "add")
      i = {Op::add, 0, 0, 0};
    else if (name == "mul")
      i = {Op::mul, 0, 0, 0};
    else if (name == "aux")
      i = {Op::aux, nb::cast<int>(t[1]), 0, 0};
    else if (name == "aux_add")
      i = {Op::aux_add, nb::cast<int>(t[1]), 0, 0};
    else if (name == "dup")
      i = {Op::dup, 0, 0, 0};
    else if (name == "swap")
      i = {Op::swap, 0, 0, 0};
    else if (name == "log")
      i = {Op::log, 0, 0, 0};
    else if (name == "log1p")
      i = {Op::log1p, 0, 0, 0};
    else if (name == "at_least")
      i = {Op::at_least, 0, nb::cast<double>(t[1]), 0};
    else if (name == "sqrt")
      i = {Op::sqrt, 0, 0, 0};
    else if (name == "cos")
      i = {Op::cos, 0, 0, 0};
    else if (name == "reciprocal")
      i = {Op::reciprocal, 0, 0, 0};
    else if (name == "power")
      i = {Op::power, 0, nb::cast<double>(t[1]), 0};
    else if (name == "polynomial") {
      i = {Op::polynomial, static_cast<int>(p.polynomials.size()), 0, 0};
      p.polynomials.push_back(nb::cast<std::vector<double>>(t[1]));
    } else if (name == "table") {
      i = {Op::table, static_cast<int>(p.tables.size()), 0, 0};
      p.tables.push_back(parse_table(t));
    } else
      throw nb::value_error(("unknown instruction " + name).c_str());
    p.code.push_back(i);
  }
  p.depth();
  return p;
}

/// Calls a Python function f(ids_a, ids_b) -> 2-d array and copies the tile out.
template <class T>
void call_python(const nb::object& f, const Index* a, Index na, const Index* b, Index nb_, T* out,
                 Index stride) {
  const HoldLock gil;
  Index *ia, *ib;
  auto ids_a = fresh<Index>({static_cast<size_t>(na)}, &ia);
  auto ids_b = fresh<Index>({static_cast<size_t>(nb_)}, &ib);
  std::copy_n(a, na, ia);
  std::copy_n(b, nb_, ib);
  nb::object result;
  try {
    with_python([&] { result = f(ids_a, ids_b); });
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_KeyboardInterrupt)) throw;
    // The tile is finished all the same, and the signal raised again for the solver to hear:
    // it then stops with the model it has.
    with_python([&] { result = f(ids_a, ids_b); });
    PyErr_SetInterrupt();
  }
  Array2<double> tile;
  if (!nb::try_cast(result, tile)) throw nb::type_error("the kernel must return a float64 array");
  if (static_cast<Index>(tile.shape(0)) != na || static_cast<Index>(tile.shape(1)) != nb_)
    throw nb::value_error("the kernel returned an array of the wrong shape");
  for (Index r = 0; r < na; ++r)
    for (Index k = 0; k < nb_; ++k)
      out[r * stride + k] = static_cast<T>(tile.data()[r * tile.stride(0) + k * tile.stride(1)]);
}

/// Rules as (symbols, start, emission, left and right of every rule A -> B C, A, its probability);
/// rules of one right side follow each other.
inline GrammarRules parse_rules(const nb::tuple& form) {
  const Entries t{form};
  GrammarRules rules;
  rules.symbols = nb::cast<Index>(t[1]);
  rules.start = nb::cast<Index>(t[2]);
  rules.emission = to_vector(nb::cast<Array1<double>>(t[3]));
  rules.letters = rules.symbols > 0 ? static_cast<Index>(rules.emission.size()) / rules.symbols : 0;
  const auto left = nb::cast<Array1<std::int32_t>>(t[4]),
             right = nb::cast<Array1<std::int32_t>>(t[5]),
             head = nb::cast<Array1<std::int32_t>>(t[6]);
  const auto weight = nb::cast<Array1<double>>(t[7]);
  const size_t n = head.shape(0);
  if (left.shape(0) != n || right.shape(0) != n || weight.shape(0) != n)
    throw nb::value_error("rules: wrong length");
  for (size_t r = 0; r < n; ++r) {
    const std::int32_t b = left.data()[r], c = right.data()[r];
    const auto first = static_cast<Index>(rules.heads.size());
    if (rules.sides.empty() || rules.sides.back().left != b || rules.sides.back().right != c)
      rules.sides.push_back({b, c, first, first});
    rules.heads.push_back({head.data()[r], weight.data()[r]});
    ++rules.sides.back().last;
  }
  return rules;
}

/// ("subsequence", decay, weights, logarithms) and the like; see sequences/kernels.hpp for what
/// they mean.
inline std::shared_ptr<const PairKernel> parse_pair(const nb::tuple& form) {
  const Entries t{form};
  const auto name = nb::cast<std::string>(t[0]);
  const auto numbers = [&](int k) { return to_vector(nb::cast<Array1<double>>(t[k])); };
  if (name == "subsequence")
    return make_subsequence(nb::cast<double>(t[1]), numbers(2), nb::cast<bool>(t[3]));
  if (name == "substring")
    return make_substring(nb::cast<double>(t[1]), nb::cast<Index>(t[2]), nb::cast<Index>(t[3]),
                          nb::cast<bool>(t[4]));
  if (name == "multiset") return make_multiset(nb::cast<bool>(t[1]), nb::cast<bool>(t[2]));
  if (name == "weighted_degree") return make_weighted_degree(numbers(1), nb::cast<Index>(t[2]));
  if (name == "global_alignment")
    return make_global_alignment(nb::cast<double>(t[1]), nb::cast<Index>(t[2]));
  if (name == "pair_model") {
    std::vector<double> pair = numbers(1), insert = numbers(2);
    const auto letters = static_cast<Index>(insert.size());
    if (pair.size() != insert.size() * insert.size()) throw nb::value_error("pair: wrong size");
    return make_pair_model(letters, std::move(pair), std::move(insert), nb::cast<double>(t[3]));
  }
  if (name == "grammar")
    return make_grammar(parse_rules(form), nb::cast<double>(t[8]), nb::cast<double>(t[9]));
  throw nb::value_error(("unknown kernel on sequences " + name).c_str());
}

template <class T>
std::shared_ptr<const CoordinateLeaf<T>> parse_coordinates(const nb::dict& d) {
  static constexpr const char* names[n_coordinates] = {
      "product",   "minimum", "power",   "half_power", "gaussian",
      "laplacian", "spline",  "bspline", "cosines",    "wrapped"};
  const auto name = nb::cast<std::string>(d["function"]);
  const auto* found = std::find(names, names + n_coordinates, name);
  if (found == names + n_coordinates)
    throw nb::value_error(("unknown function of coordinates " + name).c_str());
  auto leaf = std::make_shared<CoordinateLeaf<T>>();
  Coordinates<T>& c = leaf->shape;
  c.function = static_cast<Coordinate>(found - names);
  const auto combination = nb::cast<std::string>(d["combination"]);
  c.combination = combination == "product"   ? Combination::product
                  : combination == "maximum" ? Combination::maximum
                                             : Combination::anova;
  c.order = nb::cast<int>(d["order"]);
  if (c.combination == Combination::anova && (c.order < 1 || c.order > max_anova_order))
    throw nb::value_error("order out of range");
  c.exponent = nb::cast<double>(d["a"]);
  c.a = static_cast<T>(c.exponent);
  c.b = nb::cast<T>(d["b"]);
  c.count = nb::cast<int>(d["count"]);
  leaf->peak = nb::cast<double>(d["peak"]);
  for (double v : nb::cast<std::vector<double>>(d["coefficients"]))
    leaf->coefficients.push_back(static_cast<T>(v));
  const bool sum = c.function == Coordinate::bspline || c.function == Coordinate::cosines;
  const int needed = sum ? std::max(c.count, 1) : c.function == Coordinate::wrapped ? 2 : 0;
  if (static_cast<int>(leaf->coefficients.size()) < needed)
    throw nb::value_error("too few coefficients");
  return leaf;
}

template <class T>
LeafSource<T> parse_source(nb::handle h) {
  const Entries t{nb::cast<nb::tuple>(h)};
  const auto name = nb::cast<std::string>(t[0]);
  LeafSource<T> s;
  if (t.tuple.size() == 2 && name != "matrix" && name != "coordinates" && name != "sequence")
    s.cache = nb::cast<std::shared_ptr<StatisticCache<T>>>(t[1]);
  if (name == "dot")
    s.stat = Stat::dot;
  else if (name == "sqdist")
    s.stat = Stat::sqdist;
  else if (name == "l1")
    s.stat = Stat::l1;
  else if (name == "minimum")
    s.stat = Stat::minimum;
  else if (name == "harmonic")
    s.stat = Stat::harmonic;
  else if (name == "chi")
    s.stat = Stat::chi;
  else if (name == "coordinates")
    s.coordinates = parse_coordinates<T>(nb::cast<nb::dict>(t[1]));
  else if (name == "matrix") {
    auto keep = shared(nb::borrow<nb::object>(t[1]));
    Array2<double> d;
    Array2<float> f;
    if (nb::try_cast(*keep, d, false)) {
      s.matrix = d.data();
      s.row_stride = d.stride(0);
      s.col_stride = d.stride(1);
    } else if (nb::try_cast(*keep, f, false)) {
      s.matrix = f.data();
      s.matrix_single = true;
      s.row_stride = f.stride(0);
      s.col_stride = f.stride(1);
    } else {
      throw nb::type_error("the kernel matrix must be a float array");
    }
    // Ties the array's life to the source; never called for a matrix.
    s.call_diag = [keep](const Index*, Index, T*) {};
  } else if (name == "python") {
    auto f = shared(nb::borrow<nb::object>(t[1]));
    auto g = shared(nb::borrow<nb::object>(t[2]));
    s.call = [f](const Index* a, Index na, const Index* b, Index n, T* out, Index stride) {
      call_python<T>(*f, a, na, b, n, out, stride);
    };
    s.call_diag = [g](const Index* a, Index na, T* out) {
      const HoldLock gil;
      Index* ia;
      auto ids = fresh<Index>({static_cast<size_t>(na)}, &ia);
      std::copy_n(a, na, ia);
      nb::object values;
      with_python([&] { values = (*g)(ids); });
      const auto d = nb::cast<Array1<double>>(values);
      if (static_cast<Index>(d.shape(0)) != na)
        throw nb::value_error("the kernel returned a diagonal of the wrong length");
      for (Index i = 0; i < na; ++i) out[i] = static_cast<T>(d.data()[i]);
    };
  } else if (name == "sequence") {
    s.pair = parse_pair(nb::cast<nb::tuple>(t[1]));
  } else {
    throw nb::value_error(("unknown leaf " + name).c_str());
  }
  return s;
}

}  // namespace mercer
