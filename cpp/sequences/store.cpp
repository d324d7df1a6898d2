#include "sequences/store.hpp"

namespace mercer {

SequenceStore take_sequences(const SequenceStore& s, const Index* index, Index count) {
  SequenceStore out;
  out.n = count;
  out.width = s.width;
  out.start.assign(static_cast<std::size_t>(count) + 1, 0);
  for (Index i = 0; i < count; ++i) out.start[i + 1] = out.start[i] + s.length(index[i]);
  const Index total = std::max<Index>(out.start[count], 1);
  if (s.width == 0) {
    out.token.reset(total);
    for (Index i = 0; i < count; ++i)
      std::copy_n(s.tokens(index[i]), s.length(index[i]), out.token.data() + out.start[i]);
  } else {
    out.value.reset(total * s.width);
    for (Index i = 0; i < count; ++i)
      std::copy_n(s.points(index[i]), s.length(index[i]) * s.width,
                  out.value.data() + out.start[i] * s.width);
  }
  if (!s.norm.empty()) {
    out.norm.resize(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) out.norm[i] = s.norm[index[i]];
  }
  if (!s.prepared.empty())
    for (Index i = 0; i < count; ++i) out.prepared.push_back(s.prepared[index[i]]);
  return out;
}

}  // namespace mercer
