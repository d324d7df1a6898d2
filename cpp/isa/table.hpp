// Fills the table of inner loops for the instruction set that includes this file.
#pragma once
#include <utility>

#include "coordinates.hpp"
#include "loops.hpp"
#include "pair_loops.hpp"
#include "profiles.hpp"
#include "smo.hpp"
#include "wide_loops.hpp"

namespace {

template <class T, int... S>
void fill_stats(mercer::Ops<T>& o, std::integer_sequence<int, S...>) {
  ((o.stat[S] = stat_tile<static_cast<Stat>(S), T>), ...);
  ((o.stat_exp[S] = stat_exp_tile<static_cast<Stat>(S), T>), ...);
  ((o.sparse[S] = sparse_tile<static_cast<Stat>(S), T>), ...);
  ((o.sparse_exp[S] = sparse_exp_tile<static_cast<Stat>(S), T>), ...);
}
template <class T, int... F>
void fill_coordinates(mercer::Ops<T>& o, std::integer_sequence<int, F...>) {
  ((o.coordinates[F] = coordinates_of<static_cast<Coordinate>(F), T>), ...);
}

template <class T>
mercer::Ops<T> make_ops() {
  mercer::Ops<T> o;
  o.panel = panel_width<T>;
  fill_stats<T>(o, std::make_integer_sequence<int, mercer::n_stats>());
  fill_coordinates<T>(o, std::make_integer_sequence<int, mercer::n_coordinates>());
  o.inverted = inverted<T>;
  o.square = square<T>;
  o.transpose = transpose<T>;
  o.affine = affine<T>;
  o.exp_affine = exp_affine<T>;
  o.tanh = tanh_of<T>;
  o.powi = powi<T>;
  o.add = add<T>;
  o.mul = mul<T>;
  o.sqrt = sqrt_of<T>;
  o.log = log_all<T>;
  o.log1p = log1p_all<T>;
  o.cos = cos_all<T>;
  o.reciprocal = reciprocal<T>;
  o.power = power<T>;
  o.polynomial = polynomial<T>;
  o.table = table_of<T>;
  o.scale_pair = scale_pair<T>;
  o.add_pair = add_pair<T>;
  o.axpy_rows = axpy_rows<T>;
  o.dot_lanes = dot_lanes<T>;
  o.gemm_cols = gemm_cols<T>;
  o.extremes = extremes<T>;
  o.inner = inner<T, T>;
  o.inner_on_single = inner<T, float>;
  return o;
}

inline mercer::PairOps make_pair_ops() {
  mercer::PairOps o;
  o.lanes = group_lanes;
  o.width = VecD::width;
  o.subsequence = subsequence;
  o.wide_subsequence = wide_subsequence;
  o.alignment = alignment;
  o.pair_model = pair_model;
  o.runs = runs;
  o.step = VecD::width;
  o.triangle = triangle;
  return o;
}

}  // namespace
