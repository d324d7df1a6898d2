// Blocks that are kept, single passes over rows, and the hand-over of work to threads.
#include <cmath>
#include <limits>
#include <vector>

#include "harness.hpp"
#include "memory.hpp"
#include "problem.hpp"
#include "row_scan.hpp"
#include "thread_pool.hpp"

using namespace mercer;

namespace {

constexpr Index million = Index(1) << 20;

TEST(a_freed_block_of_huge_pages_serves_the_next_buffer_of_its_size) {
#ifndef __SANITIZE_ADDRESS__
  {
    Buffer<double> b(million);
  }  // the first one of a process is not kept
  const void* first;
  {
    Buffer<double> b(million);
    first = b.data();
  }
  Buffer<double> small(1000), same(million), other(million);
  CHECK(same.data() == first);
  CHECK(other.data() != first);
  CHECK(same.size() == million);
#endif
}

TEST(a_block_more_than_twice_as_large_is_not_handed_out) {
  const void* first;
  {
    Buffer<double> b(4 * million);
    first = b.data();
  }
  Buffer<double> less(million);
  CHECK(less.data() != first);
}

TEST(kept_blocks_are_freed_where_memory_is_short) {
#ifndef __SANITIZE_ADDRESS__
  {
    Buffer<double> b(million);
  }
  CHECK(SpareBlocks::release());
  CHECK(!SpareBlocks::release());
  {
    Buffer<double> b(million);
  }
  CHECK_THROWS(Buffer<double>(Index(1) << 58));
  CHECK(!SpareBlocks::release());
#endif
}

TEST(every_value_is_seen_by_the_search_for_nan_and_infinity) {
  for (Index n : {0, 1, 7, 8, 9, 100}) {
    std::vector<double> x(static_cast<std::size_t>(n), 1e308);
    CHECK(all_finite(x.data(), n));
    for (Index i = 0; i < n; ++i) {
      for (double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        x[i] = bad;
        CHECK(!all_finite(x.data(), n));
      }
      x[i] = -1e-308;
    }
  }
}

TEST(distinct_rows_are_counted_in_any_layout) {
  constexpr Index n = 1000, d = 11, groups = 300;
  std::vector<double> rows(n * d), columns(n * d);
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < d; ++k) {
      const double v = std::sin(static_cast<double>((i * 7) % groups) * 1.3 + 0.1 * k * k);
      rows[i * d + k] = columns[k * n + i] = v;
    }
  CHECK(distinct_rows<double>({rows.data(), n, d, d, 1}, n) == groups);
  CHECK(distinct_rows<double>({columns.data(), n, d, 1, n}, n) == groups);
  CHECK(distinct_rows<double>({rows.data(), n, d, d, 1}, 50) == 51);
  const std::vector<float> zeros{0.0f, -0.0f, 0.0f, 1.0f};
  CHECK(distinct_rows<float>({zeros.data(), 4, 1, 1, 1}, 4) == 2);
}

TEST(a_variable_beside_a_bound_or_kink_is_noticed) {
  const double inf = std::numeric_limits<double>::infinity();
  Problem p;
  p.lower = {-1, 0, -2};
  p.upper = {0, 3, inf};
  p.slope_left = {0, 0, -1};
  p.slope_right = {0, 0, 1};
  p.curv_left = p.curv_right = {0, 0, 0};
  p.kink = {0, 0, 1};
  CHECK(!p.near_bound({-1, 3, 1}));
  CHECK(!p.near_bound({0, 0, 0}));
  CHECK(!p.near_bound({-0.5, 1e-9, 1 + 1e-9}));
  CHECK(p.near_bound({-1 + 1e-14, 0, 0}));
  CHECK(p.near_bound({0, 3 - 1e-13, 0}));
  CHECK(p.near_bound({0, 1e-14, 0}));
  CHECK(p.near_bound({0, 0, 1 + 1e-14}));
}

TEST(every_task_runs_once_however_fast_jobs_follow_each_other) {
  std::vector<int> runs(64);
  for (int job = 0; job < 20000; ++job) {
    const Index tasks = 1 + job % 64;
    std::fill(runs.begin(), runs.end(), 0);
    parallel_for(1 + job % 4, tasks, [&](Index t, int) { ++runs[t]; });
    for (Index t = 0; t < 64; ++t) CHECK(runs[t] == (t < tasks ? 1 : 0));
  }
}

}  // namespace
