// The kernels on pairs of sequences; each stands in the file of its name.
#pragma once
#include <memory>
#include <vector>

#include "sequences/grammar.hpp"
#include "sequences/pair_kernel.hpp"

namespace mercer {

/// Sum over p of weights[p - 1] times the kernel of gap-weighted subsequences of length p, or its
/// logarithm.
std::shared_ptr<const PairKernel> make_subsequence(double decay, std::vector<double> weights,
                                                   bool logarithms = false);

/// Logarithms of the values of that kernel, and their derivatives by the logarithm of the decay,
/// 2 x a.n x b.n; false when the work was left.
bool subsequence_slopes(const PairKernel& kernel, const SequenceStore& a, const SequenceStore& b,
                        int threads, Leaving& leaving, double* out);

/// Sum over all contiguous substrings u of weights(|u|) times the product of their counts, where
/// weights(l) = decay^(2 l) for min_length <= l <= max_length; or its logarithm.
std::shared_ptr<const PairKernel> make_substring(double decay, Index min_length, Index max_length,
                                                 bool logarithms = false);

/// Equal substrings at equal positions, or at positions that differ by at most `shift`:
/// weights[k - 1] for each of length k, divided by 1 + the distance of the positions.
std::shared_ptr<const PairKernel> make_weighted_degree(std::vector<double> weights, Index shift);

/// Logarithm of the global alignment kernel of series of points; band 0: none.
std::shared_ptr<const PairKernel> make_global_alignment(double gamma, Index band);

/// Logarithm of the probability of a pair of sequences under a pair hidden Markov model:
/// pair(a, b), letters x letters, of emitting a pair, insert(a) of inserting a letter, and the
/// factor `ends` that every alignment has.
std::shared_ptr<const PairKernel> make_pair_model(Index letters, std::vector<double> pair,
                                                  std::vector<double> insert, double ends);

/// Probability that a stochastic grammar derives two sequences together: at every nonterminal the
/// two go their own ways with probability `independence`, and a letter that both have from one rule
/// is replaced in either with probability `mutation`. Prepares its sequences, as GrammarChart.
std::shared_ptr<const PairKernel> make_grammar(GrammarRules rules, double independence,
                                               double mutation);

/// Derivatives of the values of a grammar by independence and mutation, 2 x a.n x b.n; false when
/// the work was left.
bool grammar_slopes(const PairKernel& kernel, const SequenceStore& a, const SequenceStore& b,
                    int threads, Leaving& leaving, double* out);

/// Product over the common elements of two multisets of 1 + a b, or of 1 + min(a, b), with a and b
/// their counts; or its logarithm. A multiset is a sequence of elements and counts in turns, by
/// rising elements.
std::shared_ptr<const PairKernel> make_multiset(bool products, bool logarithms);

}  // namespace mercer
