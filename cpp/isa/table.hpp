// Fills the table of inner loops for the instruction set that includes this file.
#pragma once
#include "loops.hpp"
#include "pair_loops.hpp"
#include "smo.hpp"

namespace {

template <class T>
mercer::Ops<T> make_ops() {
  mercer::Ops<T> o;
  o.panel = panel_width<T>;
  o.stat[static_cast<int>(Stat::dot)] = stat_tile<Stat::dot, T>;
  o.stat[static_cast<int>(Stat::sqdist)] = stat_tile<Stat::sqdist, T>;
  o.stat[static_cast<int>(Stat::l1)] = stat_tile<Stat::l1, T>;
  o.sparse[static_cast<int>(Stat::dot)] = sparse_tile<Stat::dot, T>;
  o.sparse[static_cast<int>(Stat::sqdist)] = sparse_tile<Stat::sqdist, T>;
  o.sparse[static_cast<int>(Stat::l1)] = sparse_tile<Stat::l1, T>;
  o.inverted = inverted<T>;
  o.transpose = transpose<T>;
  o.affine = affine<T>;
  o.exp_affine = exp_affine<T>;
  o.tanh = tanh_of<T>;
  o.powi = powi<T>;
  o.add = add<T>;
  o.mul = mul<T>;
  o.axpy_rows = axpy_rows<T>;
  o.dot_lanes = dot_lanes<T>;
  o.gemm_cols = gemm_cols<T>;
  o.extremes = extremes<T>;
  o.inner = inner<T>;
  return o;
}

inline mercer::PairOps make_pair_ops() {
  mercer::PairOps o;
  o.lanes = group_lanes;
  o.subsequence = subsequence;
  o.alignment = alignment;
  o.pair_model = pair_model;
  o.runs = runs;
  return o;
}

}  // namespace
